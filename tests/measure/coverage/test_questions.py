"""What is written down of a level's questions."""

from __future__ import annotations

import numpy as np

from harness.verify.questions import Questions


def calls(questions: Questions) -> list[list[str]]:
    return [[call for call, _ in question] for question in questions.mixed()]


def test_what_goes_on_stays_with_what_it_goes_on_from() -> None:
    questions = Questions()
    questions.add("a", "vector", {"seeds": [1]})
    questions.add("b", "reset", {"seed": 1})
    questions.add("a", "advance", {"actions": {}})
    questions.add("b", "step", {"action": {}})
    questions.add("b", "step", {"action": {}})
    assert calls(questions) == [["vector", "advance"], ["reset", "step", "step"]]
    assert questions.asked == 2


def test_a_step_after_something_else_means_nothing() -> None:
    questions = Questions()
    questions.add("a", "reset", {"seed": 1})
    questions.add("a", "rollout", {"cases": []})
    questions.add("a", "step", {"action": {}})
    assert sorted(calls(questions)) == [["reset"], ["rollout"]]


def test_the_kinds_of_questions_take_turns() -> None:
    questions = Questions()
    for policy in ("random", "random", "random", "sticky"):
        questions.add("a", "drive", {"policy": policy})
    questions.add("a", "probe", {"name": "ending"})
    about = [arguments.get("policy", arguments.get("name")) for [(_, arguments)] in questions.mixed()]
    assert about == ["random", "sticky", "ending", "random", "random"]


def test_of_what_is_over_the_cap_only_the_number_is_kept() -> None:
    questions = Questions(max_bytes=3000)
    for _ in range(5):
        questions.add("a", "probe", {"name": "ending", "inputs": {"place": np.zeros(100)}})
    assert (questions.asked, questions.kept) == (5, 3)
    questions.add("a", "reset", {"seed": 1})
    questions.add("a", "step", {"action": {}})
    assert (questions.asked, questions.kept) == (6, 3), "nothing small is kept after that either"


def test_what_goes_on_beyond_the_cap_is_a_question_that_is_not_kept() -> None:
    questions = Questions(max_bytes=1000)
    questions.add("a", "reset", {"seed": 1})
    for _ in range(3):
        questions.add("a", "step", {"action": np.zeros(100)})
    assert calls(questions) == [["reset", "step"]]
    assert (questions.asked, questions.kept) == (2, 1), "it would look as if all had been asked again"

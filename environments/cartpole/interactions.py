"""Level 2 of CartPole: short sequences in which modules meet, above all the three ends of an episode."""

from typing import Any

import hypothesis.strategies as st

from lockstep import Task, sequence

LENGTH = 12
PUSHES = st.lists(st.integers(0, 1), min_size=1, max_size=LENGTH)


def _from(
    x: tuple[float, float] = (-0.05, 0.05),
    x_dot: tuple[float, float] = (-0.05, 0.05),
    theta: tuple[float, float] = (-0.05, 0.05),
    theta_dot: tuple[float, float] = (-0.05, 0.05),
    steps: tuple[int, int] = (0, 0),
) -> st.SearchStrategy[dict[str, Any]]:
    """Sequences from states within these ranges, mirrored as often as not."""
    numbers = st.tuples(*(st.floats(low, high) for low, high in (x, x_dot, theta, theta_dot)))

    def build(four: tuple[float, ...], mirrored: bool, count: int, pushes: list[int]) -> dict[str, Any]:
        values = [-value for value in four] if mirrored else list(four)
        start = dict(zip(("state/x", "state/x_dot", "state/theta", "state/theta_dot"), values, strict=True))
        return {
            "start": {**start, "state/steps": count},
            "actions": [1 - push for push in pushes] if mirrored else pushes,
        }

    return st.builds(build, numbers, st.booleans(), st.integers(*steps), PUSHES)


@sequence("over the edge of the field")
def over_the_edge(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from(x=(2.2, 2.4), x_dot=(0.0, 3.0))


@sequence("over the limit of the angle")
def over_the_angle(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from(theta=(0.17, 0.2094), theta_dot=(0.0, 2.0))


@sequence("over both limits in the same step")
def over_both(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from(x=(2.35, 2.4), x_dot=(2.6, 3.0), theta=(0.16, 0.2094), theta_dot=(2.6, 3.5))


@sequence("up to the time limit")
def up_to_the_limit(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from(steps=(490, 499))


@sequence("failed and out of time in the same step")
def failed_and_out_of_time(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from(theta=(0.19, 0.2094), theta_dot=(0.6, 2.0), steps=(497, 499))


@sequence("saved at the last moment")
def saved(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from(x=(1.0, 2.3), x_dot=(-1.0, 1.0), theta=(0.1, 0.2), theta_dot=(-2.5, -0.5))

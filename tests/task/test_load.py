"""Reading task.toml: what a right file means, and that a wrong one gets every mistake named with its line."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from harness.errors import TaskError
from harness.model import Leaf
from harness.task.contract import (
    Budgets,
    Candidate,
    Law,
    Limits,
    Mode,
    Module,
    Peer,
    TaskDraw,
    Tolerance,
    Transfer,
)
from harness.task.load import load_task, with_candidate
from harness.task.require import Requirement
from tests.paths import ENVIRONMENTS
from tests.task.document import RIGHT, assert_one_mistake, changed, mistakes, read


def test_a_right_file_becomes_a_task(tmp_path: Path) -> None:
    task = read(tmp_path, RIGHT)
    assert (task.name, task.workflow, task.directory) == ("walk", "translate", tmp_path)
    assert task.reference.adapter == "reference/adapter.py:Walk"
    assert task.reference.environment == {"LD_PRELOAD": "{prefix}/lib/shim.so"}
    assert task.reference.options == {"frameskip": 4}
    assert (task.reference.timeout_s, task.reference.workers) == (30.0, 2)
    assert task.candidate == Candidate(
        "jax", "candidate/env.py", x64=True, packages=("chex",), xla_flags=("--xla_cpu_max_isa=AVX",), name="jax"
    )
    assert task.leaves["observation/view"] == Leaf(
        "observation/view", "float32", (2,), [-1.0, -math.inf], [1.5, math.inf]
    )
    assert task.leaves["action"] == Leaf("action", "int64", (), 0, 3)
    assert list(task.leaves)[-2:] == ["state/x", "state/n"]
    assert task.modules[1] == Module("ends", leaves=("terminated",))
    assert task.probes["move"].inputs["x"] == Leaf("x", "float64", (), -2.0, 2.0)
    assert task.mode is Mode.TAPE
    assert task.draws["wind"] == TaskDraw("wind", "float64", (2,), "step", 3, Law("normal", mean=0.0, std=0.5))
    assert task.tolerances["probe/move/x"] == Tolerance(atol=1e-12)
    assert task.budgets == Budgets(examples=10, policies=("random", "sticky", "forward"))
    assert task.transfer == Transfer(
        2.5,
        "a tenth of a good return",
        steps=5000,
        reference_steps=1000,
        minimum_return=-3.0,
        seeds=(3, 5),
        episodes=8,
        ppo={"num_envs": 16, "network": "gru"},
    )
    assert task.levels == (1, 2, 3, 4)
    assert task.batch_sizes == (1, 64)
    assert task.peers == (Peer("quick walk", ("quickwalk==1.0",), "reference/peer.py:Quick"),)
    assert task.limits == Limits(dollars=0.0)
    assert task.required == (
        Requirement(end="terminated", times=20),
        Requirement(leaf="state/x", bound="high"),
        Requirement(action=3, leaf="action", level=2),
    )


def test_what_a_file_leaves_out_takes_the_defaults(tmp_path: Path) -> None:
    document = RIGHT[: RIGHT.index("[tolerance]")]
    task = read(tmp_path, document)
    assert (task.tolerances, task.budgets, task.transfer, task.peers) == ({}, Budgets(), None, ())
    assert task.batch_sizes == (32, 128, 512, 2048, 8192)


@pytest.mark.parametrize("task", sorted(path.parent for path in ENVIRONMENTS.glob("*/task.toml")), ids=lambda p: p.name)
def test_every_task_of_this_project_is_right(task: Path) -> None:
    assert load_task(task).name == task.name


def test_ten_different_mistakes_are_all_reported_in_the_order_of_the_file(tmp_path: Path) -> None:
    document = changed(
        ('workflow = "translate"', 'workflow = "translat"'),
        ('"numpy==2.4.6"', '"numpy>=2"'),
        ("workers = 2", "worker = 2"),
        ('entry = "candidate/env.py"', 'entry = "../env.py"'),
        (
            'action = { dtype = "int64", low = 0, high = 3 }\nreward',
            'action = { dtype = "int63", low = 0, high = 3 }\nreward',
        ),
        ('truncated = { dtype = "bool" }\n', ""),
        ('probes = ["move"]', 'probes = ["mvoe"]'),
        ("capacity = 3", "capacity = 0"),
        ('"state/x" = { rtol = 1e-9', '"state/n" = { rtol = 1e-9'),
        ('because = "a tenth of a good return"\n', ""),
    )
    assert [re.sub(r"; expected.*?(?=; did|$)", "", line) for line in mistakes(tmp_path, document)] == [
        "task.toml:3: workflow: it is the string 'translat'; did you mean `translate`?",
        "task.toml:8: reference.requirements[0]: 'numpy>=2' is not pinned",
        "task.toml:11: reference.worker: unknown key; did you mean `workers`?",
        "task.toml:21: candidate.entry: '../env.py' leaves the task directory",
        "task.toml:26: leaves: there is no leaf `truncated`",
        "task.toml:29: leaves.action.dtype: it is the string 'int63'; did you mean `int64`?",
        "task.toml:39: modules[0].probes[0]: unknown probe `mvoe`; did you mean `move`?",
        "task.toml:47: probes.move: no module uses this probe",
        "task.toml:58: randomness.draws.wind.capacity: it is the integer 0",
        'task.toml:62: tolerance."state/n": it is int32, which is always exact',
        "task.toml:69: transfer: the key `because` is missing",
    ]


LAW = 'kind = "normal", mean = 0, std = 0.5'
WIND = "randomness.draws.wind"

# Each row: an edit, the key of the one mistake that it makes, words of what is said, and, where the mistake is not in the
# edited line, what its line begins with.
WRONG: list[tuple[str, str, str, str, str]] = [
    # what a table may hold
    ('name = "walk"', 'name = "Walk!"', "name", "expected a name of at most 64 lower-case letters", ""),
    ('name = "walk"\n', "", "", "`name` is missing", ''),
    ('summary = "a walk in a corridor"', 'summary = " "', "summary", "a string that is not empty", ""),
    ("timeout_s = 30", "timeout_s = 0", "reference.timeout_s", "a number above 0", ""),
    ("timeout_s = 30", "timeout_s = inf", "reference.timeout_s", "it is the float inf", ""),
    ("workers = 2", "workers = 2.5", "reference.workers", "an integer of at least 0", ""),
    ("workers = 2", "workers = true", "reference.workers", "it is the boolean true", ""),
    ("x64 = true", "x64 = 1", "candidate.x64", "expected true or false", ""),
    ("frameskip = 4", '"frame-skip" = 4', 'reference.options.frame-skip', "letters, digits and `_`", ""),
    ("[reference.options]\nframeskip = 4", "options = 4", "reference.environment.options", "it is not a string", "options"),
    ("examples = 10", "examples = -1", "budgets.examples", "at least 1", ""),
    ('policies = ["random", "sticky", "forward"]', "policies = []", "budgets.policies", "at least 1", ""),
    ('["random", "sticky", "forward"]', '["random", "random"]', "budgets.policies[1]", "stands here twice", ""),
    ("batch_sizes = [1, 64]", "batch_sizes = [0, 64]", "profile.batch_sizes[0]", "at least 1", ""),
    ("dollars = 0", "dollars = -1", "limits.dollars", "at least 0", ""),
    # training
    ("margin = 2.5", "margin = -2.5", "transfer.margin", "a number above 0", ""),
    ("margin = 2.5", "margin = inf", "transfer.margin", "a number above 0", ""),
    ("margin = 2.5\n", "", "transfer", "the key `margin` is missing", "[transfer]"),
    ('because = "a tenth of a good return"', 'because = ""', "transfer.because", "the reason for it", ""),
    ("\nsteps = 5000", "\nsteps = 0", "transfer.steps", "an integer of at least 1", "steps"),
    ("\nsteps = 5000", "\nsteps = 5e3", "transfer.steps", "an integer of at least 1", "steps"),
    ("reference_steps = 1000", "reference_steps = -1", "transfer.reference_steps", "an integer of at least 1", ""),
    ("minimum_return = -3", 'minimum_return = "low"', "transfer.minimum_return", "a finite number", ""),
    ("minimum_return = -3", "minimum_return = -inf", "transfer.minimum_return", "a finite number", ""),
    ("minimum_return = -3\n", "", "transfer", "the key `minimum_return` is missing", "[transfer]"),
    ("seeds = [3, 5]", "seeds = 5", "transfer.seeds", "an array", ""),
    ("seeds = [3, 5]", "seeds = []", "transfer.seeds", "at least 1", ""),
    ("seeds = [3, 5]", "seeds = [1, 5]", "transfer.seeds[0]", "an integer of at least 2", ""),
    ("seeds = [3, 5]", "seeds = [5, 3]", "transfer.seeds", "numbers that rise", ""),
    ("seeds = [3, 5]", "seeds = [5, 5]", "transfer.seeds", "numbers that rise", ""),
    ("episodes = 8", "episodes = 1", "transfer.episodes", "an integer of at least 2", ""),
    ("episodes = 8", "episode = 8", "transfer.episode", "did you mean `episodes`?", ""),
    ("num_envs = 16", "num_env = 16", "transfer.ppo.num_env", "did you mean `num_envs`?", ""),
    ("num_envs = 16", "num_envs = 0", "transfer.ppo.num_envs", "it is the integer 0; expected a whole number from 1 on", ""),
    ("num_envs = 16", 'clip = "0.2"', "transfer.ppo.clip", "it is the string '0.2'; expected a number over 0", ""),
    ("num_envs = 16", "anneal = 1", "transfer.ppo.anneal", "it is the integer 1; expected true or false", ""),
    ("num_envs = 16", "hidden = [64, 0]", "transfer.ppo.hidden", "it is [64, 0]; expected a list of sizes", ""),
    ("num_envs = 16", "num_envs = 18", "transfer.ppo.num_envs", "`minibatches` is 4; expected a divisor of num_envs", ""),
    ("num_envs = 16", "minibatches = 5", "transfer.ppo.minibatches", "expected a divisor of num_envs = 64", ""),
    ('network = "gru"', 'network = "grru"', "transfer.ppo.network", "of mlp, cnn, gru; did you mean `gru`?", ""),
    ('[transfer.ppo]\nnum_envs = 16\nnetwork = "gru"', "ppo = 16", "transfer.ppo", "expected a table", "ppo"),
    # files and software
    ("adapter.py:Walk", "adapter.py", "reference.adapter", "`path/to/file.py:Class`", ""),
    ("adapter.py:Walk", "missing.py:Walk", "reference.adapter", "there is no file 'reference/missing.py'", ""),
    ("reference/adapter.py:Walk", "../adapter.py:Walk", "reference.adapter", "leaves the task directory", ""),
    ('python = ">=3.8,<4"', 'python = "3.8"', "reference.python", "a version specifier", ""),
    ('"numpy==2.4.6"', '"numpy==2.*"', "reference.requirements[0]", "is not pinned", ""),
    ('"numpy==2.4.6"', '"numpy =="', "reference.requirements[0]", "is not a requirement", ""),
    ('"numpy==2.4.6"', '"numpy @ file:///n.whl"', "reference.requirements[0]", "`#sha256=...`", ""),
    ('"quickwalk==1.0"', '"quickwalk"', "peers[0].requirements[0]", "is not pinned", ""),
    ('"reference/peer.py:Quick"', '"reference/pear.py:Quick"', "peers[0].adapter", "there is no file", ""),
    ('build = "reference/build.py"', 'build = "task.toml"', "reference.build", "in `reference/`", ""),
    ('"{prefix}/lib/shim.so"', '"{prefx}/shim.so"', "reference.environment.LD_PRELOAD", "did you mean `prefix`", ""),
    ('adapter = "reference/adapter.py:Walk"\n', "", "reference", "it has nothing to run", '[reference]'),
    ("workers = 2", 'command = ["node", "x.mjs"]', "reference.command", "an adapter or a command, not both", ""),
    ('kind = "jax"', 'kind = "jacks"', "candidate.kind", "one of jax, rust", ""),
    ('"candidate/env.py"', '"/candidate/env.py"', "candidate.entry", "leaves the task directory", ""),
    ('"candidate/env.py"', '"reference/env.py"', "candidate.entry", "in `candidate/`", ""),
    ('"--xla_cpu_max_isa=AVX"', '"xla_cpu"', "candidate.xla_flags[0]", "begins with `--`", ""),
    # leaves
    ('"observation/near"', '"obervation"', "leaves.obervation", "did you mean `observation`?", ""),
    ('"observation/near"', "observation", 'leaves."observation/view"', "`observation` is a leaf too", '"observation/view"'),
    ('"state/n" = { dtype = "int32" }', '"state/n" = { dtype = "int" }', 'leaves."state/n".dtype', "one of bool", ""),
    ('"state/n" = { dtype = "int32" }', '"state/n" = { shape = [] }', 'leaves."state/n"', "`dtype` is missing", ""),
    ("shape = [2], low = [-1", "shape = [0], low = [-1", 'leaves."observation/view".shape[0]', "at least 1", ""),
    ('low = [-1, "-inf"]', "low = [-1]", 'leaves."observation/view".low', "an array of 2", ""),
    ('low = [-1, "-inf"]', "low = [-1, nan]", 'leaves."observation/view".low[1]', '"inf" or "-inf"', ""),
    ('low = [-1, "-inf"]', "low = [-1, 1e39]", 'leaves."observation/view".low[1]', "beyond float32", ""),
    ("-2, high = 2 }\n", "3, high = 2 }\n", 'leaves."state/x".low', "above `high`", ""),
    ('reward = { dtype = "float64" }', 'reward = { dtype = "bool" }', "leaves.reward", "a number", ""),
    ('terminated = { dtype = "bool" }', 'terminated = { dtype = "int8" }', "leaves.terminated", "one bool", ""),
    ('truncated = { dtype = "bool" }', 'truncated = { dtype = "bool", shape = [1] }', "leaves.truncated", "one bool", ""),
    ('near" = { dtype = "bool" }', 'near" = { dtype = "bool", low = 0 }', 'leaves."observation/near".low', "no bounds", ""),
    ('dtype = "int32" }', 'dtype = "int8", low = 0, high = 128 }', 'leaves."state/n".high', "fits int8", ""),
    ('dtype = "int32" }', 'dtype = "int8", low = 0.5 }', 'leaves."state/n".low', "fits int8", ""),
    ("shape = [4] }", "shape = [5] }", "leaves.legal_actions", "expected shape [4]", ""),
    # modules and probes
    ('name = "ends"', 'name = "moves"', "modules[1].name", "a module `moves` stands above", ""),
    ('leaves = ["terminated"]', 'leaves = ["action"]', "modules[1].leaves[0]", "it is an input", ""),
    ('leaves = ["terminated"]', 'leaves = ["terminate"]', "modules[1].leaves[0]", "did you mean `terminated`?", ""),
    ('leaves = ["terminated"]', 'leaves = ["state/x"]', "modules[1].leaves[0]", "`moves` writes it already", ""),
    ('probes = ["move"]\n', "", "probes.move", "no module uses this probe", '[probes.move]'),
    ('"walk/core.py:1-20"', '"walk/core.py:from 1"', "modules[0].source[0]", "`path:first-last`", ""),
    ('inputs = { x = { dtype = "float64"', 'inputs = { x = { dtype = "float32"', "probes.move.inputs.x", "as the leaf", ""),
    # randomness
    ('mode = "tape"', 'mode = "tpae"', "randomness.mode", "did you mean `tape`?", ""),
    ('mode = "tape"', 'mode = "shared"', "randomness.draws", "the mode `shared` has no draws", '[randomness.draws.wind]'),
    ('at = "step"', 'at = "steps"', f"{WIND}.at", "did you mean `step`?", ""),
    ("std = 0.5", "std = 0", f"{WIND}.law.std", "a number above 0", ""),
    (", std = 0.5", "", f"{WIND}.law", "`std` is missing", ""),
    (", std = 0.5", ", std = 1, low = 2", f"{WIND}.law.low", "unknown key", ""),
    (LAW, 'kind = "gauss"', f"{WIND}.law.kind", "one of uniform", ""),
    (LAW, 'kind = "uniform", low = 1, high = 1', f"{WIND}.law.low", "low < high", ""),
    (LAW, 'kind = "integers", low = 0, high = 1', f"{WIND}.law", "does not fit dtype float64", ""),
    # tolerances
    ('"state/x" = { rtol', '"state/y" = { rtol', 'tolerance."state/y"', "unknown leaf", ""),
    ('"probe/move/x"', '"probe/move/action"', 'tolerance."probe/move/action"', "unknown leaf", ""),
    ('"state/x" = { rtol', "terminated = { rtol", "tolerance.terminated", "bool, which is always exact", ""),
    ("rtol = 1e-9", "rtol = -1e-9", 'tolerance."state/x".rtol', "at least 0", ""),
    ("rtol = 1e-9", "rtol = nan", 'tolerance."state/x".rtol', "at least 0", ""),
    ("rtol = 1e-9", "ulp = -1", 'tolerance."state/x".ulp', "at least 0", ""),
    ("rtol = 1e-9", "ulp = 1.5", 'tolerance."state/x".ulp', "integer", ""),
    ("rtol = 1e-9", "scale = -1e-9", 'tolerance."state/x".scale', "at least 0", ""),
    ("{ atol = 1e-12 }", "{}", 'tolerance."probe/move/x"', "it says nothing", ""),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "key", "said", "begins"), WRONG, ids=[f"{row[2]}: {row[1]}" for row in WRONG])
def test_one_mistake_is_reported_once_at_its_line(
    tmp_path: Path, old: str, new: str, key: str, said: str, begins: str
) -> None:
    assert_one_mistake(tmp_path, old, new, key, said, begins)


def test_a_scale_of_answers_to_inputs_without_bounds_is_refused(tmp_path: Path) -> None:
    scaled = ("{ atol = 1e-12 }", "{ scale = 1e-6 }")
    assert read(tmp_path, changed(scaled)).tolerances["probe/move/x"].scale == 1e-6
    for bounds in ("", ", low = -2", ", low = -inf, high = inf"):
        unbounded = (
            'inputs = { x = { dtype = "float64", low = -2, high = 2 }',
            f'inputs = {{ x = {{ dtype = "float64"{bounds} }}',
        )
        found = mistakes(tmp_path, changed(scaled, unbounded))
        assert any("the probe's input `x` has no bounds" in each for each in found), found


def test_without_steps_a_task_has_no_level_4_and_nothing_else_may_be_said_of_training(tmp_path: Path) -> None:
    document = changed(("\nsteps = 5000", ""))
    assert [line.split(": ")[1] for line in mistakes(tmp_path, document)] == [
        f"transfer.{name}" for name in ("reference_steps", "minimum_return", "seeds", "episodes", "ppo")
    ]
    assert all("nothing is trained without `steps`" in line for line in mistakes(tmp_path, document))
    begin, end = document.index("reference_steps"), document.index("[profile]")
    task = read(tmp_path, document[:begin] + document[end:])
    assert task.transfer == Transfer(2.5, "a tenth of a good return") and task.levels == (1, 2, 3)


def test_a_candidate_in_rust_is_a_crate_without_the_keys_of_jax(tmp_path: Path) -> None:
    said = mistakes(tmp_path, changed(('kind = "jax"', 'kind = "rust"'), ('mode = "tape"', 'mode = "shared"')))
    keys = [line.split(": ")[1] for line in said if ": candidate." in line]
    assert keys == [f"candidate.{name}" for name in ("kind", "entry", "x64", "xla_flags", "packages")]
    assert any("expected the `src/lib.rs` of a crate" in line for line in said)


def test_level_4_fixes_numbers_that_resets_draw_where_no_candidate_is_in_jax(tmp_path: Path) -> None:
    right = RIGHT[: RIGHT.index("[candidate]")] + '[candidate]\nkind = "rust"\nentry = "candidate/src/lib.rs"\n\n'
    right += RIGHT[RIGHT.index("[leaves]") :].replace(
        "[randomness.draws.wind]",
        '[randomness.draws.map]\ndtype = "uint8"\nat = "reset"\n\n[randomness.draws.wind]',
    )
    fix = lambda text, document=right: document.replace("[transfer.ppo]", f"[transfer.draws]\n{text}\n\n[transfer.ppo]")  # noqa: E731
    assert read(tmp_path, fix("map = 3")).transfer.draws == {"map": 3}
    for text, complaint in (
        ("map = 256", "transfer.draws.map: it is 256; expected a number that uint8 can hold"),
        ("map = 0.5", "transfer.draws.map: it is 0.5; expected a number that uint8 can hold"),
        ("wind = 0", "transfer.draws.wind: `wind` is not a number that a reset draws"),
        ("cart = 0", "transfer.draws.cart: there is no draw `cart` that could be forced"),
    ):
        [mistake] = mistakes(tmp_path, fix(text))
        assert complaint in mistake
    [mistake] = mistakes(tmp_path, fix("map = 3", right.replace('"rust"', '"jax"').replace("src/lib.rs", "env.py")))
    assert "a candidate in JAX trains in a loop of its own" in mistake


def test_only_a_crate_has_files_prepared(tmp_path: Path) -> None:
    [mistake] = mistakes(tmp_path, changed(('kind = "jax"', 'kind = "jax"\ndata = "reference/build.py"')))
    assert 'candidate.data: only a candidate of kind "rust" has such a key; expected it beside a crate' in mistake


def test_a_task_may_have_a_candidate_of_each_kind_and_no_two_of_one_name(tmp_path: Path) -> None:
    crate = '[[candidate.also]]\nkind = "rust"\nentry = "candidate/rust/src/lib.rs"\n\n[leaves]'
    task = read(tmp_path, changed(("[leaves]", crate)))
    rust = task.with_candidate("rust")
    assert (task.candidate.kind, rust.candidate.kind, rust.candidate.entry) == (
        "jax",
        "rust",
        "candidate/rust/src/lib.rs",
    )
    assert task.with_candidate("jax") is task and rust.with_candidate("jax").candidate == task.candidate
    assert len({task.digest, rust.digest}) == 2
    [mistake] = mistakes(tmp_path, changed(("[leaves]", crate.replace('"rust"', '"jax"'))))
    assert "candidate.also[0].kind: there is a candidate 'jax' above; expected a `name` of its own for each" in mistake
    with pytest.raises(TaskError, match=r"(?s)has no candidate 'rust'.*\(jax\)"):
        read(tmp_path, changed()).with_candidate("rust")


def test_two_candidates_of_one_kind_have_names_and_each_its_tolerances(tmp_path: Path) -> None:
    narrow = (
        '[[candidate.also]]\nname = "narrow"\nkind = "jax"\nentry = "candidate/narrow.py"\nprecision = "float32"\n'
        "tolerance = { reward = { atol = 0.5 } }\n\n[leaves]"
    )
    document = changed(("[leaves]", narrow))
    task = read(tmp_path, document)
    other = task.with_candidate("narrow")
    assert (other.candidate.kind, other.candidate.precision) == ("jax", "float32")
    assert other.tolerances == {**task.tolerances, "reward": Tolerance(atol=0.5)} != task.tolerances
    assert other.with_candidate("jax").tolerances == task.tolerances
    assert read(tmp_path, with_candidate(document, "narrow")).tolerances == other.tolerances
    for wrong, said in [
        (("name =", "names ="), "candidate.also[0].names: unknown key; expected one of"),
        (('"narrow"', '"jax"'), "candidate.also[0].name: there is a candidate 'jax' above"),
        (("float32", "float16"), "candidate.also[0].precision: it is the string 'float16'; expected one of"),
        (("reward =", "rewards ="), "candidate.also[0].tolerance.rewards: unknown leaf"),
        (("reward =", "terminated ="), "candidate.also[0].tolerance.terminated: it is bool, which is always exact"),
    ]:
        found = mistakes(tmp_path, changed(("[leaves]", narrow.replace(*wrong))))
        assert any(said in mistake for mistake in found), found


def test_the_text_of_a_task_with_one_of_its_candidates_reads_as_that_task(tmp_path: Path) -> None:
    crate = '[[candidate.also]]\nkind = "rust"\nentry = "candidate/rust/src/lib.rs"\n\n[leaves]'
    document = changed(("[leaves]", crate))
    chosen = read(tmp_path, with_candidate(document, "rust"))
    assert (chosen.candidate, chosen.others) == (read(tmp_path, document).with_candidate("rust").candidate, ())
    assert read(tmp_path, with_candidate(document, "jax")).candidate == read(tmp_path, document).candidate


LAWS = ('mode = "tape"', 'mode = "law"')


@pytest.mark.parametrize(
    ("seeds", "episodes", "few"),
    [
        ("seeds = [3, 5]", "episodes = 6", "3 trainings at the first look with 6 episodes each are 18 episodes"),
        ("seeds = [2, 900]", "episodes = 9", "2 trainings at the first look with 9 episodes each are 18 episodes"),
        ("", "episodes = 3", "6 trainings at the first look with 3 episodes each are 18 episodes"),
    ],
)
def test_where_only_laws_are_compared_the_first_look_needs_twenty_episodes(
    tmp_path: Path, seeds: str, episodes: str, few: str
) -> None:
    edits = ("seeds = [3, 5]", seeds), ("episodes = 8", episodes)
    [mistake] = mistakes(tmp_path, changed(LAWS, *edits))
    line = changed(LAWS, *edits).split("\n").index(episodes) + 1
    assert mistake.startswith(f"task.toml:{line}: transfer.episodes: {few}; expected at least 20 in the mode `law`")
    assert read(tmp_path, changed(*edits)).transfer is not None, "with a tape, episodes are compared one by one"


@pytest.mark.parametrize("edits", [(("seeds = [3, 5]", "seeds = [4]"), ("episodes = 8", "episodes = 5")), ()])
def test_where_only_laws_are_compared_twenty_episodes_are_enough(tmp_path: Path, edits: tuple[tuple[str, str]]) -> None:
    assert read(tmp_path, changed(LAWS, *edits)).mode is Mode.LAW


def test_where_only_laws_are_compared_level_3_needs_twenty_episodes(tmp_path: Path) -> None:
    few, enough = (("examples = 10", f"examples = 10\nepisodes = {count}") for count in (19, 20))
    document = changed(LAWS, few)
    [mistake] = mistakes(tmp_path, document)
    line = document.split("\n").index("episodes = 19") + 1
    assert mistake.startswith(
        f"task.toml:{line}: budgets.episodes: it is the integer 19; expected at least 20 in the mode"
    )
    assert read(tmp_path, changed(LAWS, enough)).budgets.episodes == 20
    assert read(tmp_path, changed(few)).budgets.episodes == 19, "with a tape, episodes are compared one by one"


def test_every_mistake_in_hyper_parameters_is_reported_at_its_own_line(tmp_path: Path) -> None:
    document = changed(("num_envs = 16", "num_env = 16\nclip = 0\ngae_lambda = 2"))
    first = document.split("\n").index("num_env = 16") + 1
    assert [line.split(": ")[:2] for line in mistakes(tmp_path, document)] == [
        [f"task.toml:{first + offset}", f"transfer.ppo.{name}"]
        for offset, name in enumerate(("num_env", "clip", "gae_lambda"))
    ]


def test_looks_that_are_wrong_are_not_counted_too(tmp_path: Path) -> None:
    edits = ("seeds = [3, 5]", "seeds = [5, 3]"), ("episodes = 8", "episodes = 2")
    [mistake] = mistakes(tmp_path, changed(LAWS, *edits))
    assert "transfer.seeds: " in mistake and "numbers that rise" in mistake


def test_one_number_bounds_every_element_of_a_leaf(tmp_path: Path) -> None:
    task = read(tmp_path, changed(('low = [-1, "-inf"]', "low = 1.25")))
    assert task.leaves["observation/view"].low == 1.25


def test_probabilities_that_do_not_sum_to_one_are_refused(tmp_path: Path) -> None:
    categorical = (
        'law = { kind = "normal", mean = 0, std = 0.5 }',
        'law = { kind = "categorical", probabilities = [0.5, 0.4] }',
    )
    document = changed(
        ('[randomness.draws.wind]\ndtype = "float64"', '[randomness.draws.wind]\ndtype = "int8"'), categorical
    )
    [mistake] = mistakes(tmp_path, document)
    assert mistake == "task.toml:60: randomness.draws.wind.law.probabilities: they sum to 0.9; expected a sum of 1"


def test_thirds_are_probabilities_although_their_sum_is_rounded(tmp_path: Path) -> None:
    law = 'law = { kind = "categorical", probabilities = [0.3333333333333333, 0.3333333333333333, 0.3333333333333333] }'
    document = changed(
        ('[randomness.draws.wind]\ndtype = "float64"', '[randomness.draws.wind]\ndtype = "int8"'),
        ('law = { kind = "normal", mean = 0, std = 0.5 }', law),
    )
    assert read(tmp_path, document).draws["wind"].law is not None


def test_more_outcomes_than_the_dtype_can_name_are_refused(tmp_path: Path) -> None:
    document = changed(
        ('[randomness.draws.wind]\ndtype = "float64"', '[randomness.draws.wind]\ndtype = "bool"'),
        (
            'law = { kind = "normal", mean = 0, std = 0.5 }',
            'law = { kind = "categorical", probabilities = [0.5, 0.25, 0.25] }',
        ),
    )
    [mistake] = mistakes(tmp_path, document)
    assert "bool cannot name 3 outcomes" in mistake


def test_a_tape_without_draws_is_refused(tmp_path: Path) -> None:
    start, end = RIGHT.index("[randomness.draws.wind]"), RIGHT.index("[tolerance]")
    [mistake] = mistakes(tmp_path, RIGHT[:start] + RIGHT[end:])
    assert mistake.startswith("task.toml:53: randomness.mode: a tape needs draws")


def test_an_action_without_bounds_is_refused_because_random_policies_need_them(tmp_path: Path) -> None:
    document = changed(
        ("shape = [4] }", "shape = [4] }\n[probes]"),
        ('action = { dtype = "int64", low = 0, high = 3 }\nreward', 'action = { dtype = "float32", low = -1 }\nreward'),
    ).replace("[probes]\n", "", 1)
    found = mistakes(tmp_path, document)
    assert "task.toml:29: leaves.action: an action without finite bounds cannot be drawn at random" in found[0]


def test_a_syntax_error_is_reported_with_its_line(tmp_path: Path) -> None:
    [mistake] = mistakes(tmp_path, changed(('workflow = "translate"', 'workflow = "translate')))
    assert mistake.startswith("task.toml:3: not valid TOML: ")


def test_a_syntax_error_at_the_end_has_the_last_line(tmp_path: Path) -> None:
    [mistake] = mistakes(tmp_path, 'name = "walk"\nsummary = [')
    assert mistake.startswith("task.toml:2: not valid TOML: ")


def test_a_table_where_a_value_belongs_and_a_value_where_a_table_belongs_are_reported(tmp_path: Path) -> None:
    found = mistakes(tmp_path, 'name = {}\nreference = 3\nleaves = []\nmodules = ["x"]\nrandomness = "tape"\n')
    assert [line.split("; expected")[0] for line in found] == [
        "task.toml:1: `candidate` is missing",
        "task.toml:1: `summary` is missing",
        "task.toml:1: `workflow` is missing",
        "task.toml:1: name: it is a table",
        "task.toml:2: reference: it is the integer 3",
        "task.toml:3: leaves: it is an array of 0",
        "task.toml:4: modules[0]: it is the string 'x'",
        "task.toml:5: randomness: it is the string 'tape'",
    ]


def test_an_empty_file_lacks_everything(tmp_path: Path) -> None:
    found = mistakes(tmp_path, "")
    missing = {match.group(1) for line in found if (match := re.search(r"`(\w+)` is missing", line))}
    assert missing == {"name", "summary", "workflow", "reference", "candidate", "leaves", "modules", "randomness"}


def test_a_directory_without_a_task_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=re.escape(str(tmp_path))):
        load_task(tmp_path)


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    (tmp_path / "task.toml").write_bytes(b'name = "\xff"\n')
    with pytest.raises(TaskError, match="not UTF-8"):
        load_task(tmp_path)


def test_the_error_shows_all_mistakes_to_people_and_to_programs(tmp_path: Path) -> None:
    with pytest.raises(TaskError) as refused:
        read(tmp_path, changed(("workers = 2", "worker = 2"), ("x64 = true", "x64 = 1")))
    assert "the task file has 2 mistakes" in str(refused.value)
    assert "task.toml:11: reference.worker: unknown key" in str(refused.value)
    assert "task.toml:22: candidate.x64: it is the integer 1" in str(refused.value)
    assert refused.value.as_json()["mistakes"].count("\n") == 1

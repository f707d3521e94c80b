"""Candidates that crash, hang, leave early, flood or cheat: each gets a named outcome that is no PASS, and harms nothing."""

from __future__ import annotations

import pytest

from harness.model import Outcome
from tests.levels.conftest import Walk

AT_IMPORT = "def sample_reset(key):"
IN_STEP = "    windy = action == 2\n"
CALLBACK = "    jax.debug.callback({function})\n"

ERRORS = {
    "crashes when it is loaded": ("import os\nos.kill(os.getpid(), 11)\n", "", "before it answered"),
    "leaves with status 0 when it is loaded": ("import os\nos._exit(0)\n", "", "exit status 0"),
    "hangs when it is loaded": ("while True:\n    pass\n", "", "no answer within"),
    "takes all memory": (
        "hoard = bytearray(8 << 30)\nfor i in range(0, 8 << 30, 4096):\n    hoard[i] = 1\n",
        "",
        "memory",
    ),
    "leaves with status 0 in the middle of an episode": (
        "import os\ndef leave():\n    os._exit(0)\n",
        CALLBACK.format(function="leave"),
        "exit status 0",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", ERRORS)
def test_a_candidate_that_cannot_be_judged_is_an_error_that_says_why(behaviour: str, walk: Walk) -> None:
    at_import, in_step, said = ERRORS[behaviour]
    # Only a hang has to be waited for; on a loaded machine the others take their time to fail.
    timeout_s = 8 if behaviour.startswith("hangs") else 60
    walk.edit("task.toml", [("timeout_s = 60", f"timeout_s = {timeout_s}\nmemory_mb = 2048")])
    walk.edit("candidate/env.py", [(AT_IMPORT, f"{at_import}\n\n{AT_IMPORT}"), (IN_STEP, in_step + IN_STEP)])
    verdict = walk.verify((1, 2, 3))
    assert verdict.outcome is Outcome.ERROR
    assert said in str(verdict.to_json())


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise",
    [
        "import sys\nsys.stdout.write('x' * (1 << 30))\n",
        "import os\nfor _ in range(1 << 14):\n    os.write(2, b'y' * 65536)\n",
    ],
    ids=["to standard output", "to standard error"],
)
def test_a_candidate_that_prints_a_gigabyte_is_judged_all_the_same(noise: str, walk: Walk) -> None:
    walk.edit("candidate/env.py", [(AT_IMPORT, f"{noise}\n\n{AT_IMPORT}")])
    assert walk.verify((1,), module="moving").outcome is Outcome.PASS


@pytest.mark.slow
def test_a_candidate_finds_neither_the_reference_nor_its_packages_nor_the_harness(walk: Walk) -> None:
    walk.edit(
        "candidate/env.py",
        [
            (
                AT_IMPORT,
                "import glob, importlib.util, os\n"
                "found = [n for n in ('gymnasium', 'pytest', 'git', 'harness.verify', 'harness.session', 'sandboxes')\n"
                "         if importlib.util.find_spec(n.split('.')[0]) and (n.count('.') == 0 or importlib.util.find_spec(n))]\n"
                f"found += glob.glob({str(walk.directory)!r} + '/*') + glob.glob('/lockstep/*/reference')\n"
                "found += [n for n in os.environ if 'LOCKSTEP' in n]\n"
                "assert not found, found\n\n\n" + AT_IMPORT,
            )
        ],
    )
    verdict = walk.verify((1,), module="moving")
    assert verdict.outcome is Outcome.PASS, verdict.to_json()


@pytest.mark.slow
def test_a_candidate_of_the_wrong_form_fails_with_every_mistake_named(walk: Walk) -> None:
    walk.edit("candidate/env.py", [(".astype(jnp.float32)}", "}"), ("def decode", "def decoded")])
    verdict = walk.verify()
    assert verdict.outcome is Outcome.FAIL
    [check] = verdict.reports[-1].checks
    assert check.name == "contract"
    rules = {(d.path, d.rule) for d in check.divergences}
    assert ("observation", "dtype") in rules
    assert any("there is no function `decode`" in d.cause for d in check.divergences)

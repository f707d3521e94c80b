"""How a crate is compiled so that it counts what of it is reached: with LLVM's counters in the candidate's crates alone.

What a candidate is linked with is the one that was compiled ahead, without counters, so such a build takes no longer than
another one.
"""

from __future__ import annotations

from pathlib import Path

from harness.task.contract import CANDIDATE_DIRECTORY

COUNTED = "/lockstep/candidate"
"""Where the counted sources lie, as their counters name them, whatever the sandbox."""
NO_RUNTIME = "profiler_builtins"
"""The crate with LLVM's runtime, which a compiler names where it was built without it."""
_NAME = "count-what-is-reached"
# Cargo runs it instead of the compiler. The binding crate counts nothing worth knowing, but is what links the runtime.
_WRAPPER = f"""#!/bin/sh
compiler=$1
shift
case "$CARGO_MANIFEST_DIR/" in
"$LOCKSTEP_COUNTED"/*) exec "$compiler" "$@" -C instrument-coverage "--remap-path-prefix=candidate={COUNTED}" ;;
"$LOCKSTEP_BINDING"/) exec "$compiler" "$@" -C instrument-coverage ;;
*) exec "$compiler" "$@" ;;
esac
"""


def write_wrapper(project: Path) -> None:
    """Write what adds the counters into a project."""
    wrapper = project / _NAME
    wrapper.write_text(_WRAPPER, encoding="utf-8")
    wrapper.chmod(0o755)


def counting_variables(project: str) -> dict[str, str]:
    """The variables with which cargo compiles so.

    Args:
        project: where a sandbox shows it; `write_wrapper` has written there.
    """
    return {
        "RUSTC_WRAPPER": f"{project}/{_NAME}",
        "LOCKSTEP_COUNTED": f"{project}/{CANDIDATE_DIRECTORY}",
        "LOCKSTEP_BINDING": project,
        "LLVM_PROFILE_FILE": "/dev/null",  # build scripts and macros of the candidate have counters too
    }

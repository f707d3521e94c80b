"""How a crate is compiled so that it counts what of it is reached: with LLVM's counters in the candidate's crates alone.

What a candidate is linked with is the one that was compiled ahead, without counters, so such a build takes no longer than
another one.
"""

from __future__ import annotations

from pathlib import Path

from sandboxes import Sandbox

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
"$LOCKSTEP_COUNTED"/*) exec "$compiler" "$@" -C instrument-coverage "--remap-path-prefix=$LOCKSTEP_COUNTED={COUNTED}" ;;
"$LOCKSTEP_BINDING"/*) exec "$compiler" "$@" -C instrument-coverage ;;
*) exec "$compiler" "$@" ;;
esac
"""


def write_wrapper(binding: Path) -> None:
    """Write what adds the counters, beside a binding crate."""
    wrapper = binding / _NAME
    wrapper.write_text(_WRAPPER, encoding="utf-8")
    wrapper.chmod(0o755)


def counting_variables(sandbox: Sandbox, candidate: str, binding: str) -> dict[str, str]:
    """The variables with which cargo compiles so in an open sandbox.

    Args:
        candidate, binding: where both are mounted; `write_wrapper` has written beside the latter.
    """
    return {
        "RUSTC_WRAPPER": sandbox.inside(f"{binding}/{_NAME}"),
        "LOCKSTEP_COUNTED": sandbox.inside(candidate),
        "LOCKSTEP_BINDING": sandbox.inside(binding),
        "LLVM_PROFILE_FILE": "/dev/null",  # build scripts and macros of the candidate have counters too
    }

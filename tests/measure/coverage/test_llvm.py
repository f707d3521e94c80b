"""What LLVM's tools say of a crate becomes lines, regions and functions; what says something else is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

import pytest

from harness.candidate.crates.toolchain import Toolchain
from harness.errors import SetupError
from harness.measure.coverage.llvm import Function, reached, tools
from sandboxes import Driver, Finished

LIB, CORE = "/lockstep/candidate/src/lib.rs", "/lockstep/candidate/core/src/lib.rs"
LENGTHS = {LIB: 9, CORE: 3}
#  1  fn both(wet: bool) -> u8 {
#  2      if wet {
#  3          rain()
#  4
#  5      } else { 0 }
#  6  }
#  9  fn nobody() { lost() }
SAID: dict[str, Any] = {
    "data": [
        {
            "files": [
                {
                    "filename": LIB,
                    "segments": [
                        [1, 1, 4, True, True, False], [2, 12, 0, True, True, False], [5, 6, 4, True, False, False],
                        [5, 14, 4, True, True, False], [6, 2, 0, False, False, False], [9, 1, 0, True, True, False],
                        [9, 22, 0, False, False, False],
                    ],
                },
                {"filename": "/lockstep/crates/lockstep-env/src/leaves.rs", "segments": [[1, 1, 9, True, True, False]]},
            ],
            "functions": [
                {
                    "filenames": [LIB],
                    "regions": [[1, 1, 6, 2, 4, 0, 0, 0], [2, 12, 5, 6, 0, 0, 0, 0], [5, 14, 5, 15, 4, 0, 0, 0]],
                },
                {"filenames": [LIB], "regions": [[1, 1, 6, 2, 0, 0, 0, 0], [2, 12, 5, 6, 0, 0, 0, 0]]},
                {"filenames": [LIB], "regions": [[9, 1, 9, 22, 0, 0, 0, 0], [9, 3, 9, 4, 7, 0, 0, 1]]},
                {"filenames": ["/elsewhere/lib.rs"], "regions": [[1, 1, 2, 2, 9, 0, 0, 0]]},
            ],
        }
    ]
}  # fmt: skip


def test_lines_regions_and_functions_are_those_of_the_files_that_count() -> None:
    reaches, functions = reached(SAID, LENGTHS)
    assert list(reaches) == [LIB]  # nothing was compiled of the other one
    reach = reaches[LIB]
    assert (reach.lines, reach.reached) == ({1, 2, 3, 4, 5, 6, 9}, {1, 2, 5, 6})
    assert reach.branches == {"1:1-6:2", "2:12-5:6", "5:14-5:15", "9:1-9:22"}
    assert reach.taken == {"1:1-6:2", "5:14-5:15"}
    assert functions == [Function(LIB, 1, 6), Function(LIB, 9, 9)]


def test_a_region_was_taken_where_any_instance_of_a_generic_function_took_it() -> None:
    said = deepcopy(SAID)
    said["data"][0]["functions"][1]["regions"][1][4] = 3
    assert "2:12-5:6" in reached(said, LENGTHS)[0][LIB].taken


def test_between_functions_there_are_no_lines() -> None:
    assert not {7, 8, 10} & reached(SAID, LENGTHS)[0][LIB].lines


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("data",), []),
        (("data", 0), 7),
        (("data", 0, "files", 0, "filename"), ["a list"]),
        (("data", 0, "files", 0, "segments", 0), [1, 1, 4]),
        (("data", 0, "files", 0, "segments", 0, 0), 1 << 40),
        (("data", 0, "files", 0, "segments", 0, 0), "1"),
        (("data", 0, "files", 0, "segments", 6, 0), 10),
        (("data", 0, "files", 0, "segments", 0, 2), "often"),
        (("data", 0, "functions", 0, "regions", 0, 0), -3),
        (("data", 0, "functions", 0, "regions", 0, 2), 1 << 40),
        (("data", 0, "functions", 0, "regions", 0, 5), 9),
        (("data", 0, "functions", 0, "filenames"), None),
    ],
)
def test_what_says_something_else_is_refused(place: Sequence[Any], value: Any) -> None:
    said: Any = deepcopy(SAID)
    *above, last = place
    inner = said
    for step in above:
        inner = inner[step]
    inner[last] = value
    with pytest.raises(ValueError, match="llvm-cov"):
        reached(said, LENGTHS)


class Machine:
    """A driver and its sandbox, with a compiler and the programs that are named."""

    def __init__(self, *programs: str) -> None:
        self._programs = programs

    def open(self, spec: object) -> Machine:
        return self

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Finished:
        said = {"--verbose": "host: here\nLLVM version: 22.1.2\n", "sysroot": "/rust\n"}.get(command[-1], "")
        code = 0 if command[0] in ("rustc", *self._programs) else 127
        return Finished(code, said.encode(), b"", False, None, False, False, 0.0)


RUST = Toolchain("rustc 1.95.0", "/usr/bin", ())


@pytest.mark.parametrize("place", ["/rust/lib/rustlib/here/bin", "/usr/lib/llvm-22/bin"])
def test_the_tools_are_those_of_the_compilers_own_llvm(place: str) -> None:
    machine = cast(Driver, Machine(f"{place}/llvm-cov", f"{place}/llvm-profdata"))
    assert tools(machine, RUST) == place


@pytest.mark.parametrize("programs", [[], ["/usr/bin/llvm-cov"], ["/usr/lib/llvm-22/bin/llvm-cov"]])
def test_where_there_are_none_a_line_says_how_to_get_them(programs: list[str]) -> None:
    with pytest.raises(SetupError, match="LLVM 22") as caught:
        tools(cast(Driver, Machine(*programs)), RUST)
    assert "rustup component add llvm-tools" in caught.value.next_step
    assert "llvm-22" in caught.value.next_step

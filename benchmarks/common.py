"""What every benchmark shares: the machine's fingerprint, a table, and the JSON file beside it."""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from harness.record.machine import fingerprint
from harness.verdict import CheckResult, Outcome, Verdict

RESULTS = Path(__file__).parent / "results"
ENVIRONMENTS = Path(__file__).parents[1] / "environments"


def report(name: str, title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a table and write them, with the machine and the peak memory, to results/NAME.json."""
    table = Table(title=title, title_justify="left")
    for heading in rows[0]:
        table.add_column(heading, justify="left" if isinstance(rows[0][heading], str) else "right")
    for row in rows:
        table.add_row(*(f"{value:,.3g}" if isinstance(value, float) else str(value) for value in row.values()))
    Console().print(table)
    RESULTS.mkdir(exist_ok=True)
    document = {"benchmark": name, "machine": fingerprint(), "peak_memory_mb": peak_memory_mb(), "rows": list(rows)}
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")


def peak_memory_mb() -> dict[str, float]:
    """Largest resident set so far of this process and of any one of its children that has ended."""
    sizes = {"harness": resource.RUSAGE_SELF, "largest_child": resource.RUSAGE_CHILDREN}
    return {name: resource.getrusage(who).ru_maxrss / 1024 for name, who in sizes.items()}


def took(run: Callable[[], object], clock: Callable[[], float]) -> float:
    """How long something takes by a clock."""
    begin = clock()
    run()
    return clock() - begin


def spread(values: Sequence[float]) -> str:
    """Median with the smallest and the largest."""
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def must_pass(verdict: Verdict) -> Verdict:
    """The verdict itself; what is measured must have been verified too."""
    assert verdict.outcome is Outcome.PASS, verdict.error or [c for r in verdict.reports for c in r.checks if failed(c)]
    return verdict


def failed(check: CheckResult) -> bool:
    """Whether a check did not pass."""
    return check.outcome in (Outcome.FAIL, Outcome.ERROR)


def run_python(python: Path, program: str, *arguments: str) -> float:
    """Run a program in another interpreter; it prints one number."""
    done = subprocess.run([str(python), "-c", program, *arguments], check=True, capture_output=True, text=True)
    return float(done.stdout)


def candidate_tree(task_directory: Path, tree: Path) -> Path:
    """A tree with a task's own candidate."""
    shutil.copytree(task_directory / "candidate", tree / "candidate", ignore=shutil.ignore_patterns("__pycache__"))
    return tree

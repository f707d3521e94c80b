"""Reading what an audit found."""

from __future__ import annotations

from harness.assurance.audit import AuditReport


def said(report: AuditReport) -> str:
    """All problems, one in a line."""
    return "\n".join(problem.what for problem in report.problems)

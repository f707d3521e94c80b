"""The report: what a record tells, as one document and as one page (docs/report.md)."""

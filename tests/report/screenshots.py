"""Takes the pictures of docs/report.md: `python -m tests.report.screenshots RECORD`, from the root of the repository.

Run by hand, on a record of a real session (docs/report.md says how to make one).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser

from harness.record.received import opened as opened_record
from harness.report.document import collect
from harness.report.page import render
from tests.paths import ROOT
from tests.report.browser import address_of, chromium, opened

DOCS = ROOT / "docs"
LARGEST = 200_000
"""Bytes of a picture."""
PICTURES: dict[str, dict[str, Any]] = {
    "report.png": {"size": {"width": 1280, "height": 1220}, "color_scheme": "light"},
    "report-dark.png": {"size": {"width": 1280, "height": 1220}, "color_scheme": "dark"},
    "report-phone.png": {"size": {"width": 390, "height": 844}, "color_scheme": "light", "device_scale_factor": 2},
}


def take(browser: Browser, page: Path, destination: Path, size: Any, **context: Any) -> None:
    """One picture of what a reader sees first."""
    with opened(browser, address_of(page), size, **context) as tab:
        tab.page.screenshot(path=destination)
    # Of few colours, so that it stays small; the median cut would mix the rare ones (a cross in red) with their neighbours.
    few = Image.open(destination).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(destination, optimize=True)
    if destination.stat().st_size > LARGEST:
        raise SystemExit(f"{destination} takes {destination.stat().st_size} bytes, more than {LARGEST}")


def main(record: Path) -> None:
    """Take all of them."""
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        page = Path(scratch) / "report.html"
        with opened_record(record) as store:
            page.write_text(render(collect(store)), encoding="utf-8")
        for name, how in PICTURES.items():
            take(browser, page, DOCS / name, **how)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

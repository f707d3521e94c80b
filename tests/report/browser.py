"""A real Chromium, and what it asked for and complained of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, ViewportSize, sync_playwright

DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 320, "height": 640}


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, headless; a test is skipped where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("opens pages in Chromium: install it (Debian: `apt-get install chromium`)")
    with sync_playwright() as playwright:
        # As root Chromium's own sandbox does not start; it opens nothing here but pages of these tests.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Tab:
    """A page that is open, with every request that it made and everything that it complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def shown(self) -> list[str]:
        """The numbers of the attempts that the filters let through."""
        numbers = self.page.locator(".attempt:visible .number")
        return [text.strip() for text in numbers.all_text_contents()]

    def open_ids(self) -> list[str]:
        """The attempts that are open."""
        found: list[str] = self.page.evaluate(
            "Array.from(document.querySelectorAll('.attempt details[open]'), e => e.id)"
        )
        return found


@contextmanager
def opened(browser: Browser, address: str, size: ViewportSize | None = None, **context: Any) -> Iterator[Tab]:
    """A tab on an address."""
    held = browser.new_context(viewport=size or DESKTOP, **context)
    try:
        tab = Tab(held.new_page())

        def asked(request: Request) -> None:
            # What stands in the page itself is no request to anywhere.
            if not request.url.startswith("data:"):
                tab.requests.append(request.url)

        tab.page.on("request", asked)
        tab.page.on("console", lambda message: tab.complaints.append(message.text) if message.type != "log" else None)
        tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.page.goto(address)
        yield tab
    finally:
        held.close()


def address_of(path: Path, anchor: str = "") -> str:
    """The address of a file on disk."""
    return path.resolve().as_uri() + (f"#{anchor}" if anchor else "")

"""The conformance kit judges the adapters that the protocol's tests open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.authoring import scaffold
from tests.protocol.conftest import open_walker, opened_walker, run, sandbox, serve

__all__ = ["open_walker", "opened_walker", "run", "sandbox", "serve"]


@pytest.fixture
def change_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Plants a fault in the templates of adapters: one text, which must stand in one of them, becomes another."""

    def change(before: str, after: str) -> None:
        templates = tmp_path / "templates"
        templates.mkdir()
        texts = {file.name: file.read_text() for file in scaffold.TEMPLATES.glob("*.*")}
        assert sum(before in text for text in texts.values()) == 1, f"{before!r} stands in no template, or in several"
        for name, text in texts.items():
            (templates / name).write_text(text.replace(before, after))
        monkeypatch.setattr(scaffold, "TEMPLATES", templates)

    return change

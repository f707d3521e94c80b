"""docs/glossary.md: its order, and that nobody uses the words that it says we do not use."""

from __future__ import annotations

import re
import subprocess

from tests.project.workflows import ROOT

PAGE = "docs/glossary.md"


def words_not_used(page: str) -> list[str]:
    """Those of the table at the end that are one word in one meaning; the others cannot be looked for."""
    rows = re.findall(r"^\| ([a-z, ]+) \|", page.partition("## Words that we do not use")[2], re.MULTILINE)
    return [word for row in rows for word in row.split(", ") if " " not in word and word not in ("not", "words")]


def test_the_words_that_we_do_not_use_are_not_used() -> None:
    words = words_not_used((ROOT / PAGE).read_text(encoding="utf-8"))
    assert {"keeper", "overhear", "story"} <= {*words}
    pattern = "|".join(rf"\b{word}s?\b" for word in words)
    command = [
        "git",
        "grep",
        "-nPi",
        pattern,
        "--",
        "harness",
        "mcp_server",
        "sandboxes",
        "lockstep",
        "docs",
        f":!{PAGE}",
    ]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout == "" and found.returncode == 1, found.stdout


def test_a_word_that_is_used_would_be_found() -> None:
    page = "| step | one |\n## Words that we do not use\n\n| not | but |\n|---|---|\n| recorder, two words | keeper |\n"
    assert words_not_used(page) == ["recorder"]

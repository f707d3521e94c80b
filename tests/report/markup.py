"""What a page consists of, as far as it can matter: its elements, and where they lead."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(2)</script>",
    "</style><style>*{display:none}",
    "javascript:alert(3)",
    "<a href=javascript:alert(4)>click</a>",
    "' onmouseover='alert(5)",
    "{{ 7 * 7 }}{% for x in y %}",
    "]]><svg onload=alert(6)>",
)
PAYLOAD = " ".join(HOSTILE)
INVISIBLE = "\u202egnp.exe\u0000\u200b\x1b[2J"


class Page(HTMLParser):
    """Collects elements and text.

    Attributes:
        tags: how many there are of each element.
        attributes: every attribute as (element, name, value).
        text: all text outside scripts and styles.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: dict[str, int] = {}
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self._text: list[str] = []
        self._silent = 0
        self.feed(html)
        self.close()
        self.text = "".join(self._text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self._silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._text.append(data)

    def values(self, name: str) -> list[str]:
        """Every value of an attribute."""
        return [value for _, found, value in self.attributes if found == name]


def faults(html: str) -> list[str]:
    """What in a page could run, load or lead anywhere."""
    page = Page(html)
    found = [
        f"{tag} {name}={value!r}" for tag, name, value in page.attributes if name.startswith("on") or name == "style"
    ]
    found += [f"href {value!r}" for value in page.values("href") if not value.startswith("#") and value != "data:,"]
    found += [f"src {value!r}" for value in page.values("src") if not value.startswith("data:image/png;base64,")]
    for tag in ("iframe", "object", "embed", "base", "video", "audio"):
        found += [tag] * page.tags.get(tag, 0)
    found += ["more than one style"] * (page.tags.get("style", 0) != 1)
    found += ["another script"] * (page.tags.get("script", 0) != 1)
    return found

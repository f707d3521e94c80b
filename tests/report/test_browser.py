"""What a real browser makes of the page: by pointer, by keyboard, on a phone, in the dark, on paper, and live."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Dialog, ViewportSize, expect

from harness.report.page import render
from tests.report.browser import PHONE, Tab, address_of, chromium, opened
from tests.report.conftest import collected
from tests.report.markup import HOSTILE, PAYLOAD
from tests.report.script import Finding, Play
from tests.report.test_server import serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDER_THAN_THE_SCREEN = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def file(record: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a session with everything in it, on disk."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(collected(record)), encoding="utf-8")
    return path


@pytest.fixture
def tab(browser: Browser, file: Path) -> Iterator[Tab]:
    with opened(browser, address_of(file)) as tab:
        yield tab
        assert tab.complaints == []


def test_a_page_on_disk_asks_for_nothing_but_itself(tab: Tab, file: Path) -> None:
    tab.page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    tab.page.mouse.wheel(0, 100_000)
    tab.page.wait_for_load_state("networkidle")
    assert tab.requests == [address_of(file)]


def test_a_page_that_asked_for_something_would_be_noticed(browser: Browser, file: Path, tmp_path: Path) -> None:
    planted = tmp_path / "planted.html"
    planted.write_text(file.read_text().replace("<main>", '<main><img src="http://127.0.0.1:9/x.png" alt="">'))
    with opened(browser, address_of(planted)) as tab:
        tab.page.wait_for_load_state("networkidle")
        assert tab.complaints, "the policy must refuse it"
    planted.write_text("<img src='http://127.0.0.1:9/x.png'>")
    with opened(browser, address_of(planted)) as tab:
        tab.page.wait_for_load_state("networkidle")
        assert tab.requests == [address_of(planted), "http://127.0.0.1:9/x.png"]


def test_filters_narrow_the_list_and_say_how_many_are_left(tab: Tab, document: dict[str, Any]) -> None:
    page, rows = tab.page, document["attempts"]

    def numbers(wanted: Any) -> list[str]:
        return [str(row["number"]) for row in rows if wanted(row)]

    count = page.locator("#filter-count")
    expect(count).to_have_text(f"{len(rows)} of {len(rows)} attempts")
    page.get_by_label("outcome").select_option("FAIL")
    assert tab.shown == numbers(lambda row: row["outcome"] == "FAIL")
    expect(count).to_have_text(f"2 of {len(rows)} attempts")
    page.get_by_label("level").select_option("2")
    assert tab.shown == numbers(lambda row: row["outcome"] == "FAIL" and row["level"] == 2)
    page.get_by_role("button", name="Show all").click()
    assert tab.shown == numbers(lambda row: True)
    page.get_by_label("module").select_option("start")
    assert tab.shown == numbers(lambda row: row["module"] == "start")
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("only commits").check()
    assert tab.shown == numbers(lambda row: row["commit"])
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("text").fill("CASES/")
    assert tab.shown == numbers(lambda row: row["divergences"])
    page.get_by_label("text").fill("nothing has this")
    assert tab.shown == []


def test_commits_and_attempts_lead_to_each_other(tab: Tab, document: dict[str, Any]) -> None:
    page, commit = tab.page, document["commits"][1]
    page.get_by_label("outcome").select_option("FAIL")  # the attempt is hidden, and must come forth
    row = page.locator(f"#commit-{commit['commit']}")
    row.get_by_role("link").first.click()
    attempt = next(each for each in document["attempts"] if each["commit"] == commit["commit"])
    expect(page.locator(f"#event-{attempt['asked']}")).to_have_attribute("open", "")
    expect(page.locator(f"#event-{attempt['asked']}")).to_be_in_viewport()
    assert tab.open_ids() == [f"event-{attempt['asked']}"]
    page.locator(f"#event-{attempt['asked']}").get_by_role("link", name=commit["commit"][:12]).click()
    expect(row).to_be_in_viewport()
    page.locator("#divergences td a").first.click()
    page.wait_for_function("location.hash.startsWith('#commit-')")


def test_an_address_with_an_anchor_opens_the_right_attempt(
    browser: Browser, file: Path, document: dict[str, Any]
) -> None:
    attempt = document["attempts"][0]
    for anchor in (f"event-{attempt['event']}", f"event-{attempt['asked']}", f"divergence-{attempt['event']}-0"):
        with opened(browser, address_of(file, anchor)) as tab:
            assert tab.open_ids() == [f"event-{attempt['asked']}"]
            expect(tab.page.locator(f"#divergence-{attempt['event']}-0")).to_be_in_viewport()


def test_a_mark_of_the_timeline_leads_to_its_attempt(tab: Tab, document: dict[str, Any]) -> None:
    attempt = document["attempts"][3]
    tab.page.locator(f'[data-goto="event-{attempt["event"]}"]').dispatch_event("click")
    assert tab.open_ids() == [f"event-{attempt['asked']}"]


def test_pictures_are_shown_side_by_side(tab: Tab, document: dict[str, Any]) -> None:
    tab.page.locator(f"#event-{document['attempts'][0]['asked']} summary").click()
    pictures = tab.page.locator("figure img")
    expect(pictures).to_have_count(2)
    boxes = [pictures.nth(number).bounding_box() for number in (0, 1)]
    assert boxes[0] and boxes[1] and boxes[0]["y"] == boxes[1]["y"] and boxes[0]["width"] > 50
    assert pictures.first.evaluate("each => each.naturalWidth") == 16


def test_the_page_is_worked_by_keyboard_alone(tab: Tab, document: dict[str, Any]) -> None:
    page = tab.page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the verdict")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the verdict")).to_be_in_viewport()
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#summary"
    page.keyboard.press("j")
    page.keyboard.press("j")
    summary = page.locator(".attempt summary").nth(1)
    expect(summary).to_be_focused()
    assert summary.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert tab.open_ids() == [f"event-{document['attempts'][1]['asked']}"]
    page.keyboard.press("k")
    expect(page.locator(".attempt summary").first).to_be_focused()
    page.get_by_label("text").focus()
    page.keyboard.type("jk")
    expect(page.get_by_label("text")).to_have_value("jk")


def test_dark_follows_the_system_and_can_be_chosen(browser: Browser, file: Path) -> None:
    def ground(tab: Tab) -> int:
        colour: str = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))

    with opened(browser, address_of(file), color_scheme="dark") as tab:
        assert ground(tab) < 200
        tab.page.get_by_role("button", name="Theme: system").click()
        assert ground(tab) > 600
    with opened(browser, address_of(file), color_scheme="light") as tab:
        assert ground(tab) > 600
        tab.page.get_by_role("button", name="Theme: system").click()
        tab.page.get_by_role("button", name="Theme: light").click()
        assert ground(tab) < 200
        tab.page.get_by_role("button", name="Theme: dark").click()
        assert ground(tab) > 600


def test_nothing_is_wider_than_a_phone(browser: Browser, file: Path, tmp_path: Path) -> None:
    with opened(browser, address_of(file), PHONE) as tab:
        tab.page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        assert not tab.page.evaluate(WIDER_THAN_THE_SCREEN)
    planted = tmp_path / "wide.html"
    planted.write_text(file.read_text().replace('<div class="scroll"', "<div"))
    with opened(browser, address_of(planted), PHONE) as tab:
        assert tab.page.evaluate(WIDER_THAN_THE_SCREEN), "a chart without its frame must be noticed"


def test_on_a_phone_expected_and_actual_are_in_sight(browser: Browser, file: Path, tmp_path: Path) -> None:
    size: ViewportSize = {"width": 390, "height": 844}

    def beyond(page: Path) -> list[float]:
        with opened(browser, address_of(page), size) as tab:
            cells = tab.page.locator("#divergences td:nth-child(3), #divergences td:nth-child(4)")
            boxes = [each.bounding_box() for each in cells.all()]
            assert boxes
            return [box["x"] + box["width"] for box in boxes if box and box["x"] + box["width"] > size["width"]]

    assert beyond(file) == []
    planted = tmp_path / "wide.html"
    planted.write_text(file.read_text().replace('class="scroll cards"', 'class="scroll"'))
    assert beyond(planted), "a table that goes on beyond the screen must be noticed"


@pytest.mark.parametrize(("size", "scheme"), [(None, "light"), (PHONE, "dark")], ids=["desktop-light", "phone-dark"])
def test_axe_finds_nothing(browser: Browser, file: Path, scheme: Any, size: Any) -> None:
    # Animations off: in the middle of one, colours are not those of the page.
    with opened(browser, address_of(file), size, color_scheme=scheme, reduced_motion="reduce", bypass_csp=True) as tab:
        tab.page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        found = Axe().run(tab.page, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, found.generate_report()


def test_axe_would_find_something(browser: Browser, file: Path, tmp_path: Path) -> None:
    planted = tmp_path / "planted.html"
    planted.write_text(file.read_text().replace('<html lang="en"', "<html").replace(' alt="', ' data-alt="'))
    with opened(browser, address_of(planted), bypass_csp=True) as tab:
        tab.page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        found = Axe().run(tab.page, options={"runOnly": ["html-has-lang", "image-alt"]})
        assert {each["id"] for each in found.response["violations"]} == {"html-has-lang", "image-alt"}


def test_on_paper_there_are_no_controls_no_dark_and_all_divergences(browser: Browser, file: Path) -> None:
    with opened(browser, address_of(file), color_scheme="dark") as tab:
        page = tab.page
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        for selector in ("nav", "#filters", "#theme"):
            expect(page.locator(selector)).to_be_hidden()
        expect(page.locator(".divergence").first).to_be_visible()
        expect(page.locator(".attempt details:not(.found) .body").first).to_be_hidden()
        assert page.pdf().startswith(b"%PDF")


def test_without_scripts_everything_can_be_read(browser: Browser, file: Path) -> None:
    with opened(browser, address_of(file), java_script_enabled=False) as tab:
        expect(tab.page.locator("#filters")).to_be_hidden()
        expect(tab.page.locator("#theme")).to_be_hidden()
        tab.page.locator(".attempt summary").first.click()
        expect(tab.page.locator(".divergence").first).to_be_visible()


def test_hostile_text_does_nothing(browser: Browser, tmp_path: Path) -> None:
    play = Play(tmp_path)
    play.attempt(Finding(1, PAYLOAD, text=PAYLOAD), PAYLOAD)
    play.profile(summary=PAYLOAD, rows=[{"contender": PAYLOAD, "kind": PAYLOAD, "batch": 2, "steps_per_s": 3.0}])
    play.session.close()
    path = tmp_path / "hostile.html"
    path.write_text(render(collected(play.record)), encoding="utf-8")
    with opened(browser, address_of(path), bypass_csp=True) as tab:  # even where no policy would stop it
        dialogs: list[str] = []

        def opens(dialog: Dialog) -> None:
            dialogs.append(dialog.message)
            dialog.dismiss()

        tab.page.on("dialog", opens)
        tab.page.reload()
        tab.page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        tab.page.wait_for_load_state("networkidle")
        assert dialogs == [] and tab.complaints == []
        assert set(tab.requests) == {address_of(path)}
        assert tab.page.locator("script").count() == 1
        expect(tab.page.locator("#attempts")).to_contain_text(HOSTILE[1])


def test_a_live_page_follows_the_session_and_keeps_what_the_reader_did(browser: Browser, tmp_path: Path) -> None:
    play = Play(tmp_path)
    for number in range(14):
        play.session.resume("more")
        play.attempt(Finding(1, "start"), f"Try {number}")
    with serving(play.record) as server, opened(browser, server.address, PHONE) as tab:
        page = tab.page
        page.evaluate("window.untouched = true")
        page.get_by_label("outcome").select_option("FAIL")
        details = page.locator(".attempt details").nth(9)
        details.locator("summary").click()
        place, was_open = details.bounding_box(), tab.open_ids()
        assert place and place["y"] > 0, "it must be in sight"
        play.session.resume("more")
        play.attempt(message="The newest of all")
        expect(page.locator(".attempt")).to_have_count(15, timeout=15_000)
        expect(page.locator("#filter-count")).to_have_text("14 of 15 attempts")
        assert tab.open_ids() == was_open
        now = details.bounding_box()
        assert now and abs(now["y"] - place["y"]) < 2, "what is being read must stay where it is"
        expect(page.get_by_label("outcome")).to_have_value("FAIL")
        expect(details.locator("summary")).to_be_focused()
        assert page.evaluate("window.untouched"), "the page was loaded again"
        assert {request.removeprefix(server.address) for request in tab.requests} == {"", "stamp"}
        assert tab.complaints == []
    play.session.close()


def test_a_live_page_says_when_it_is_no_longer_live(browser: Browser, tmp_path: Path) -> None:
    play = Play(tmp_path)
    with serving(play.record) as server, opened(browser, server.address) as tab:
        expect(tab.page.locator("#live")).to_have_text("live")
        server.shutdown()
        server.server_close()
        expect(tab.page.locator("#live")).to_contain_text("no longer live", timeout=15_000)
    play.session.close()

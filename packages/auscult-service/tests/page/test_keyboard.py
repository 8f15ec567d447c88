"""The page without a mouse: the box and its completion, hits, panels, help."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from page_service import Watched, follow


def enter(page: Any, text: str, expected: str) -> None:
    # All at once: on a busy machine the pause between two keys is long enough to complete half a query.
    page.keyboard.insert_text(text)
    page.locator("#completions li", has_text=expected).first.wait_for()


def test_names_and_synonyms_complete_what_is_typed(watched: Watched) -> None:
    page = watched.open("/")
    box = page.locator("#q")
    assert page.evaluate("document.activeElement.id") == "q"
    assert box.get_attribute("aria-expanded") == "false"
    enter(page, "hepatol", "Wilson disease")
    assert box.get_attribute("aria-expanded") == "true"
    first = page.locator("#completions").get_by_role("option").first
    assert "Wilson disease" in first.inner_text()
    assert "hepatolenticular degeneration" in first.inner_text()
    assert "DOID" not in page.locator("#completions").inner_text()
    page.keyboard.press("ArrowDown")
    assert first.get_attribute("aria-selected") == "true"
    assert box.get_attribute("aria-activedescendant") == first.get_attribute("id")
    assert box.input_value() == "Wilson disease"
    page.keyboard.press("ArrowUp")
    assert box.input_value() == "hepatol"
    page.keyboard.press("Escape")
    assert page.locator("#completions").is_hidden()
    assert box.input_value() == "hepatol"


def test_completion_offers_last_words_and_whole_questions(watched: Watched) -> None:
    page = watched.open("/")
    enter(page, "treatment of sarcoid", "arcoidosis")
    page.keyboard.press("ArrowDown")
    assert page.locator("#q").input_value().lower() == "treatment of sarcoidosis"
    page.locator("#q").fill("")
    enter(page, "wilson di", "How is Wilson disease treated?")
    follow(page.locator("#completions").get_by_role("option", name="How is Wilson disease treated?"))
    assert parse_qs(urlsplit(page.url).query)["q"] == ["How is Wilson disease treated?"]


def test_aspects_complete_behind_a_name(watched: Watched) -> None:
    page = watched.open("/")
    enter(page, "wilson disease trea", "wilson disease treatment")
    page.keyboard.press("ArrowDown")
    assert page.locator("#q").input_value() == "wilson disease treatment"


def test_enter_takes_only_what_was_chosen(watched: Watched) -> None:
    def searched() -> list[str]:
        with page.expect_navigation():
            page.keyboard.press("Enter")
        return parse_qs(urlsplit(page.url).query)["q"]

    page = watched.open("/")
    enter(page, "hepatol", "Wilson disease")
    assert searched() == ["hepatol"]
    page.locator("#q").fill("")
    enter(page, "hepatol", "Wilson disease")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("x")
    assert searched() == ["Wilson diseasex"]
    page.locator("#q").fill("")
    enter(page, "hepatol", "Wilson disease")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert searched() == ["hepatol"]
    page.locator("#q").fill("")
    enter(page, "hepatol", "Wilson disease")
    page.locator("#completions li").first.hover()
    assert searched() == ["hepatol"]
    page.locator("#q").fill("")
    enter(page, "hepatol", "Wilson disease")
    page.keyboard.press("ArrowDown")
    assert searched() == ["Wilson disease"]


def test_keys_lead_from_box_to_document_and_back(watched: Watched) -> None:
    page = watched.open("/")
    page.keyboard.type("How is Wilson disease treated?")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('.hit').id") == "hit-1"
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('.hit').id") == "hit-2"
    page.keyboard.press("k")
    page.keyboard.press("y")
    page.locator("#hit-1 button[value=yes][aria-pressed=true]").wait_for()
    page.keyboard.press("k")
    page.locator("#hit-1 h2 a").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "/d/medquad/" in page.url
    page.keyboard.press("j")
    assert page.locator(".s.here").count() == 1
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("j?")
    assert page.locator("#keys").is_hidden()


def test_keys_are_listed_and_escape_closes_panels(watched: Watched) -> None:
    page = watched.open("/?q=sarcoidosis")
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#keys").is_hidden()
    page.locator("details.entity summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("details.entity .panel").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("details.entity .panel").is_hidden()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_the_first_stop_skips_to_the_content(watched: Watched) -> None:
    page = watched.open("/?q=sarcoidosis")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"

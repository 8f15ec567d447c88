"""WCAG 2.2 AA as far as axe can tell, in light and dark; a phone's width; no motion where none is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from page.conftest import Service
from page_service import Watched

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
QUESTION = "q=How+is+Wilson+disease+treated%3F"
VIEWS = {
    "home": "/",
    "hits": f"/?{QUESTION}",
    "nothing": "/?q=What+is+the+capital+of+Mongolia%3F",
    "words": "/?q=SCD+symtoms+zyxwv",
    "followed": "/?index=clinic&c=How+is+gout+treated%3F&q=and+in+children%3F&assertion=negated&assertion=family",
    "saved": "/saved",
    "patients": "/patients?index=clinic&q=gout",
    "document": "",
    "pdf": "/d/ward/gout%20guideline.pdf?q=When+should+I+call+a+doctor+about+gout%3F",
    "coverage": "/coverage?entity=Wilson+disease",
    "grid": "/coverage?entity=Wilson+disease;sarcoidosis",
    "compare": "/compare?q=symptoms+and+treatment+of+neurofibromatosis",
    "add": "/add",
    "jobs": "/jobs",
    "login": "/login",
    "trouble": "/nothing/here",
}


def keep_a_search(context: Any, service: Service) -> None:
    form = {"name": "Wilson disease, treated " * 4, "address": f"/?{QUESTION}&f.source=NINDS"}
    context.request.post(f"{service.base}/saved", form=form)


def path_of(service: Service, view: str) -> str:
    if view != "document":
        return VIEWS[view]
    rows = service.medquad.index.reader.documents.tolist()
    records = (service.medquad.index.reader.document_record(row) for row in rows)
    doc_id = next(record.doc_id for record in records if record.title == "Wilson Disease")
    return f"/d/medquad/{doc_id}?{QUESTION}#answer"


@pytest.fixture
def seen(browser: Any, service: Service) -> Iterator[Watched]:
    # Where axe may put itself into a page, it is not the page's own policy that is looked at.
    context = browser.new_context(viewport={"width": 1280, "height": 900}, bypass_csp=True, reduced_motion="reduce")
    yield Watched(context.new_page(), service.base)
    context.close()


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(seen: Watched, service: Service, view: str) -> None:
    keep_a_search(seen.page.context, service)
    for scheme in ("light", "dark"):
        seen.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page = seen.open(path_of(service, view))
        if view in ("hits", "words"):
            page.locator("details.chip summary").first.click()
        found = Axe().run(page, options=RULES).response["violations"]
        told = [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found]
        assert told == [], f"{view}, {scheme}"


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_needs_no_scrolling_sideways(browser: Any, service: Service, view: str) -> None:
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True, reduced_motion="reduce"
    )
    keep_a_search(context, service)
    page = context.new_page()
    page.goto(service.base + path_of(service, view))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    if view == "hits":
        page.locator("details.entity summary").click()
        panel = page.locator("details.entity .panel").bounding_box()
        assert panel["x"] >= 0
        assert panel["x"] + panel["width"] <= 360
        assert page.locator("details.narrow").get_attribute("open") is None
    context.close()


def test_smooth_scrolling_respects_reduced_motion(seen: Watched) -> None:
    page = seen.open(f"/?{QUESTION}")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    seen.page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "smooth"


def test_printed_pages_show_hits_without_controls(seen: Watched) -> None:
    page = seen.open(f"/?{QUESTION}")
    seen.page.emulate_media(media="print")
    assert page.locator(".hit h2").first.is_visible()
    for part in (".bar", ".side", ".judge"):
        assert page.locator(part).first.is_hidden()

"""Coverage, sources side by side, the theme, what goes wrong, and what works without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from auscult_service.access.keys import Key, add, hash_of, new_key
from auscult_service.settings import ServiceLimits, Settings
from page.conftest import Service
from page_service import Watched, fast_encoder, follow, listening, ward_index


def test_coverage_shows_which_aspects_are_answered(watched: Watched) -> None:
    page = watched.open("/coverage?entity=Wilson+disease")
    words = dict(
        page.locator("tbody tr").evaluate_all(
            "all => all.map(row => [row.cells[0].textContent.trim(), row.cells[1].textContent.trim()])"
        )
    )
    assert words["treatment"] == "answers"
    assert len({*words.values()}) > 1
    follow(page.locator("tbody tr", has_text="treatment").locator("td a").last)
    page.locator("#text").wait_for()
    assert page.locator("h1").inner_text() == "Wilson Disease"
    assert page.locator(".s.in").count() > 0


def test_coverage_of_several_entities_links_to_searches(watched: Watched) -> None:
    page = watched.open("/coverage")
    page.get_by_label("Diseases or drugs").fill("Wilson disease; sarcoidosis")
    follow(page.get_by_role("button", name="Show"))
    assert page.locator("thead th").all_inner_texts()[1:] == ["Wilson Disease DOID:893", "Sarcoidosis DOID:11335"]
    follow(page.locator("tbody tr", has_text="treatment").locator("td a").nth(1))
    assert "Sarcoidosis" in page.locator(".hit h2").first.inner_text()


def test_two_sources_stand_side_by_side_by_aspect(watched: Watched) -> None:
    page = watched.open(f"/?{urlencode({'q': 'symptoms and treatment of neurofibromatosis'})}")
    follow(page.get_by_role("link", name="Two sources side by side"))
    assert page.locator(".sides th[scope=row]").all_inner_texts() == ["Symptoms", "Treatment"]
    first, second = page.locator(".sides thead th").all_inner_texts()
    assert first != second
    page.get_by_label("Column 2").select_option("NIDDK")
    follow(page.get_by_role("button", name="Show"))
    assert page.locator(".sides thead th").all_inner_texts() == [first, "NIDDK"]
    page.get_by_label("Compare by").select_option("document")
    follow(page.get_by_role("button", name="Show"))
    assert page.locator(".sides thead th").count() == 2


def test_the_chosen_theme_overrides_the_systems_and_stays(watched: Watched) -> None:
    page = watched.open("/?q=sarcoidosis")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.emulate_media(color_scheme="dark")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light


@pytest.fixture
def plain(browser: Any, service: Service) -> Iterator[Watched]:
    """A browser that runs no scripts."""
    context = browser.new_context(java_script_enabled=False, reduced_motion="reduce")
    yield Watched(context.new_page(), service.base)
    context.close()


def test_without_scripts_the_main_things_work(plain: Watched, service: Service) -> None:
    page = plain.open("/")
    page.get_by_label("Ask a question").fill("How is Wilson disease treated?")
    follow(page.get_by_role("button", name="Search"))
    assert page.locator(".hit h2").first.inner_text() == "Wilson Disease"
    assert page.locator("#show-keys, #print").first.is_hidden()
    page.locator("details.aspect summary").click()
    follow(page.locator("details.aspect a", has_text="diagnosis"))
    assert page.locator("details.aspect summary b").inner_text() == "diagnosis"
    follow(page.locator(".hit").first.get_by_role("button", name="Answers", exact=True))
    assert page.url.endswith("#hit-1")
    page.locator("#theme").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    follow(page.locator(".hit h2 a").first)
    assert page.locator(".s.in").count() > 0


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/?q=", 200, "Nothing was asked yet"),
        ("/d/medquad/nowhere", 404, "This document is not here"),
        ("/?q=gout&index=elsewhere", 404, "There is no collection of this name"),
        ("/?e=DOID:99999999&a=treatment", 422, "cannot be understood as it stands"),
        ("/?q=gout&f.source=Nobody", 200, "Nothing was found"),
        (f"/?q={'gout+' * 500}", 422, "Ask in fewer words"),
        ("/nothing/here", 404, "There is no such page"),
        ("/jobs/unknown", 404, "There is no upload of yours"),
        ("/coverage?entity=DOID:99999999", 200, "A code among these is not known"),
    ],
)
def test_error_pages_say_in_words_what_to_do(browser: Any, service: Service, path: str, status: int, says: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    answer = page.goto(service.base + path)
    assert answer.status == status
    assert says.lower() in page.locator("main").inner_text().lower()
    assert "Traceback" not in page.content()
    context.close()


def test_a_key_logs_in_and_out(browser: Any, tmp_path: Path) -> None:
    key = new_key()
    add(tmp_path / "keys", Key(name="Dr. Test", role="read", hash=hash_of(key), groups=None))
    encoder = fast_encoder()
    indexes = {"ward": ward_index(tmp_path / "ward", encoder)}
    settings = Settings(indexes=indexes, data=tmp_path / "data", keys=tmp_path / "keys", audit=tmp_path / "audit.jsonl")
    with listening(settings, encoder) as base:
        context = browser.new_context(reduced_motion="reduce")
        page = context.new_page()
        page.goto(f"{base}/?q=gout")
        assert "/login?next=" in page.url
        page.get_by_label("Your key").fill("auscult_wrong")
        page.get_by_label("What you need answers for").fill("Treatment")
        follow(page.get_by_role("button", name="Log in"))
        assert "not known" in page.get_by_role("alert").inner_text()
        page.get_by_label("Your key").fill(key)
        page.get_by_label("What you need answers for").fill("Treatment")
        follow(page.get_by_role("button", name="Log in"))
        page.locator(".hit").first.wait_for()
        assert page.get_by_role("link", name="Add documents").count() == 0
        follow(page.get_by_role("button", name="Log out"))
        page.goto(f"{base}/?q=gout")
        assert "/login" in page.url
        context.close()
    told = "".join(path.read_text() for path in tmp_path.glob("audit.jsonl*") if path.is_file())
    assert '"purpose": "Treatment"' in told or '"purpose":"Treatment"' in told
    assert key not in told


def test_a_damaged_index_is_reported_without_waiting(browser: Any, tmp_path: Path) -> None:
    encoder = fast_encoder()
    folder = ward_index(tmp_path / "ward", encoder)
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_size > 4096:
            path.write_bytes(b"\xff" * 4096)
    with listening(Settings(indexes={"ward": folder}, data=tmp_path / "data"), encoder, whole=False) as base:
        context = browser.new_context(reduced_motion="reduce")
        page = context.new_page()
        page.wait_for_timeout(500)
        assert page.goto(f"{base}/?q=gout").status == 503
        assert "auscult verify" in page.locator("main").inner_text()
        context.close()


def test_a_busy_service_says_so_in_words(browser: Any, tmp_path: Path) -> None:
    encoder = fast_encoder()
    indexes = {"ward": ward_index(tmp_path / "ward", encoder)}
    settings = Settings(indexes=indexes, data=tmp_path / "data", limits=ServiceLimits(per_minute=3))
    with listening(settings, encoder) as base:
        context = browser.new_context(reduced_motion="reduce")
        page = context.new_page()
        statuses = [page.goto(f"{base}/login").status for _ in range(8)]
        assert 429 in statuses
        assert "Wait a few seconds" in page.locator("main").inner_text()
        context.close()

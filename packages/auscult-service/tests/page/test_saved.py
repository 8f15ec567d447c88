"""Saved searches: a name for an address, private to its person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from auscult.errors import DataError
from auscult_service import saved
from auscult_service.errors import Refusal
from auscult_service.saved import SavedSearch, SavedSearches
from guarded_service import guarded
from page.conftest import Service
from page_service import Watched, follow

ASKED = "/?q=gout&index=clinic&f.patient=ann&from.date=2020&assertion=affirmed&assertion=negated"


def test_searches_can_be_saved_without_scripts(browser: Any, service: Service) -> None:
    context = browser.new_context(java_script_enabled=False, reduced_motion="reduce")
    page = context.new_page()
    page.goto(service.base + ASKED)
    hits = page.locator(".hit h2").all_inner_texts()
    page.get_by_label("Its name").fill("Ann's gout")
    follow(page.get_by_role("button", name="Save"))
    assert page.locator("#saved").inner_text() == "Saved as Ann's gout"
    follow(page.get_by_role("link", name="Saved", exact=True))
    row = page.locator(".kept li")
    assert "gout · patient: ann; date: from 2020; affirmed or negated · clinic · 2" in row.inner_text()
    follow(row.get_by_role("link"))
    assert page.locator(".hit h2").all_inner_texts() == hits
    page.goto(f"{service.base}/?index=medquad")
    assert page.locator(".examples", has_text="Ann's gout").count() == 1
    other = browser.new_context(reduced_motion="reduce")
    stranger = other.new_page()
    stranger.goto(f"{service.base}/saved")
    assert "Nothing is saved yet" in stranger.locator("main").inner_text()
    other.close()
    page.goto(f"{service.base}/saved")
    follow(page.get_by_role("button", name="Remove"))
    assert page.locator(".kept").count() == 0
    context.close()


def test_another_sites_page_cannot_save(service: Service) -> None:
    form = {"name": "theirs", "address": ASKED}
    with httpx.Client(base_url=service.base) as client:
        answer = client.post("/saved", data=form, headers={"Origin": "https://evil.example"})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_saved_searches_need_a_name_and_stay_local(service: Service) -> None:
    with httpx.Client(base_url=service.base) as client:
        kept = client.post("/saved", data={"name": "x", "address": "https://evil.example/?q=gout&start=90&zz=1"})
        assert kept.headers["location"] == "/?q=gout&index=medquad"
        for form in ({"name": " ", "address": ASKED}, {"name": "x", "address": "/"}, {"name": "x" * 101}):
            assert client.post("/saved", data=form).status_code == 422
        assert client.post("/saved", data={"name": "x", "address": "/?q=gout&index=none"}).status_code == 404


def test_saved_searches_are_private_to_their_key(tmp_path: Path) -> None:
    with guarded(tmp_path) as service:
        form = {"name": "mine", "address": "/?q=gout&index=main"}
        for caller, expected in (("ann", 303), ("none", 401)):
            assert service.client.post("/saved", data=form, headers=service.headers(caller)).status_code == expected
        service.client.cookies.clear()
        assert "mine" in service.client.get("/saved", headers=service.headers("ann")).text
        assert "mine" not in service.client.get("/saved", headers=service.headers("ben")).text
        service.client.post("/saved/remove", data={"name": "mine"}, headers=service.headers("ben"))
        assert "mine" in service.client.get("/saved", headers=service.headers("ann")).text


def test_a_name_is_kept_once_and_limits_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "MOST", 2)
    monkeypatch.setattr(saved, "MOST_PEOPLE", 2)
    store = SavedSearches(tmp_path / "saved")

    def search(name: str, address: str = "/?q=gout") -> SavedSearch:
        return SavedSearch(name=name, address=address, time="2026-01-01T00:00:00+00:00")

    for name, address in (("a", "/?q=1"), ("b", "/?q=2"), ("a", "/?q=3")):
        store.add("caller ann", search(name, address))
    assert [(stored.name, stored.address) for stored in store.of("caller ann")] == [("a", "/?q=3"), ("b", "/?q=2")]
    with pytest.raises(Refusal) as refused:
        store.add("caller ann", search("c"))
    assert refused.value.remedy == "remove one of yours first"
    store.add("caller ben", search("c"))
    with pytest.raises(Refusal) as refused:
        store.add("caller carl", search("c"))
    assert "people" in refused.value.message
    assert SavedSearches(tmp_path / "saved").of("caller ann") == store.of("caller ann")
    files = [*(tmp_path / "saved").iterdir()]
    assert not [file for file in files if "ann" in file.name or "ann" in file.read_text()]
    store.remove("caller ann", "a")
    assert [stored.name for stored in store.of("caller ann")] == ["b"]
    for content in ("{", json.dumps([{"name": "x"}]), "[1]"):
        for file in files:
            file.write_text(content)
        with pytest.raises(DataError, match="saved searches in"):
            store.add("caller ann", search("d"))
        assert {file.read_text() for file in files} == {content}


def test_unreadable_saved_searches_are_reported_and_searching_continues(service: Service) -> None:
    with httpx.Client(base_url=service.base) as client:
        client.post("/saved", data={"name": "broken", "address": ASKED})
        cookie = client.cookies["saved"]
        path = SavedSearches(service.data / "saved")._path(f"browser {cookie}")
        path.write_text("{")
        assert client.get("/saved").status_code == 503
        assert client.get(ASKED).status_code == 200
        assert client.post("/saved", data={"name": "more", "address": ASKED}).status_code == 503
        assert path.read_text() == "{"


def test_markup_in_a_name_is_shown_as_text(watched: Watched) -> None:
    page = watched.open(ASKED)
    page.get_by_label("Its name").fill("<img src=x onerror=alert(1)>")
    follow(page.get_by_role("button", name="Save"))
    follow(page.get_by_role("link", name="Saved", exact=True))
    assert page.locator(".kept h2").inner_text() == "<img src=x onerror=alert(1)>"

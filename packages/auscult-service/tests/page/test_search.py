"""Searching on the page, as its reader does."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from auscult.understanding import Query
from page.conftest import Service
from page_service import Watched, follow

ASKED = {"q": "How is Wilson disease treated?"}


def results(watched: Watched, **asked: str) -> Any:
    return watched.open(f"/?{urlencode(asked or ASKED)}")


def test_hits_mark_the_answering_sentences_of_their_source(watched: Watched, service: Service) -> None:
    page = results(watched)
    assert page.locator(".hit h2").first.inner_text() == "Wilson Disease"
    found = service.medquad.search(service.medquad.understand(Query("", "", (), "", ASKED["q"])).query, 10)
    marked = page.locator(".hit").first.locator("mark").evaluate_all("all => all.map(each => each.textContent)")
    assert marked
    assert marked == [sentence.text for sentence in found[0].sentences if sentence.marked]


def test_each_mark_is_a_sentence_of_its_document(watched: Watched, service: Service) -> None:
    page = results(watched, q="signs and symptoms", start="0")
    hits = page.locator(".hit").evaluate_all(
        "all => all.map(hit => [hit.querySelector('input[name=document]').value,"
        " [...hit.querySelectorAll('mark')].map(each => each.textContent)])"
    )
    assert len(hits) >= 5
    reader = service.medquad.index.reader
    for doc_id, marks in hits:
        document = reader.document(reader.document_rows[doc_id])
        assert marks
        assert {*marks} <= {document.slice(sentence) for sentence in document.sentences}


def test_chips_show_what_was_understood_and_change_it(watched: Watched) -> None:
    page = results(watched, q="zyxwv hepatolenticular degeneration symtoms")
    chips = page.locator(".understood")
    assert "Wilson disease" in chips.inner_text()
    assert "DOID:893" in chips.inner_text()
    assert "hepatolenticular degeneration" in chips.inner_text()
    assert "symtoms" in chips.locator(".read").inner_text()
    assert "in no document" in chips.locator(".word", has_text="zyxwv").inner_text()
    chips.locator("details.aspect summary").first.click()
    follow(chips.locator("details.aspect a", has_text="diagnosis").first)
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["e"] == ["DOID:893"]
    assert "diagnosis" in asked["a"]
    assert "symptoms" not in asked["a"]
    while page.locator("details.aspect").count() > 1:
        page.locator("details.aspect summary").first.click()
        follow(page.locator("details.aspect a", has_text="Remove").first)
    assert page.locator("details.aspect summary b").inner_text() == "diagnosis"
    page.locator("details.aspect summary").click()
    follow(page.locator("details.aspect a", has_text="Remove"))
    assert page.locator("details.aspect").count() == 0
    assert "Wilson disease" in page.locator("details.entity summary").inner_text()


def test_a_question_in_the_box_continues_the_conversation(browser: Any, service: Service) -> None:
    context = browser.new_context(java_script_enabled=False, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{service.base}/?{urlencode(ASKED)}")
    assert page.locator(".trail").count() == 0
    for question in ("and its symptoms?", "and in adults?"):
        page.locator("#q").fill(question)
        follow(page.get_by_role("button", name="Search"))
    assert page.locator(".trail li").all_inner_texts() == [ASKED["q"], "and its symptoms?"]
    chips = page.locator(".understood").inner_text()
    assert chips.count("from before") == 2
    assert "symptoms" in chips
    assert page.locator(".hit h2").first.inner_text() == "Wilson Disease"
    judged = page.locator(".judge input[name=q]").first.input_value()
    assert "Wilson" in judged, "a judgement is of a whole question"
    follow(page.locator(".trail li a").last)
    assert page.locator(".trail li").all_inner_texts() == [ASKED["q"]]
    follow(page.locator(".trail .away"))
    assert page.locator(".trail").count() == 0
    assert "Wilson" not in page.locator(".understood").inner_text()
    page.go_back()
    page.locator("#q").fill("What are the symptoms of sarcoidosis?")
    follow(page.get_by_role("button", name="Search"))
    assert page.locator(".trail").count() == 0, "it needed nothing from before"
    follow(page.get_by_role("link", name="New question"))
    assert page.locator("#q").input_value() == ""
    assert page.locator("input[name=c]").count() == 0
    context.close()


def test_follow_up_questions_keep_manually_chosen_parts(watched: Watched) -> None:
    page = watched.open("/?e=DOID:893&a=treatment")
    page.locator("#q").fill("and in adults?")
    follow(page.get_by_role("button", name="Search"))
    assert "Wilson disease" in page.locator("details.entity summary").inner_text()
    assert "treatment" in page.locator("details.aspect summary").inner_text()


def test_a_name_of_two_things_offers_both(watched: Watched) -> None:
    page = results(watched, q="SCD")
    page.locator("details.entity summary").click()
    follow(page.locator("details.entity .panel a", has_text="spinocerebellar disease"))
    assert "spinocerebellar disease" in page.locator("details.entity summary").inner_text()
    assert parse_qs(urlsplit(page.url).query)["e"] == ["MONDO:1"]


def test_a_typed_entity_replaces_the_recognised_one(watched: Watched) -> None:
    page = results(watched)
    page.locator("details.entity summary").click()
    page.get_by_label("A name or code instead").fill("DOID:11335")
    follow(page.get_by_role("button", name="Change"))
    assert "sarcoidosis" in page.locator("details.entity summary").inner_text().lower()
    assert page.locator("details.aspect summary b").inner_text() == "treatment"
    assert page.locator(".hit h2").first.inner_text() == "Sarcoidosis"


def test_unanswerable_questions_are_flagged_above_the_nearest_hits(watched: Watched) -> None:
    page = results(watched, q="What is the capital of Mongolia?")
    assert "Perhaps nothing here answers this" in page.locator(".nothing").inner_text()
    assert page.locator(".hit").count() > 0
    assert "uncertain" in page.locator(".hit").first.inner_text()


def test_reasons_are_in_words(watched: Watched) -> None:
    page = results(watched)
    reasons = page.locator(".hit").first.locator(".reason").all_inner_texts()
    assert reasons[0] == "names Wilson Disease in the title"
    assert any(each.startswith(("headed", "speaks about")) for each in reasons)
    assert page.locator(".hit .chance").first.inner_text() in ("answers", "may answer")


def test_hits_about_a_similar_disease_carry_a_warning(watched: Watched) -> None:
    page = results(watched, q="spastic paraplegia type 8")
    warning = page.locator(".hit", has_text="spastic paraplegia type 11").locator(".similar").first
    assert "not the one asked" in warning.inner_text()


def test_filters_narrow_and_are_taken_back(watched: Watched) -> None:
    page = results(watched, q="causes")
    sources = page.locator(".filter", has_text="Source")
    count = int(sources.locator("li", has_text="NINDS").locator(".number").inner_text().split()[0])
    assert count > 1
    follow(sources.locator("a", has_text="NINDS"))
    assert {*page.locator(".hit .from").all_inner_texts()} == {"NINDS"}
    follow(page.locator(".filter a[aria-current]"))
    assert len({*page.locator(".hit .from").all_inner_texts()}) > 1


def test_hits_can_be_filtered_by_assertion(watched: Watched) -> None:
    page = watched.open("/?index=clinic&q=gout")
    said = page.locator(".filter", has_text="What is said of it")
    said.locator("summary").click()
    assert said.locator("li").all_inner_texts() == ["affirmed", "negated", "family", "historical", "hypothetical"]
    follow(said.locator("a", has_text="negated"))
    labels = page.locator(".hit .assertion").all_inner_texts()
    assert labels == ["negated"]
    texts = " ".join(page.locator(".hit .excerpt").all_inner_texts())
    assert "No sign of gout" in texts
    assert "mother" not in texts
    follow(said.locator("a", has_text="family"))
    assert parse_qs(urlsplit(page.url).query)["assertion"] == ["negated", "family"]
    assert {"negated", "family"} <= {*page.locator(".hit .assertion").all_inner_texts()}
    follow(said.locator("a[aria-current]").first)
    follow(page.get_by_role("link", name="Without filters"))
    assert {"hypothetical", "negated", "family"} <= {*page.locator(".hit .assertion").all_inner_texts()}


def test_filtering_by_assertion_needs_a_recognised_entity(watched: Watched) -> None:
    page = watched.open("/?index=clinic&q=what+helps%3F&assertion=negated")
    assert "Nothing was recognised that something could be said of" in page.locator(".nothing").inner_text()
    follow(page.get_by_role("link", name="Ask without them"))
    assert page.locator(".hit").count() > 0


def test_more_hits_are_pages_of_their_own(watched: Watched) -> None:
    page = results(watched, q="symptoms")
    first = page.locator(".hit input[name=passage]").evaluate_all("all => all.map(each => each.value)")
    follow(page.get_by_role("link", name="More →"))
    second = page.locator(".hit input[name=passage]").evaluate_all("all => all.map(each => each.value)")
    assert len(first) >= 9
    assert second
    assert not {*first} & {*second}
    assert page.locator(".hit").first.get_attribute("id") == "hit-11"
    follow(page.get_by_role("link", name="← Earlier"))
    assert page.locator(".hit input[name=passage]").first.input_value() == first[0]


def test_pages_of_hits_come_to_an_end(watched: Watched) -> None:
    page = results(watched, q="symptoms", start="200")
    assert page.get_by_role("link", name="More →").count() == 0


def test_hits_can_be_exported_as_csv_and_json(service: Service) -> None:
    with httpx.Client(base_url=service.base, timeout=60) as client:
        told = client.get("/export.csv", params=ASKED)
        rows = list(csv.DictReader(io.StringIO(told.content.decode("utf-8-sig"))))
        assert rows[0]["title"] == "Wilson Disease"
        assert rows[0]["rank"] == "1"
        reader = service.medquad.index.reader
        document = reader.document(reader.document_rows[rows[0]["document"]])
        assert rows[0]["answer"].split(" … ")[0] in document.text[int(rows[0]["start"]) : int(rows[0]["end"])]
        answer = json.loads(client.get("/export.json", params=ASKED).content)
        assert [hit["passage_id"] for hit in answer["hits"][:5]] == [row["passage"] for row in rows[:5]]
        assert answer["understood"]["aspects"] == ["treatment"]


def test_judgements_are_kept_without_leaving_the_page(watched: Watched, service: Service) -> None:
    page = results(watched)
    first = page.locator(".hit").first
    passage = first.locator("input[name=passage]").input_value()
    first.get_by_role("button", name="Does not answer").click()
    first.locator("form[data-kept=true]").wait_for()
    assert first.get_by_role("button", name="Does not answer").get_attribute("aria-pressed") == "true"
    first.get_by_role("button", name="Answers", exact=True).click()
    page.locator(".hit button[value=yes][aria-pressed=true]").wait_for()
    (path,) = service.data.rglob("feedback.jsonl")
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    told = [(each["passage_id"], each["relevance"], each["question"]) for each in kept if each["passage_id"] == passage]
    assert told[-2:] == [(passage, 0, ASKED["q"]), (passage, 1, ASKED["q"])]


def test_examples_lead_to_answers(watched: Watched) -> None:
    page = watched.open("/")
    assert page.locator(".examples a").count() >= 2
    follow(page.locator(".examples a").first)
    assert page.locator(".hit").count() > 0
    assert page.locator(".nothing").count() == 0


def test_the_page_is_small(service: Service) -> None:
    with httpx.Client(base_url=service.base, timeout=60) as client:
        html = client.get("/", params=ASKED).content
        assert html.count(b'class="hit"') >= 9
        assert len(gzip.compress(html)) < 60_000
        assert b"<style" not in html
        assert b" style=" not in html
        assert html.count(b"<script") == 1

"""Searching over HTTP: what comes back, in pages, filtered, grouped, from several indexes."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from auscult.concepts import Concept, KnowledgeBase
from auscult.documents import Section, build_document
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.certainty import DOUBTFUL, UNLIKELY
from auscult.understanding import Query
from auscult_readers.pdf.page_images import page_png
from auscult_service.names import Names
from auscult_service.page.language import wording
from auscult_service.page.search_page import options
from auscult_service.settings import Settings
from encoders import HashedEncoder
from needs import Needs
from served_index import check_shape, ended, served


def test_a_question_is_answered_with_what_was_understood(client: TestClient, index: Path) -> None:
    answer = client.post("search", json={"question": "What is the treatment of podagra?", "k": 3}).json()
    understood = answer["understood"]
    assert understood["aspects"] == ["treatment"]
    assert understood["entities"][0]["concept"] == {
        "code": "X:3", "name": "gout", "matched": "podagra", "how": "synonym", "score": 1.0,
    }  # fmt: skip
    hit = answer["hits"][0]
    assert (hit["doc_id"], hit["heading"], hit["rank"]) == ("leaflet-gout", "Treatment", 1)
    searcher = Searcher.open(index, HashedEncoder())
    same = searcher.search(searcher.understand(Query("", "", text="What is the treatment of podagra?")).query, 3)
    assert [each["score"] for each in answer["hits"]] == [each.score for each in same]
    assert hit["probability"] == same[0].probability
    assert sum(each["amount"] for each in hit["evidence"]) > 0
    assert all(each["words"] for each in hit["evidence"])


def test_a_doubtful_reading_says_how_likely_it_is(client: TestClient) -> None:
    sure, doubtful = (
        client.post("search", json={"question": question}).json()["understood"]["entities"][0]["likelihood"]
        for question in ("What is the treatment of gout?", "My mother is ill and has a headache, and gout, and is old")
    )
    assert 0 < doubtful < sure < 1


def test_offsets_slice_the_text_of_the_document(client: TestClient) -> None:
    hit = client.post("search", json={"question": "What cures scurvy?"}).json()["hits"][0]
    whole = client.get(f"documents/{hit['doc_id']}").json()
    assert whole["text"][hit["start"] : hit["end"]] == hit["text"]
    for sentence in hit["sentences"]:
        assert whole["text"][sentence["start"] : sentence["end"]] == sentence["text"]
    assert hit["highlights"]
    source = client.get(f"documents/{hit['doc_id']}/original").content.decode()
    for sentence in filter(lambda each: each["highlight"], hit["sentences"]):
        assert [source[a:b] for a, b in sentence["source_ranges"]] == [sentence["text"]]
    assert hit["excerpt"] == [hit["sentences"][0]["start"], hit["sentences"][-1]["end"]]
    assert (hit["date"], hit["original"]) == ("2024-05-31", "text/html")


def test_page_document_and_api_mark_the_same_sentences(index: Path) -> None:
    question = "What is the treatment of gout?"
    hits = Searcher.open(index, HashedEncoder()).search(question, 3)
    place = "http://127.0.0.1"
    with served(Settings(indexes={"leaflets": index})) as client:
        answers = client.post("search", json={"question": question, "k": 3}).json()["hits"]
        articles = client.get(f"{place}/", params={"q": question}).text.split("<article ")[1:4]
        links = [re.findall(r'<h2[^>]*><a href="([^"]*)"', article)[0] for article in articles]
        documents = [client.get(place + html.unescape(link)).text for link in links]
    for hit, answer, article, document in zip(hits, answers, articles, documents, strict=True):
        marked = [each for each in hit.sentences if each.marked]
        assert answer["highlights"] == [[each.start, each.end] for each in marked]
        assert texts("<mark>(.*?)</mark>", article) == [each.text for each in marked]
        assert texts(r'class="s[^"]* top">((?:<span.*?</span>)?.*?)</span>', document) == [each.text for each in marked]


def texts(pattern: str, page: str) -> list[str]:
    """Return the text of each match of a pattern in a page, without markup."""
    return [html.unescape(re.sub("<[^>]*>", "", each)) for each in re.findall(pattern, page, re.DOTALL)]


def test_pages_follow_one_another(client: TestClient) -> None:
    body = {"question": "What is the treatment of gout?"}
    whole = client.post("search", json={**body, "k": 6}).json()
    pages = [client.post("search", json={**body, "k": 2, "offset": place}).json() for place in (0, 2, 4)]
    assert [hit for page in pages for hit in page["hits"]] == whole["hits"]
    assert all(page["more"] for page in pages)
    last = client.post("search", json={**body, "k": 50}).json()
    assert not last["more"]
    assert [hit["rank"] for hit in last["hits"]] == list(range(1, len(last["hits"]) + 1))


def test_filters_and_groups(client: TestClient) -> None:
    body = {"question": "What is the treatment?", "k": 20}
    north = client.post("search", json={**body, "where": {"source": "North"}}).json()["hits"]
    assert {hit["source"] for hit in north} == {"North"}
    ranged = client.post("search", json={**body, "where": {"date": {"from": "2024", "to": "2024-05"}}}).json()["hits"]
    assert {hit["doc_id"] for hit in ranged} == {"notes/scurvy.html"}
    by_document = client.post("search", json={**body, "group_by": "document"}).json()["hits"]
    assert len({hit["doc_id"] for hit in by_document}) == len(by_document) == 5
    by_address = client.get("search", params={"q": "What is the treatment?", "k": 20, "where": "source=North"}).json()
    assert by_address["hits"] == north
    by_address = client.get("search", params={"q": "What is the treatment?", "where": "date=2024..2024-05"}).json()
    assert by_address["hits"] == ranged


def test_sentences_have_assertions_that_filter_hits(tmp_path: Path) -> None:
    notes = {"now": "He has gout.", "denied": "He denies gout.", "mother": "Mother has gout."}
    documents = [
        build_document(doc_id=name, title="", sections=[Section("Note", text)]) for name, text in notes.items()
    ]
    build_index(documents, HashedEncoder(), tmp_path / "index")
    body = {"entity": "gout", "aspects": ["note"]}
    with served(Settings(indexes={"notes": tmp_path / "index"})) as client:
        every = client.post("search", json=body).json()["hits"]
        assert {hit["doc_id"]: hit["sentences"][0]["assertions"] for hit in every} == {
            "now": ["affirmed"],
            "denied": ["negated"],
            "mother": ["family"],
        }
        kept = client.post("search", json={**body, "assertions": ["affirmed", "family"]}).json()["hits"]
        assert [hit["doc_id"] for hit in kept] == [hit["doc_id"] for hit in every if hit["doc_id"] != "denied"]
        first = {"entity": "gout", "aspect": "note", "assertion": "negated"}
        assert [hit["doc_id"] for hit in client.get("search", params=first).json()["hits"]] == ["denied"]
        assert client.post("search", json={**body, "assertions": ["doubtful"]}).status_code == 422
        none = client.post("search", json={"aspects": ["note"], "assertions": ["negated"]})
        check_shape(none, 422, "bad_query")
        page = client.get("http://127.0.0.1/", params={"e": "gout", "a": "note"}).text
    assert sorted(texts('<span class="assertion"[^>]*>(.*?)</span>', page)) == ["family", "negated"]


def test_unanswerable_questions_are_flagged(client: TestClient) -> None:
    answer = client.post("search", json={"question": "How do I repair a carburettor gasket?"}).json()
    assert answer["nothing_here"]["flag"]
    sentence, best = answer["nothing_here"]["sentence"], max(hit["probability"] for hit in answer["hits"])
    assert "; the nearest follow" in sentence
    assert answer["nothing_here"]["uncertain"] == sentence.startswith("Perhaps nothing") == (best >= UNLIKELY)
    assert best < DOUBTFUL
    assert "carburettor" in answer["understood"]["unread"] or "carburettor" in answer["understood"]["entity"]
    assert not client.post("search", json={"entity": "gout", "aspects": ["treatment"]}).json()["nothing_here"]["flag"]


def test_another_language_is_named_as_the_reason(client: TestClient) -> None:
    answer = client.post(
        "search", json={"question": "Was hilft gegen das hohe Fieber, und wie lange dauert es?"}
    ).json()
    assert answer["understood"]["language"] == "de"
    assert answer["understood"]["corrections"] == answer["understood"]["aspects"] == []
    assert answer["language_note"].startswith("The question is in German, and the model of this index reads English")
    assert answer["hits"]
    assert {hit["probability"] for hit in answer["hits"]} == {None}
    assert answer["nothing_here"] == {"flag": False, "sentence": "", "uncertain": False}
    english = client.post("search", json={"question": "What is the treatment of podagra?"}).json()
    assert (english["understood"]["language"], english["language_note"]) == ("en", "")


def test_the_page_names_another_language(index: Path) -> None:
    with served(Settings(indexes={"leaflets": index})) as client:
        page = client.get("http://127.0.0.1/", params={"q": "Was hilft gegen das hohe Fieber?"}).text
        english = client.get("http://127.0.0.1/", params={"q": "What is the treatment of podagra?"}).text
    assert "question in German" in page
    assert "The question is in German" in page
    assert "Nothing here" not in page
    assert "question in" not in english
    assert "The question is in" not in english


def test_several_indexes_are_merged_by_score(index: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes"
    sections = [Section("Treatment", "Gout is treated with colchicine.", "n1-1")]
    document = build_document(doc_id="n1", title="Gout", sections=sections)
    build_index([document], HashedEncoder(), other)
    with served(Settings(indexes={"leaflets": index, "notes": other}, page=False)) as client:
        body = {"question": "What is the treatment of gout?", "k": 4}
        alone = [
            hit
            for name in ("leaflets", "notes")
            for hit in client.post("search", json={**body, "index": name}).json()["hits"]
        ]
        both = client.post("search", json={**body, "indexes": ["leaflets", "notes"]}).json()
        assert both["indexes"] == ["leaflets", "notes"]
        best = sorted(alone, key=lambda hit: -hit["score"])[:4]
        assert [hit["passage_id"] for hit in both["hits"]] == [hit["passage_id"] for hit in best]
        assert {hit["index"] for hit in both["hits"]} == {"leaflets", "notes"}
        # Only one of them has the field.
        filtered = client.post(
            "search", json={**body, "indexes": ["notes", "leaflets"], "where": {"audience": "patients"}}
        )
        assert {hit["index"] for hit in filtered.json()["hits"]} == {"leaflets"}


def test_explain_returns_a_score_for_each_sentence(client: TestClient) -> None:
    curves = client.post("explain", json={"entity": "gout", "aspects": ["treatment"], "doc_id": "leaflet-gout"}).json()
    whole = client.get("documents/leaflet-gout").json()
    places = [tuple(span) for passage in whole["passages"] for span in passage["sentences"]]
    assert [(each["start"], each["end"]) for each in curves["sentences"]] == places
    assert curves["passages"][curves["best"]]["heading"] == "Treatment"
    for each in curves["sentences"]:
        assert abs(each["entity"] + each["aspect"] - each["combined"]) < 1e-5


def test_entities_and_aspects_complete_a_prefix(client: TestClient) -> None:
    found = client.get("entities", params={"prefix": "pod"}).json()["entities"]
    assert found == [{"name": "gout", "matched": "podagra", "code": "X:3"}]
    # A title that the knowledge base does not know.
    assert {"name": "Scurvy", "matched": "Scurvy", "code": ""} in client.get("entities?prefix=scur").json()["entities"]
    assert len(client.get("entities?prefix=a&limit=1").json()["entities"]) == 1
    aspects = client.get("aspects?prefix=tre").json()["aspects"]
    assert aspects == [{"aspect": "treatment", "example": "How is gout treated?"}]


def test_earlier_questions_complete_a_question(client: TestClient) -> None:
    earlier = ["What is asthma?", "What is the treatment of podagra?"]
    answer = client.post("search", json={"question": "and in children?", "conversation": earlier}).json()
    assert answer["understood"]["taken_entity"] == "Gout"
    assert answer["understood"]["taken_aspects"] == ["treatment"]
    assert answer["understood"]["note"].endswith("from before: Gout, treatment")
    assert answer["hits"][0]["passage_id"] == "gout-3"
    by_address = client.get("search", params={"q": "and in children?", "conversation": earlier}).json()
    assert by_address["hits"] == answer["hits"]
    other = client.post("search", json={"question": "and migraine?", "conversation": earlier}).json()
    assert (other["understood"]["taken_entity"], other["understood"]["taken_aspects"]) == ("", ["treatment"])
    assert other["hits"][0]["passage_id"] == "migraine-3"
    asked = {"question": "and its symptoms?", "conversation": earlier, "doc_id": "leaflet-gout"}
    assert "big toe" in client.post("spans", json=asked).json()["text"]
    alone = client.post("search", json={"question": "How is gout treated?"}).json()["understood"]
    assert (alone["taken_entity"], alone["taken_aspects"]) == ("", [])
    too_many = client.post("search", json={"question": "gout", "conversation": ["gout"] * 21})
    check_shape(too_many, 422, "invalid")


def test_aspects_of_the_collection_complete_first(client: TestClient) -> None:
    def aspects(**asked: str) -> list[str]:
        return [each["aspect"] for each in client.get("aspects", params=asked).json()["aspects"]]

    assert set(aspects()) == set(aspects(index="leaflets"))
    assert aspects(index="leaflets")[:2] == ["symptoms", "treatment"]
    assert aspects(prefix="gout tre") == []
    assert aspects(prefix="gout tre", index="leaflets") == ["treatment"]
    assert aspects(prefix="medicines for IgA nephropathy side ef", index="leaflets") == ["side effects"]
    assert aspects(prefix="gout ", index="leaflets")[:2] == ["symptoms", "treatment"]
    assert aspects(prefix="zorbimab tre", index="leaflets") == []
    told = client.get("aspects", params={"prefix": "migraine symp", "index": "leaflets"}).json()["aspects"]
    assert told == [{"aspect": "symptoms", "example": "What are the symptoms of migraine?"}]


def test_the_box_completes_aspects_and_shows_no_codes(index: Path) -> None:
    opened, english = Names(Searcher.open(index, HashedEncoder())), wording("en")
    opened.build()

    def texts_for(typed: str) -> list[str]:
        return [option["text"] for option in options(opened, typed, english)]

    assert texts_for("gout tre")[0] == "gout treatment"
    assert "how is podagra treatment" in texts_for("how is podagra tre")
    assert texts_for("gout ")[0] == "gout"
    assert options(opened, "pod", english)[0] == {"text": "gout", "name": "gout", "how": "also called podagra"}
    assert {"How is gout treated?", "What are the symptoms of gout?"} <= set(texts_for("pod"))
    assert all(
        set(option) == {"text", "name", "how"}
        for typed in ("g", "gout ", "a")
        for option in options(opened, typed, english)
    )
    assert texts_for(" ") == []


def test_titles_of_the_collection_complete_before_other_names(tmp_path: Path) -> None:
    known = KnowledgeBase([Concept("X:1", "gaba"), Concept("X:2", "gabbro fever"), Concept("X:3", "gabardine rash")])
    documents = [
        build_document(doc_id="1", title="Gabardine rash", sections=[Section("Treatment", "Wear wool.", "1-1")]),
        build_document(doc_id="2", title="Living with gabbles", sections=[Section("Causes", "Geese gabble.", "2-1")]),
    ]
    build_index(documents, HashedEncoder(), tmp_path / "index", knowledge_base=known)
    names = Names(Searcher.open(tmp_path / "index", HashedEncoder()))
    assert not names.complete("gab", 10).complete
    names.build()
    found = [entity.name for entity in names.complete("gab", 10).entities]
    assert found[:2] == ["gabardine rash", "Living with gabbles"]
    assert set(found[2:]) == {"gaba", "gabbro fever"}
    # But what was typed in full is what was meant.
    assert [entity.name for entity in names.complete("gaba", 2).entities] == ["gaba", "gabardine rash"]
    assert [entity.name for entity in names.complete("gab", 1).entities] == ["gabardine rash"]
    assert names.headed == ("treatment", "causes")


def test_fields_are_counted(client: TestClient) -> None:
    told = {each["field"]: each["values"] for each in client.get("fields").json()["fields"]}
    assert told["source"] == {"North": 2, "South": 2, "": 1} or told["source"]["North"] == 2
    assert told["audience"] == {"patients": 4}


def test_the_answering_stretch_grows_and_shrinks(client: TestClient) -> None:
    body = {"question": "How is gout treated?", "doc_id": "leaflet-gout"}
    best = client.post("spans", json=body).json()
    whole = client.get("documents/leaflet-gout").json()["text"]
    assert whole[best["start"] : best["end"]] == best["text"]
    assert "allopurinol" in best["text"]
    edges = {"first": best["first"], "last": best["last"]}
    larger = client.post("spans", json={**body, **edges, "step": "grow"}).json()
    assert larger["first"] <= best["first"] < best["last"] <= larger["last"]
    assert larger["last"] - larger["first"] > best["last"] - best["first"]
    smaller = client.post("spans", json={**body, **edges, "step": "shrink"}).json()
    assert smaller["last"] - smaller["first"] < best["last"] - best["first"]
    check_shape(client.post("spans", json={**body, "step": "grow"}), 422, "bad_span")
    check_shape(client.post("spans", json={**body, "step": "grow", "last": 10**6}), 422, "bad_span")


def test_coverage_says_which_aspects_are_answered(client: TestClient) -> None:
    told = client.post("coverage", json={"entities": ["podagra", "migraine"], "aspects": ["treatment"]}).json()
    assert told["aspects"] == ["treatment"]
    assert [row[0]["doc_id"] for row in told["rows"]] == ["leaflet-gout", "leaflet-migraine"]
    assert told["entities"][0]["entities"][0]["concept"]["code"] == "X:3"


def test_a_page_of_a_pdf_is_a_picture(index: Path, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "scabies.pdf"))
    canvas.drawString(72, 700, "Permethrin cream cures scabies.")
    canvas.save()
    with (
        served(Settings(indexes={"leaflets": index}, page=False)) as client,
        (tmp_path / "scabies.pdf").open("rb") as file,
    ):
        job = ended(client, client.post("documents", files=[("files", ("scabies.pdf", file))]).json())
        (doc_id,) = job["doc_ids"]
        picture = client.get(f"documents/{doc_id}/pages/0.png")
        assert (picture.headers["content-type"], picture.content[:4]) == ("image/png", b"\x89PNG")
        check_shape(client.get(f"documents/{doc_id}/pages/1.png"), 404, "no_page")
        check_shape(client.get("documents/leaflet-gout/pages/0.png"), 404, "no_original")
        hit = client.post("search", json={"question": "What cures scabies?"}).json()["hits"][0]
        (box,) = hit["sentences"][0]["boxes"]
        assert (box["page"], round(box["left"])) == (0, 72)


def test_pages_of_scanned_files_are_served_as_pictures(index: Path, tmp_path: Path, needs: Needs) -> None:
    needs.package("rapidocr")
    canvas = Canvas(str(tmp_path / "scabies.pdf"))
    canvas.drawString(72, 700, "Permethrin cream cures scabies.")
    canvas.save()
    scan = page_png((tmp_path / "scabies.pdf").read_bytes(), 0, 2.0)
    with served(Settings(indexes={"leaflets": index}, page=False)) as client:
        job = ended(client, client.post("documents", files=[("files", ("scabies.png", scan))]).json())
        (doc_id,) = job["doc_ids"]
        picture = client.get(f"documents/{doc_id}/pages/0.png", params={"scale": 1})
        drawn = Image.open(io.BytesIO(picture.content))
        check_shape(client.get(f"documents/{doc_id}/pages/1.png"), 404, "no_page")
        hit = client.post("search", json={"question": "What cures scabies?"}).json()["hits"][0]
        (box,) = hit["sentences"][0]["boxes"]
        assert drawn.size == pytest.approx(A4, abs=1)
        assert (box["page"], box["left"], box["top"]) == pytest.approx((0, 72, 132), abs=8)

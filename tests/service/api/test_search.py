"""Searching over HTTP: what comes back, in pages, filtered, grouped, from several indexes."""

from __future__ import annotations

import html
import re
from pathlib import Path

from fastapi.testclient import TestClient
from reportlab.pdfgen.canvas import Canvas

from auscult.documents import Section, build_document
from auscult.search import Searcher, build_index
from auscult.service.settings import Settings
from auscult.understanding import Query
from encoders import HashedEncoder
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
        for question in ("What is the treatment of podagra?", "How is the cold treated?")
    )
    assert 0 < doubtful < sure == 1


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


def test_the_page_the_document_and_the_api_mark_what_the_hit_marks(index: Path) -> None:
    asked = "What is the treatment of gout?"
    hits = Searcher.open(index, HashedEncoder()).search(asked, 3)
    place = "http://127.0.0.1"
    with served(Settings(indexes={"leaflets": index})) as client:
        told = client.post("search", json={"question": asked, "k": 3}).json()["hits"]
        shown = client.get(f"{place}/", params={"q": asked}).text.split("<article ")[1:4]
        links = [re.findall(r'<h2[^>]*><a href="([^"]*)"', article)[0] for article in shown]
        documents = [client.get(place + html.unescape(link)).text for link in links]
    for hit, answer, article, document in zip(hits, told, shown, documents, strict=True):
        marked = [each for each in hit.sentences if each.marked]
        assert answer["highlights"] == [[each.start, each.end] for each in marked]
        assert texts("<mark>(.*?)</mark>", article) == [each.text for each in marked]
        assert texts(r'class="s[^"]* top">((?:<span.*?</span>)?.*?)</span>', document) == [each.text for each in marked]


def texts(pattern: str, page: str) -> list[str]:
    """Return the text of each match of a pattern in a page, without markup."""
    return [html.unescape(re.sub("<[^>]*>", "", each)) for each in re.findall(pattern, page, re.DOTALL)]


def test_pages_follow_one_another(client: TestClient) -> None:
    asked = {"question": "What is the treatment of gout?"}
    whole = client.post("search", json={**asked, "k": 6}).json()
    pages = [client.post("search", json={**asked, "k": 2, "offset": place}).json() for place in (0, 2, 4)]
    assert [hit for page in pages for hit in page["hits"]] == whole["hits"]
    assert all(page["more"] for page in pages)
    last = client.post("search", json={**asked, "k": 50}).json()
    assert not last["more"]
    assert [hit["rank"] for hit in last["hits"]] == list(range(1, len(last["hits"]) + 1))


def test_filters_and_groups(client: TestClient) -> None:
    asked = {"question": "What is the treatment?", "k": 20}
    north = client.post("search", json={**asked, "where": {"source": "North"}}).json()["hits"]
    assert {hit["source"] for hit in north} == {"North"}
    ranged = client.post("search", json={**asked, "where": {"date": {"from": "2024", "to": "2024-05"}}}).json()["hits"]
    assert {hit["doc_id"] for hit in ranged} == {"notes/scurvy.html"}
    each = client.post("search", json={**asked, "group_by": "document"}).json()["hits"]
    assert len({hit["doc_id"] for hit in each}) == len(each) == 5
    by_address = client.get("search", params={"q": "What is the treatment?", "k": 20, "where": "source=North"}).json()
    assert by_address["hits"] == north
    by_address = client.get("search", params={"q": "What is the treatment?", "where": "date=2024..2024-05"}).json()
    assert by_address["hits"] == ranged


def test_nothing_here_is_said(client: TestClient) -> None:
    answer = client.post("search", json={"question": "How do I repair a carburettor gasket?"}).json()
    assert answer["nothing_here"]["flag"]
    assert answer["nothing_here"]["sentence"].startswith("Nothing here seems to answer this; the nearest follow")
    assert "carburettor" in answer["understood"]["unread"] or "carburettor" in answer["understood"]["entity"]
    assert not client.post("search", json={"entity": "gout", "aspects": ["treatment"]}).json()["nothing_here"]["flag"]


def test_several_indexes_are_merged_by_score(index: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes"
    sections = [Section("Treatment", "Gout is treated with colchicine.", "n1-1")]
    document = build_document(doc_id="n1", title="Gout", sections=sections)
    build_index([document], HashedEncoder(), other)
    with served(Settings(indexes={"leaflets": index, "notes": other}, page=False)) as client:
        asked = {"question": "What is the treatment of gout?", "k": 4}
        alone = [
            hit
            for name in ("leaflets", "notes")
            for hit in client.post("search", json={**asked, "index": name}).json()["hits"]
        ]
        both = client.post("search", json={**asked, "indexes": ["leaflets", "notes"]}).json()
        assert both["indexes"] == ["leaflets", "notes"]
        best = sorted(alone, key=lambda hit: -hit["score"])[:4]
        assert [hit["passage_id"] for hit in both["hits"]] == [hit["passage_id"] for hit in best]
        assert {hit["index"] for hit in both["hits"]} == {"leaflets", "notes"}
        # Only one of them has the field.
        filtered = client.post(
            "search", json={**asked, "indexes": ["notes", "leaflets"], "where": {"audience": "patients"}}
        )
        assert {hit["index"] for hit in filtered.json()["hits"]} == {"leaflets"}


def test_curves(client: TestClient) -> None:
    told = client.post("explain", json={"entity": "gout", "aspects": ["treatment"], "doc_id": "leaflet-gout"}).json()
    whole = client.get("documents/leaflet-gout").json()
    places = [tuple(span) for passage in whole["passages"] for span in passage["sentences"]]
    assert [(each["start"], each["end"]) for each in told["sentences"]] == places
    assert told["passages"][told["best"]]["heading"] == "Treatment"
    for each in told["sentences"]:
        assert abs(each["entity"] + each["aspect"] - each["combined"]) < 1e-5


def test_completion(client: TestClient) -> None:
    found = client.get("entities", params={"prefix": "pod"}).json()["entities"]
    assert found == [{"name": "gout", "matched": "podagra", "code": "X:3"}]
    # A title that the knowledge base does not know.
    assert {"name": "Scurvy", "matched": "Scurvy", "code": ""} in client.get("entities?prefix=scur").json()["entities"]
    assert len(client.get("entities?prefix=a&limit=1").json()["entities"]) == 1
    aspects = client.get("aspects?prefix=tre").json()["aspects"]
    assert aspects == [{"aspect": "treatment", "example": "How is gout treated?"}]


def test_fields_are_counted(client: TestClient) -> None:
    told = {each["field"]: each["values"] for each in client.get("fields").json()["fields"]}
    assert told["source"] == {"North": 2, "South": 2, "": 1} or told["source"]["North"] == 2
    assert told["audience"] == {"patients": 4}


def test_the_answering_stretch_grows_and_shrinks(client: TestClient) -> None:
    asked = {"question": "How is gout treated?", "doc_id": "leaflet-gout"}
    best = client.post("spans", json=asked).json()
    whole = client.get("documents/leaflet-gout").json()["text"]
    assert whole[best["start"] : best["end"]] == best["text"]
    assert "allopurinol" in best["text"]
    edges = {"first": best["first"], "last": best["last"]}
    larger = client.post("spans", json={**asked, **edges, "step": "grow"}).json()
    assert larger["first"] <= best["first"] < best["last"] <= larger["last"]
    assert larger["last"] - larger["first"] > best["last"] - best["first"]
    smaller = client.post("spans", json={**asked, **edges, "step": "shrink"}).json()
    assert smaller["last"] - smaller["first"] < best["last"] - best["first"]
    check_shape(client.post("spans", json={**asked, "step": "grow"}), 422, "bad_span")
    check_shape(client.post("spans", json={**asked, "step": "grow", "last": 10**6}), 422, "bad_span")


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

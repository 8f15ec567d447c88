"""Documents: offsets slice back, sentences cover, flags tell structure, broken documents are named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_text import ANY_TEXT, visible
from auscult.documents import (
    SPLITTERS,
    Document,
    Passage,
    Section,
    Sentence,
    build_document,
    check_document,
    segment_passage,
)
from auscult.errors import DataError


def leaflet() -> Document:
    return build_document(
        doc_id="gout",
        title="Gout",
        sections=[
            Section(
                "Symptoms",
                "Gout hurts. It begins at night.\n- a red joint. It is hot.\n- fever",
                aspect="symptoms",
            ),
            Section("Images", "  \n"),
            Section("Treatment", "Rest.", passage_id="own"),
        ],
        source="Leaflets",
        url="https://example.org/gout",
        entity_ids=["UMLS:C0018099"],
        metadata={"year": "2020"},
    )


def test_a_document_is_its_sections_texts() -> None:
    document = leaflet()
    first, second, third = document.passages
    assert document.text.endswith("- fever\n\n  \n\n\nRest.")
    assert [p.passage_id for p in document.passages] == ["gout#1", "gout#2", "own"]
    assert (first.heading, first.aspect) == ("Symptoms", "symptoms")
    assert document.slice(third) == "Rest."
    assert second.sentences == ()
    assert (document.source, document.url, document.entity_ids) == (
        "Leaflets",
        "https://example.org/gout",
        ("UMLS:C0018099",),
    )
    assert dict(document.metadata) == {"year": "2020"}


def test_flags_tell_paragraphs_and_list_items() -> None:
    document = leaflet()
    told = [
        (document.slice(s), s.begins_paragraph, s.ends_paragraph, s.list_item) for s in document.passages[0].sentences
    ]
    assert told == [
        ("Gout hurts.", True, False, False),
        ("It begins at night.", False, True, False),
        ("- a red joint.", True, False, True),
        ("It is hot.", False, True, True),
        ("- fever", True, True, True),
    ]


def test_metadata_is_copied() -> None:
    metadata = {"year": "2020"}
    document = build_document(doc_id="d", title="", sections=[Section("", "x")], metadata=metadata)
    metadata["year"] = "1999"
    assert document.metadata["year"] == "2020"


def test_given_offsets_are_segmented_in_place() -> None:
    text = "First one. Second.\nThird one.\n"
    sentences = segment_passage(text, 11, len(text))
    assert [text[s.start : s.end] for s in sentences] == ["Second.", "Third one."]


def test_another_splitter_is_used() -> None:
    document = build_document(
        doc_id="d", title="", sections=[Section("", "One. Two.\nThree.")], splitter=SPLITTERS["line"]()
    )
    assert [document.slice(s) for s in document.sentences] == ["One. Two.", "Three."]


@settings(deadline=None)
@given(st.lists(ANY_TEXT, max_size=5), st.sampled_from(["", "\n\n", " "]))
def test_any_text_is_covered_once_and_slices_back(texts: list[str], separator: str) -> None:
    document = build_document(
        doc_id="d", title="t", sections=[Section("", text) for text in texts], separator=separator
    )
    check_document(document)
    assert document.text == separator.join(texts)
    assert [document.slice(p) for p in document.passages] == texts
    for passage, text in zip(document.passages, texts, strict=True):
        pieces = [document.slice(s) for s in passage.sentences]
        assert visible("".join(pieces)) == visible(text)
        assert all(piece == piece.strip() != "" for piece in pieces)
        assert sum(s.begins_paragraph for s in passage.sentences) == sum(s.ends_paragraph for s in passage.sentences)


@pytest.mark.parametrize("word", ["word ", "a", "(", '"', "\u05e9 ", "Gout is painful in the joints of the toes. "])
def test_a_line_of_ten_million_characters(word: str) -> None:
    text = word * (10_000_000 // len(word))
    sentences = segment_passage(text, 0, len(text))
    assert sentences[0].start == 0
    assert sentences[-1].end == len(text.rstrip())
    assert sentences[0].begins_paragraph
    assert sentences[-1].ends_paragraph


def broken(passages: tuple[Passage, ...], doc_id: str = "d") -> Document:
    return Document(doc_id=doc_id, title="", text="One. Two.", passages=passages)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (broken((), doc_id=""), "empty doc_id"),
        (broken((Passage("", "", 0, 4),)), "unique passage ids"),
        (broken((Passage("p", "", 0, 4), Passage("p", "", 4, 9))), "unique passage ids"),
        (broken((Passage("p", "", 0, 10),)), "inside the text"),
        (broken((Passage("p", "", 4, 9), Passage("q", "", 0, 4))), "in order"),
        (broken((Passage("p", "", 0, 4, (Sentence(0, 5),)),)), "inside their passage"),
        (broken((Passage("p", "", 0, 9, (Sentence(5, 9),)),)), "words before offset 5"),
        (broken((Passage("p", "", 0, 9, (Sentence(0, 4),)),)), "words after offset 4"),
    ],
)
def test_a_broken_promise_is_named(document: Document, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        check_document(document)


def test_a_good_document_passes() -> None:
    document = leaflet()
    assert check_document(document) is document
    moved = replace(document, passages=document.passages[:1])
    assert check_document(moved) is moved

"""Documents are found by what they are called."""

from __future__ import annotations

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.concepts.names import normalise_name
from auscult.concepts.word_counts import count_words
from auscult.index.blocks import BlockFile, BlockWriter
from auscult.index.titles import Titles, names_of, write_titles

DOCUMENTS = (
    ("Gout", ["DOID:13189"]),
    ("Gouty arthritis", []),
    ("GOUT", ["UMLS:C0018099"]),
    ("Gout and asthma", ["DOID:13189", "DOID:2841"]),
    ("", ["doid:2841"]),
    ("Crohn\u2019s disease", ["see the text"]),
)


def titles_of(documents: list[tuple[str, list[str]]], gone: tuple[int, ...] = ()) -> Titles:
    with TemporaryDirectory() as place:
        writer = BlockWriter(Path(place) / "segment")
        names = (names_of(row, *document) for row, document in enumerate(documents))
        write_titles(writer, itertools.chain.from_iterable(names))
        file = BlockFile(writer.path, writer.close({}))
    living = np.array([row not in gone for row in range(len(documents))], bool)
    return Titles([file], [living], lambda _, row: documents[row][0])


@pytest.mark.parametrize("gone", [(), (0,), (1, 2)])
def test_words_of_titles_are_counted_once_a_title(gone: tuple[int, ...]) -> None:
    titles = titles_of(list(DOCUMENTS), gone)
    assert dict(titles.words.items()) == count_words(titles)


def test_title_words_count_once_across_segments() -> None:
    first, second = titles_of(list(DOCUMENTS)), titles_of([("Gout", ["X:1"]), ("Gout of the knee", [])])
    living = [np.ones(len(DOCUMENTS), bool), np.ones(2, bool)]
    both = Titles([*first._files, *second._files], living, lambda number, row: "")
    assert dict(both.words.items()) == count_words(both)
    assert both.words["knee"] == 1


def test_next_document_inherits_a_removed_documents_name() -> None:
    assert titles_of(list(DOCUMENTS), gone=(0,))["gout"] == "GOUT"
    assert "gout" not in dict(titles_of(list(DOCUMENTS), gone=(0, 2)))


def test_names_and_sole_identifiers_find_the_first_document() -> None:
    titles = titles_of(list(DOCUMENTS))
    assert dict(titles) == {
        "gout": "Gout",
        "gouty arthritis": "Gouty arthritis",
        "gout and asthma": "Gout and asthma",
        "crohn disease": "Crohn\u2019s disease",
        "DOID:13189": "Gout",
        "UMLS:C0018099": "GOUT",
        "DOID:2841": "",
    }
    assert len(titles) == 7
    assert titles.get("gou") is None
    assert titles.get("zoster") is None
    with pytest.raises(KeyError):
        titles[""]
    assert dict(titles_of([])) == {}


@given(st.lists(st.text(max_size=12), max_size=12))
def test_any_title_is_found_again(names: list[str]) -> None:
    titles = titles_of([(name, []) for name in names])
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(normalise_name(name), name)
    first.pop("", None)
    assert {key: titles[key] for key in first} == first

"""More than forty kinds of file in one folder: each is read, found and highlighted, and the bad ones are named."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from auscult.ingest.building import build_index
from auscult.ingest.files import FilesCorpus
from auscult.search import Searcher
from auscult_readers import old_office
from encoders import HashedEncoder
from forty_kinds import BAD, KINDS, sentence_of, word_of, write

ENCODER = HashedEncoder()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds") / "files"
    write(folder)
    return folder


@pytest.fixture(scope="module")
def searcher(folder: Path) -> Iterator[Searcher]:
    with pytest.MonkeyPatch.context() as patched:
        # Whether LibreOffice is on this machine or not.
        patched.setattr(old_office, "office_program", tuple)
        yield _built(folder)


def _built(folder: Path) -> Searcher:
    begun = time.monotonic()
    corpus = FilesCorpus(folder)
    build_index(list(corpus.documents()), ENCODER, folder.with_name("index"))
    # Twice of what may pass: other tests run beside.
    assert time.monotonic() - begun < 120
    assert {problem.name.split("/")[0]: problem.kind for problem in corpus.report.problems} == {
        name: kind for name, (_, kind) in BAD.items()
    }
    assert all(problem.remedy for problem in corpus.report.problems)
    return Searcher.open(folder.with_name("index"), ENCODER)


def test_there_are_more_than_forty() -> None:
    assert len(KINDS) >= 40
    assert len({word_of(name) for name in KINDS}) == len(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_file_is_found_and_highlighted(searcher: Searcher, name: str) -> None:
    first, *others = searcher.search(f"{word_of(name)} sign", 5)
    assert first.metadata["file"].split("/")[0] == name
    hit = next(hit for hit in (first, *others) if word_of(name) in hit.text)
    reader = searcher.index.reader
    row = reader.row_of(hit.doc_id)
    document, original = reader.document(row), reader.original(row)
    assert original is not None
    begin = document.text.index(word_of(name), hit.start)
    marked = [each for each in hit.sentences if each.start <= begin < each.end]
    assert sentence_of(name).removesuffix(".") in document.text[marked[0].start : marked[0].end]
    end = begin + len(word_of(name))
    if original.pages:
        assert original.boxes(begin, end)
    elif original.encoding:
        ranges = original.source_ranges(begin, end)
        source = original.content.decode(original.encoding)
        assert "".join(source[first:last] for first, last in ranges) == word_of(name)

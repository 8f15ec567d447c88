"""Words with soft hyphens: read as without them, with the right places in the source."""

from __future__ import annotations

import pytest

from auscult.documents.analysis import Analyzer
from auscult.documents.original import Original
from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.process.worker import ReadingProcess
from auscult.readers.registry import Registry
from auscult.readers.soft_hyphens import without_soft_hyphens

SHY = "\u00ad"


def read(name: str, content: str) -> DraftDocument:
    file = SourceFile(name, content.encode())
    (draft,) = map(without_soft_hyphens, Registry().reader_of(file).read(file))
    for section in draft.sections:
        assert section.start is not None
        assert draft.text[section.start : section.start + len(section.text)] == section.text
    return draft


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", f"PLAN:\nTake cipro{SHY}floxa{SHY}cin, 500 mg.\nALLER{SHY}GIES:\nLatex.\n"),
        ("a.txt", f"PLAN:\nTake cipro{SHY}\nfloxacin, 500 mg.\nALLERGIES:\nLatex.\n"),
        ("a.md", f"## PLAN\n\nTake cipro{SHY}floxacin, 500 mg.\n\n## ALLER{SHY}GIES\n\nLatex."),
        ("a.html", "<h2>PLAN</h2><p>Take cipro&shy;floxa&#173;cin, 500 mg.<h2>ALLER&shy;GIES</h2><p>Latex."),
        ("a.csv", f'id,text\n1,"PLAN:\nTake cipro{SHY}floxacin, 500 mg.\nALLERGIES:\nLatex."\n'),
    ],
)
def test_words_are_read_without_soft_hyphens(name: str, content: str) -> None:
    draft = read(name, content)
    assert [section.heading for section in draft.sections] == ["PLAN", "ALLERGIES"]
    assert draft.sections[0].text.strip() == "Take ciprofloxacin, 500 mg."
    source = content.encode() if draft.content is None else draft.content
    original = Original(
        name=name, media_type=draft.media_type, content=source, encoding=draft.encoding, runs=draft.runs
    )
    for words, first, last in [("ciprofloxacin", "cipro", "cin"), ("500 mg", "500", "mg"), ("Latex", "Lat", "ex")]:
        at = draft.text.index(words)
        ranges = original.source_ranges(at, at + len(words))
        marked = source.decode()[ranges[0][0] : ranges[-1][1]]
        assert marked.startswith(first)
        assert marked.endswith(last)


def test_files_are_read_without_soft_hyphens() -> None:
    with ReadingProcess() as process:
        ((_, draft),) = process.read(SourceFile("a.txt", f"Take cipro{SHY}floxacin.".encode()))
    assert draft.text == "Take ciprofloxacin."


def test_index_terms_have_no_soft_hyphens() -> None:
    assert Analyzer()(f"cipro{SHY}floxacin") == ["ciprofloxacin"]
    assert Analyzer(normal_form=True, stemming=True)(f"cipro{SHY}floxacin") == Analyzer(
        normal_form=True, stemming=True
    )("ciprofloxacin")

"""One opener of knowledge bases, for every way in which one can be named."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from auscult.concepts import KnowledgeBase
from auscult.corpora.knowledge import open_knowledge_base
from auscult.errors import ConfigError, CorpusMissingError, DataError
from places import DATA

TAXONOMIES = DATA / "concepts"
FILES = tuple(TAXONOMIES / name for name in ("small.obo", "entities.tsv", "triples.tsv"))
HEART_ATTACK = "DOID:5844"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """AUSCULT_DATA with the catalogue's knowledge base and one taxonomy, in small."""
    for source, target in (
        ("entities.tsv", "entities.tsv.gz"),
        ("triples.tsv", "triples.tsv.gz"),
        ("codes.tsv", "icd10cm_2018_categories.tsv.gz"),
        ("small.obo", "symp.obo.gz"),
    ):
        (tmp_path / "kg").mkdir(exist_ok=True)
        (tmp_path / "kg" / target).write_bytes(gzip.compress((TAXONOMIES / source).read_bytes()))
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path))
    return tmp_path


def test_every_form_opens(root: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.jsonl.gz"
    KnowledgeBase.from_files(FILES).save(saved)
    loose = tmp_path / "loose"
    loose.mkdir()
    for file in FILES:
        shutil.copy(file, loose)
    (loose / "README.txt").write_text("not a taxonomy")
    packed = root / "kg" / "symp.obo.gz"
    for spec in (saved, str(FILES[0]), packed, loose, FILES, "symptom-ontology", [str(FILES[0])], [packed, FILES[1]]):
        assert HEART_ATTACK in open_knowledge_base(spec), spec
    whole = open_knowledge_base()
    assert whole.codes
    assert len(open_knowledge_base(root / "kg")) == len(whole)


def test_what_is_none_is_named_with_what_to_do(root: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    saved = tmp_path / "saved.jsonl.gz"
    KnowledgeBase.from_files(FILES).save(saved)
    with pytest.raises(CorpusMissingError, match="auscult data show knowledge-base"):
        open_knowledge_base(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"in the folder .*empty, got none"):
        open_knowledge_base(empty)
    with pytest.raises(ConfigError, match="'medquad', which holds documents"):
        open_knowledge_base("medquad")
    with pytest.raises(ConfigError, match="at least one"):
        open_knowledge_base([])
    for alone in (saved, root / "kg"):
        with pytest.raises(ConfigError, match="give it alone"):
            open_knowledge_base([FILES[0], alone])


def test_a_missing_default_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path))
    with pytest.raises(CorpusMissingError, match="auscult data get knowledge-base"):
        open_knowledge_base()

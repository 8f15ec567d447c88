"""One opener of knowledge bases, for every way in which one can be named."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from auscult.concepts import EntityResolver, KnowledgeBase
from auscult.concepts.opening import FRENCH, SPANISH, TOPICS, open_for_questions, open_knowledge_base, open_names
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


def test_invalid_knowledge_base_error_says_what_to_do(root: Path, tmp_path: Path) -> None:
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


def test_default_has_names_in_other_languages(root: Path) -> None:
    plain, known = open_knowledge_base(), open_for_questions()
    assert not plain.foreign
    assert known.foreign.names("DOID:10652", ["de"])[:2] == ("Alzheimer-Krankheit", "Alzheimer")
    assert known.foreign.languages == ("de", "es", "fr")
    with pytest.raises(CorpusMissingError, match="auscult data get disease-names-es"):
        open_names(SPANISH)
    header = "id\tlang\tenglish\tname\tkind\tstatus\tsource\n"
    rows = "DOID:10652\tes\tAD\tmal de Alzheimer\tsynonym\t\tDOID\nBDPM\tfr\t\tXYZ 10\tbrand\t\tBDPM\n"
    (root / "languages").mkdir()
    (root / "languages" / "names.tsv.gz").write_bytes(gzip.compress((header + rows).encode()))
    assert open_for_questions().foreign.names("DOID:10652", ["es"])[-1] == "mal de Alzheimer"
    assert open_names(FRENCH).names == ()
    for each in (plain, known):
        assert not EntityResolver(each).resolve("mal de Alzheimer", fuzzy=False)


def test_questions_are_read_with_topics_behind_the_default(root: Path) -> None:
    assert len(open_for_questions()) == len(open_knowledge_base())
    topics = (
        ("MPlusDrugs_1", "11_MPlusDrugs_QA", "Ibuprofen", (), ()),
        ("MPlusDrugs_2", "11_MPlusDrugs_QA", "Timolol Oral", (), ()),
        ("MPlusDrugs_3", "11_MPlusDrugs_QA", "Timolol Ophthalmic", (), ()),
        ("MPlusHerbs_1", "12_MPlusHerbsSupplements_QA", "Riboflavin (Vitamin B2)", (), ()),
        ("ADAM_1", "10_MPlus_ADAM_QA", "Bone lesion biopsy", ("Bone biopsy", "Biopsy - bone"), ("C0000001",)),
        ("ADAM_2", "10_MPlus_ADAM_QA", "Type 2 diabetes - self-care", (), ()),
        ("ADAM_3", "10_MPlus_ADAM_QA", "Leukaemia", ("Coronary",), ()),
        ("GARD_1", "2_GARD_QA", "Something rare", (), ()),
    )
    fields = ("doc_id", "collection", "title", "synonyms", "umls_cuis")
    lines = (json.dumps(dict(zip(fields, topic, strict=True))) for topic in topics)
    (root / "medquad").mkdir()
    path = root / "medquad" / "questions_without_answers.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    known = open_for_questions()
    ids = {name: [concept.concept_id for concept in known.by_name(name)] for name in ("advil", "timolol", "vitamin b2")}
    assert ids == {
        "advil": ["MEDQUAD:MPlusDrugs_1"],
        "timolol": ["MEDQUAD:MPlusDrugs_2"],
        "vitamin b2": ["MEDQUAD:MPlusHerbs_1"],
    }
    assert [concept.names for concept in known.by_identifier("C0000001")] == [("Bone lesion biopsy", "Bone biopsy")]
    assert known.by_name("flu shot")
    # Known already, a leaflet's title, and another collection's.
    assert "DOID:1240" in known
    assert not any(map(known.by_name, ("coronary", "Type 2 diabetes - self-care", "Something rare")))
    # The command line gives a list.
    for named in (TOPICS, [TOPICS]):
        assert "MEDQUAD:ADAM_1" in open_knowledge_base(named)

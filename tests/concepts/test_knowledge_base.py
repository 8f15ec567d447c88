"""The knowledge base: identifiers, readers, merging, relations, and the file it is kept in."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from auscult.concepts import Concept, KnowledgeBase, normalise_identifier
from auscult.concepts.merging import merge
from auscult.concepts.names import normalise_name
from auscult.concepts.obo import read_obo
from auscult.concepts.storage import VERSION
from auscult.documents import Document
from auscult.errors import AuscultError, DataError, QueryError
from needs import Needs
from places import DATA

TAXONOMIES = DATA / "concepts"
FILES = [TAXONOMIES / "entities.tsv", TAXONOMIES / "triples.tsv", TAXONOMIES / "codes.tsv"]


@pytest.fixture(scope="module")
def small() -> KnowledgeBase:
    return KnowledgeBase.from_files([TAXONOMIES / "small.obo", *FILES])


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("umls:c0017661", "UMLS:C0017661"),
        ("UMLS_CUI:C0017661", "UMLS:C0017661"),
        ("C0017661", "UMLS:C0017661"),
        ("ICD10:N02", "ICD10:N02"),
        ("ICD-10 N02.8", "ICD10:N02.8"),
        ("icd10cm:n028", "ICD10:N02.8"),
        ("doid:2986", "DOID:2986"),
        ("DOID_2986", "DOID:2986"),
        ("http://purl.obolibrary.org/obo/DOID_2986", "DOID:2986"),
        ("MIM:161950", "OMIM:161950"),
        ("msh:d009203", "MESH:D009203"),
        ("Orphanet:34145", "ORPHANET:34145"),
        ("GARD:0000863", "GARD:863"),
        ("q12152", "Q12152"),
        ("https://www.wikidata.org/wiki/Q12152", "Q12152"),
        ("Wikidata:Q12152", "Q12152"),
        ("type 2 diabetes", None),
        ("DOID:heart", None),
        ("UMLS:17661", None),
        ("", None),
    ],
)
def test_identifiers_have_one_spelling(given: str, canonical: str | None) -> None:
    assert normalise_identifier(given) == canonical


def test_obo_terms() -> None:
    concepts = {concept.concept_id: concept for concept in read_obo(TAXONOMIES / "small.obo")}
    assert list(concepts) == ["DOID:4", "DOID:114", "DOID:3393", "DOID:5844", "DOID:8805"]
    coronary = concepts["DOID:3393"]
    assert coronary.synonyms == ("CAD",)
    assert coronary.xrefs == ("DOID:9999", "UMLS:C1956346")
    assert coronary.parents == ("DOID:114",)
    assert coronary.source == "DO"
    assert concepts["DOID:5844"].definition == 'Death of heart muscle, called "heart attack" by most.'


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("[Term]\nid: X:1\nname: a\nsynonym: b EXACT []\n", 4, "double quotes"),
        ("[Term]\nid: X:1\nname: a\nno colon here\n", 4, "tag: value"),
        ("[Term\nid: X:1\n", 1, "brackets"),
        ("\n[Term]\nid: X:1\n", 2, "one id and one name"),
    ],
)
def test_malformed_obo_is_named(tmp_path: Path, text: str, line: int, reason: str) -> None:
    path = tmp_path / "bad.obo"
    path.write_text(text)
    with pytest.raises(DataError, match=f"bad.obo:{line}") as caught:
        list(read_obo(path))
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("bad.tsv", b"id\tname\tsource\tsynonyms\tdefinition\txrefs\nDOID:1\tx\n", "bad.tsv:2"),
        ("bad.tsv", b"id\tname\tsource\tsynonyms\tdefinition\txrefs\n\tx\tDO\t\t\t\n", "bad.tsv:2"),
        ("bad.tsv", b"some\tother\ttable\n", "some other table"),
        ("bad.tsv", b"", "an empty file"),
        ("bad.obo", b"[Term]\nid: X:1\nname: \xff\n", "UTF-8"),
        ("bad.obo.gz", b"this is no gzip", "a whole compressed file"),
        ("bad.owl", b"<rdf/>", "bad.owl"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        KnowledgeBase.from_files([path])
    assert expected in str(caught.value)


def test_absent_file() -> None:
    with pytest.raises(DataError, match="no such file"):
        KnowledgeBase.from_files(["nowhere.obo"])


def test_records_of_one_thing_are_merged(small: KnowledgeBase) -> None:
    nephropathy = small.concepts["DOID:2986"]
    assert nephropathy.source == "DO|Mondo"
    assert "berger's disease" in nephropathy.synonyms
    assert "MONDO:0005342" in nephropathy.xrefs
    assert "MONDO:0005342" not in small.concepts
    assert small.by_name("IgA nephropathy") == (nephropathy,)
    # The parent of a record is rewritten to the concept that took it in.
    assert small.concepts["MONDO:0000001"].parents == ("DOID:2986",)
    assert small.counts.merged_by_xref == 2
    assert small.counts.records - small.counts.concepts == 2


def test_doubtful_records_are_not_merged(small: KnowledgeBase) -> None:
    # It cites two diseases and shares a name with neither; a shared UMLS code proves nothing.
    assert "MONDO:0004992" in small.concepts
    assert "MONDO:0000001" in small.concepts


def test_reordered_synonym_goes_to_the_concept_it_names() -> None:
    concepts, _ = merge(
        [
            Concept("X:1", "MODY type 1", ("diabetes mellitus, type II", "MODY1", "young people's diabetes")),
            Concept("X:2", "type 2 diabetes mellitus", ("Diabetes Mellitus, Type II",)),
            Concept("X:3", "complex 4 deficiency type 3", ("complex IV deficiency, type 3",)),
            Concept("X:4", "complex 3 deficiency type 4"),
            Concept("X:5", "essential hypertension", ("hypertension",)),
            Concept("X:6", "hypertension", ("hypertension, essential", "high blood pressure")),
            Concept("X:7", "iron overload", ("overload, iron", "diffuse sclerosis")),
            Concept("X:8", "sclerosis, diffuse"),
            Concept("Y:8", "diffuse sclerosis"),
        ]
    )
    assert {concept.concept_id: concept.synonyms for concept in concepts} == {
        "X:1": ("MODY1", "young people's diabetes"),
        "X:2": ("Diabetes Mellitus, Type II",),
        # Two numbers may have changed places, and with them the meaning.
        "X:3": ("complex IV deficiency, type 3",),
        "X:4": (),
        # Words in the same order are a name of both.
        "X:5": ("hypertension", "hypertension, essential"),
        "X:6": ("high blood pressure",),
        # Its own name turned round; and a name that two turn round.
        "X:7": ("overload, iron", "diffuse sclerosis"),
        "X:8": (),
        "Y:8": (),
    }


def test_supplements_only_enrich(tmp_path: Path) -> None:
    older = tmp_path / "older.obo"
    older.write_text(
        "ontology: doid\n\n[Term]\nid: DOID:1240\nname: leukaemia\nalt_id: DOID:12\n\n"
        "[Term]\nid: DOID:77\nname: retired\n"
    )
    known = KnowledgeBase.from_files(FILES, supplements=[older])
    assert known.lookup("DOID:12") == known.concepts["DOID:1240"]
    assert known.concepts["DOID:1240"].name == "leukemia"
    assert "DOID:77" not in known


@pytest.mark.parametrize(
    ("identifier", "concept_id"),
    [
        ("DOID:2986", "DOID:2986"),
        ("MONDO:0005342", "DOID:2986"),
        ("umls:c0017661", "DOID:2986"),
        ("GARD:0000863", "DOID:2986"),
        ("Q1363684", "DOID:2986"),
        ("Orphanet:34145", "DOID:2986"),
        ("DOID:9999", "DOID:3393"),
        ("ICD-10 I21", "DOID:5844"),
        ("ICD10:E11.2", "ICD10:E11.2"),
    ],
)
def test_lookup_by_any_identifier(small: KnowledgeBase, identifier: str, concept_id: str) -> None:
    found = small.lookup(identifier)
    assert found is not None
    assert found.concept_id == concept_id


def test_shared_code_prefers_the_concept_its_title_names() -> None:
    general = Concept("DOID:9351", "diabetes mellitus", xrefs=("ICD10:E11",))
    exact = Concept("DOID:9352", "type 2 diabetes mellitus", xrefs=("ICD10:E11",), parents=("DOID:9351",))
    code = Concept("ICD10:E11", "Type 2 diabetes mellitus")
    knowledge_base = KnowledgeBase([general, exact], [code])
    assert [found.concept_id for found in knowledge_base.by_identifier("ICD10:E11")] == [
        "DOID:9352",
        "DOID:9351",
        "ICD10:E11",
    ]
    # With no title to go by, the more general one comes first.
    assert KnowledgeBase([exact, general]).lookup("ICD10:E11") == general


def test_unknown_identifier(small: KnowledgeBase) -> None:
    assert small.lookup("DOID:123456") is None
    assert small.lookup("not an identifier") is None


def test_relations(small: KnowledgeBase) -> None:
    assert small.relation("DOID:5844", "DOID:5844") == "same"
    assert small.relation("DOID:5844", "DOID:114") == "ancestor"
    assert small.relation("DOID:114", "DOID:5844") == "descendant"
    assert small.relation("DOID:5844", "DOID:8805") == "sibling"
    assert small.relation("UMLS:C0027051", "SYMP:0000504") == "unrelated"
    assert small.hierarchy.ancestors("DOID:5844") == {"DOID:3393", "DOID:114", "DOID:4"}
    assert small.hierarchy.descendants("DOID:3393") == {"DOID:5844", "DOID:8805"}
    assert small.relation("DOID:9352", "ICD10:E11") == "same"
    with pytest.raises(QueryError, match="DOID:123456"):
        small.relation("DOID:5844", "DOID:123456")


def test_a_cycle_ends() -> None:
    knowledge_base = KnowledgeBase(
        [Concept("DOID:1", "a", parents=("DOID:2",)), Concept("DOID:2", "b", parents=("DOID:1",))]
    )
    assert knowledge_base.hierarchy.ancestors("DOID:1") == {"DOID:2"}
    assert knowledge_base.relation("DOID:1", "DOID:2") == "ancestor"


def test_descriptions(small: KnowledgeBase) -> None:
    assert small.descriptions("DOID:5844") == (
        "myocardial infarction",
        "heart attack",
        "Myocardial infarct",
        'Death of heart muscle, called "heart attack" by most.',
    )
    assert small.descriptions("DOID:1240") == ("leukemia",)
    with pytest.raises(QueryError):
        small.descriptions("DOID:123456")


def test_saved_and_loaded(small: KnowledgeBase, tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl.gz", tmp_path / "sub" / "b.jsonl.gz"
    small.save(first)
    small.save(second)
    assert first.read_bytes() == second.read_bytes()
    loaded = KnowledgeBase.load(first)
    assert dict(loaded.concepts) == dict(small.concepts)
    assert dict(loaded.codes) == dict(small.codes)
    assert dict(loaded.name_index) == dict(small.name_index)
    assert list(tmp_path.glob("*.part")) == []


_HEAD = b'{"format": "auscult-knowledge-base", "version": 3, "brought": {}}\n'


@pytest.mark.parametrize(
    "content",
    [
        b"no gzip",
        gzip.compress(b"", mtime=0),
        gzip.compress(b'{"format": "auscult-knowledge-base", "version": 999}\n', mtime=0),
        gzip.compress(b'{"format": "auscult-knowledge-base", "version": 1}\n["DOID:1"]\n', mtime=0),
        gzip.compress(_HEAD + b'[["DOID:1"]]\n[]\n{}\n', mtime=0),
        gzip.compress(_HEAD + b'[]\n[]\n{"a": [1]}\n', mtime=0),
        gzip.compress(_HEAD + b"[]\n[]\n", mtime=0),
        gzip.compress(_HEAD + b"[]\n[]\n{}\n", mtime=0)[:-9],
    ],
)
def test_damaged_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "kb.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(AuscultError, match="knowledge base"):
        KnowledgeBase.load(path)


def test_documents_add_identifiers(small: KnowledgeBase) -> None:
    documents = [
        Document("a", "Leukemia", "", (), entity_ids=("Q29496",)),
        Document("b", "Facio thoraco genital syndrome", "", (), entity_ids=("Q55781888", "UMLS:C2931184")),
        Document("c", "Without identifiers", "", ()),
    ]
    known = small.with_documents(documents)
    assert known.lookup("Q29496") == known.concepts["DOID:1240"]
    assert known.concepts["DOID:1240"].synonyms == ()
    added = known.lookup("UMLS:C2931184")
    assert added is not None
    assert added.name == "Facio thoraco genital syndrome"
    assert len(known) == len(small) + 1
    assert small.lookup("Q29496") is None
    assert dict(known.name_index) == dict(KnowledgeBase(known, known.codes.values()).name_index)


def test_names_fold_as_in_files_of_this_version() -> None:
    """What was folded when a file was written must still be found: another way to fold is another `VERSION`."""
    names = ("Crohn's Disease", "haemophilia A", "leukaemias", "Sjögren syndrome", "glycogen storage disease type II")
    names += ("naevus", "factor VIII", "\u03b11-antitrypsin", "xray", "post-operative", "streptococci", "Stage IV")
    folded = {name: normalise_name(name) for name in (*names, "type V collagen", "piles, bleeding", "AIDS", "scabies")}
    assert (VERSION, folded) == (
        3,
        {
            "Crohn's Disease": "crohn disease",
            "haemophilia A": "hemophilia a",
            "leukaemias": "leukemia",
            "Sjögren syndrome": "sjogren syndrome",
            "glycogen storage disease type II": "glycogen storage disease type 2",
            "type V collagen": "type 5 collagen",
            "piles, bleeding": "pile bleeding",
            "AIDS": "aids",
            "scabies": "scabies",
            "naevus": "nevus",
            "factor VIII": "factor 8",
            "\u03b11-antitrypsin": "alpha 1 antitrypsin",
            "xray": "x ray",
            "post-operative": "postoperative",
            "streptococci": "streptococcus",
            "Stage IV": "stage 4",
        },
    )


class TestRealTaxonomies:
    def test_counts(self, taxonomies: KnowledgeBase) -> None:
        assert len(taxonomies) == taxonomies.counts.concepts
        assert taxonomies.counts.merged_by_xref > 11_000
        assert len(
            taxonomies
        ) + taxonomies.counts.merged_by_id + taxonomies.counts.merged_by_xref + taxonomies.counts.merged_by_name == (
            taxonomies.counts.records
        )

    @pytest.mark.parametrize(
        ("identifier", "concept_id"),
        [
            ("UMLS:C0017661", "DOID:2986"),
            ("MONDO:0005342", "DOID:2986"),
            ("MESH:D009203", "DOID:5844"),
            ("ICD10:E10", "DOID:9744"),
            ("ICD10:E11", "DOID:9352"),
            ("ICD10:N02", "ICD10:N02"),
        ],
    )
    def test_identifiers(self, taxonomies: KnowledgeBase, identifier: str, concept_id: str) -> None:
        found = taxonomies.lookup(identifier)
        assert found is not None
        assert found.concept_id == concept_id

    def test_lay_terms(self, taxonomies: KnowledgeBase) -> None:
        for term, concept_id in {
            "heart attack": "DOID:5844",
            "high blood pressure": "DOID:10763",
            "piles": "DOID:9746",
            "type 2 diabetes": "DOID:9352",
        }.items():
            assert taxonomies.by_name(term)[0].concept_id == concept_id

    def test_older_release_reads(self, needs: Needs) -> None:
        assert sum(1 for _ in read_obo(needs.file("kg/HumanDO_2016-06-17.obo.gz"))) == 6931

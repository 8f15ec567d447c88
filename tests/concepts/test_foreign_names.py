"""Names in other languages: the files they are read from, the concepts they belong to, and how they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.concepts import Concept, EntityResolver, KnowledgeBase, normalise_name
from auscult.concepts.adding_names import AddedNames, find_concept, with_names
from auscult.concepts.autocomplete import Autocomplete
from auscult.concepts.languages import ForeignName, language_code, loose_keys, name_key
from auscult.concepts.name_files import read_names
from auscult.concepts.opening import EVERYDAY, FRENCH, SPANISH, open_for_questions, open_names
from auscult.documents.language_names import NAMES
from auscult.errors import DataError
from foreign_files import ORPHADATA, write_name_files
from needs import Needs

CONCEPTS = (
    Concept("DOID:0051061", "stroke", ("cerebrovascular accident", "CVA")),
    Concept("DOID:13189", "gout", ("podagra",), xrefs=("ICD10:M10",)),
    Concept("DOID:4252", "Alexander disease", xrefs=("OMIM:203450",)),
    Concept("DOID:9351", "diabetes mellitus", ("diabetes",)),
    Concept("DOID:6364", "migraine"),
    Concept("SYMP:0000504", "headache", xrefs=("HP:0002315",)),
    Concept("X:1", "pain of the head", xrefs=("HP:0001297",)),
    Concept("X:2", "brain attack", xrefs=("HP:0001297",)),
)
KNOWN = KnowledgeBase(CONCEPTS)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_name_files(tmp_path_factory.mktemp("names"))


@pytest.fixture(scope="module")
def added(files: dict[str, Path]) -> tuple[KnowledgeBase, list[AddedNames]]:
    return with_names(KNOWN, [open_names(EVERYDAY), *map(read_names, files.values())])


@pytest.fixture(scope="module")
def resolver(added: tuple[KnowledgeBase, list[AddedNames]]) -> EntityResolver:
    return EntityResolver(added[0])


def test_each_kind_of_file_is_read(files: dict[str, Path]) -> None:
    babelon, synonyms, ontology, orphadata = map(read_names, files.values())
    assert [each.name for each in babelon.names] == ["Schlaganfall", "Kopfschmerzen", "Facialis-Diplegie"]
    assert babelon.names[0] == ForeignName("Schlaganfall", "de", ("HP:0001297",), "Stroke")
    assert [(each.name, each.language) for each in synonyms.names] == [
        ("accident vasculaire cérébral", "fr"),
        ("AVC", "fr"),
    ]
    assert [each.name for each in ontology.names] == ["gota", "Gota articular"]
    assert [(each.name, each.identifiers) for each in orphadata.names] == [
        ("Alexander-Krankheit", ("ORPHANET:58", "OMIM:203450")),
        ("Morbus Alexander", ("ORPHANET:58", "OMIM:203450")),
        ("Große Störung", ("ORPHANET:101",)),
    ]


def test_files_say_their_licence(files: dict[str, Path]) -> None:
    licences = {kind: read_names(path).licence for kind, path in files.items()}
    assert licences["orphadata"] == "Creative Commons Attribution 4.0 International (CC-BY-4.0)"
    assert licences["ontology"] == "CC0 1.0"
    assert "forbids altered copies" in licences["babelon"]
    assert licences["synonyms"] == licences["babelon"]


def test_names_belong_to_concepts(added: tuple[KnowledgeBase, list[AddedNames]]) -> None:
    known, (_, babelon, synonyms, ontology, orphadata) = added
    foreign = known.foreign
    # By an English name, as two concepts cite the identifier; by the only one that cites it; by its own.
    assert foreign.names("DOID:0051061", ["de"])[0] == "Schlaganfall"
    assert foreign.names("SYMP:0000504", ["de"]) == ("Kopfschmerzen", "Kopfweh")
    assert foreign.names("DOID:13189", ["es", "de"]) == ("gota", "Gota articular", "Gicht")
    assert foreign.names("DOID:4252", ["de"]) == ("Alexander-Krankheit", "Morbus Alexander")
    assert (babelon.unknown, synonyms.unknown, ontology.unknown, orphadata.unknown) == (1, 2, 0, 1)
    assert known.foreign.languages == ("de", "es", "fr")


@pytest.mark.parametrize(
    ("text", "language", "concept_id", "matched"),
    [
        ("Schlaganfall", "de", "DOID:0051061", "Schlaganfall"),
        ("schlaganfall", "", "DOID:0051061", "Schlaganfall"),
        ("AVC", "fr", "DOID:0051061", "AVC"),
        ("l'AVC", "fr", "DOID:0051061", "AVC"),
        ("el ictus", "es", "DOID:0051061", "ictus"),
        ("ictus", "", "DOID:0051061", "ictus"),
        ("des AVC", "fr", "DOID:0051061", "AVC"),
        ("migrana", "es", "DOID:6364", "migraña"),
        ("las migrañas", "es", "DOID:6364", "migraña"),
        ("Migraene", "de", "DOID:6364", "Migräne"),
        ("stroke", "es", "DOID:0051061", "stroke"),
        ("Schlaganfall", "fr", "DOID:0051061", "Schlaganfall"),
        ("HP:0002315", "de", "SYMP:0000504", "HP:0002315"),
    ],
)
def test_names_are_found(resolver: EntityResolver, text: str, language: str, concept_id: str, matched: str) -> None:
    (match, *_) = resolver.resolve(text, language=language)
    assert (match.concept.concept_id, match.matched_name) == (concept_id, matched)


@pytest.mark.parametrize("text", ["ictus", "gota", "AVC", "Schlaganfall", "Gicht", "migraña"])
def test_english_finds_no_foreign_name(resolver: EntityResolver, text: str) -> None:
    assert resolver.resolve(text) == EntityResolver(KNOWN).resolve(text)
    assert resolver.resolve(text, fuzzy=False) == []


def test_short_english_names_are_acronyms_elsewhere(resolver: EntityResolver) -> None:
    assert resolver.resolve("cva", language="es") == []
    assert resolver.resolve("CVA", language="es")[0].concept.name == "stroke"


def test_english_comes_first_where_unknown(resolver: EntityResolver) -> None:
    assert resolver.resolve("diabetes", language="")[0].language == "en"
    assert resolver.resolve("diabetes", language="es")[0].language == "es"


def test_similar_names_are_english(resolver: EntityResolver) -> None:
    assert resolver.resolve("migranie", language="")[0].kind == "fuzzy"
    assert resolver.resolve("Schlagamfall", language="de") == []


def test_keys() -> None:
    assert name_key("Große Störung, l'œdème") == "grosse storung l oedeme"
    assert loose_keys("der Große Störungen", "de")[1] == loose_keys("grosse Stoerung", "de")[1]
    assert loose_keys("las enfermedades de Chagas", "es") == ("enfermedades chagas", "~enferm chag")
    assert loose_keys("carie", "fr") == ("carie",)
    assert loose_keys("SIDA", "es") == ("sida",)
    assert loose_keys("la", "es") == ()
    assert (language_code("de-AT"), language_code("ES")) == ("de", "es")
    with pytest.raises(DataError, match="a language code"):
        language_code("German language")


def test_saved_names_are_loaded(added: tuple[KnowledgeBase, list[AddedNames]], tmp_path: Path) -> None:
    known, _ = added
    known.save(tmp_path / "kb.jsonl.gz")
    loaded = KnowledgeBase.load(tmp_path / "kb.jsonl.gz")
    assert dict(loaded.foreign.of_concepts) == dict(known.foreign.of_concepts)
    assert loaded.foreign.sources == known.foreign.sources
    assert EntityResolver(loaded).resolve("ictus", language="es")[0].concept.name == "stroke"
    assert KNOWN.with_foreign(KNOWN.foreign).to_bytes() == KnowledgeBase(CONCEPTS).to_bytes()


def test_first_file_gives_preferred_name(files: dict[str, Path]) -> None:
    french = read_names(files["synonyms"])
    known = KnowledgeBase([Concept("HP:0001297", "Stroke")])
    first, _ = with_names(known, [french, open_names(EVERYDAY)])
    assert first.foreign.names("HP:0001297", ["fr"])[:2] == ("accident vasculaire cérébral", "AVC")
    again, (nothing,) = with_names(first, [french])
    assert nothing.source.names == 0
    assert dict(again.foreign.of_concepts) == dict(first.foreign.of_concepts)


def test_a_doubtful_name_is_left_out() -> None:
    known = KnowledgeBase([Concept("X:1", "a", ("both",)), Concept("X:2", "b", ("both",)), Concept("X:3", "c")])
    assert find_concept(known, ForeignName("beide", "de", (), "both")) is None
    assert find_concept(known, ForeignName("ce", "de", (), "c")) is not None
    assert find_concept(known, ForeignName("nichts", "de", ("DOID:1",))) is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "term\tmeaning\n", "a .tsv table with columns"),
        ("a.tsv", "", "an empty file"),
        ("a.synonyms.tsv", "subject_id\ttranslation_value\nHP:1\tx\n", "name it like hp-fr.synonyms.tsv"),
        ("a.tsv", "id\tlang\tenglish\tname\nDOID:4\tGerman tongue\t\tx\n", r"a\.tsv:2"),
        ("a.tsv", "id\tlang\tenglish\tname\nDOID:4\ten\t\tx\n", "in another language than English"),
        ("a.xml", "<JDBOR><DisorderList>", "well-formed XML"),
        ("a.xml", "<other/>", "JDBOR/DisorderList"),
        ("a.xml", '<!DOCTYPE JDBOR [<!ENTITY a "b">]><JDBOR/>', "without a document type"),
        ("a.xml", '<?xml version="1.0" encoding="nonsense"?><JDBOR/>', "well-formed XML"),
        ("a.xml", ORPHADATA.replace("58<", "?<").replace("ISO-8859-1", "UTF-8"), "with its OrphaCode"),
        ("a.xml.gz", ORPHADATA, "gzip"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_names(tmp_path / name)


def test_everyday_names_are_whole() -> None:
    listed = open_names(EVERYDAY).names
    assert {name.language for name in listed} == {"de", "es", "fr"} < NAMES.keys()
    keys = [(name.language, name_key(name.name), normalise_name(name.english)) for name in listed]
    assert len(keys) == len(set(keys)), sorted({key for key in keys if keys.count(key) > 1})
    assert all(name.name == name.name.strip() and name.english for name in listed)


def test_catalogue_names_are_read(needs: Needs) -> None:
    needs.data("kg", "medquad/questions_without_answers.jsonl.gz", "languages/names.tsv.gz")
    known = open_for_questions()
    spanish, french = open_names(SPANISH), open_names(FRENCH)
    assert {name.language for name in spanish.names} == {"es"}
    assert (spanish.licence, {name.language for name in french.names}) == ("CC0 1.0", {"fr"})
    assert [source.title for source in known.foreign.sources] == ["Everyday names", spanish.title]
    everyday = open_names(EVERYDAY).names
    assert [name.english for name in everyday if find_concept(known, name) is None] == []
    medicines, (added,) = with_names(known, [french])
    (ibuprofen,) = {each.concept.concept_id for each in EntityResolver(medicines).resolve("ibuprofène", language="fr")}
    assert ibuprofen == EntityResolver(known).resolve("ibuprofen")[0].concept.concept_id
    assert added.source.names > 400


def test_names_are_completed_in_the_languages_given(added: tuple[KnowledgeBase, list[AddedNames]]) -> None:
    known = added[0]
    assert not Autocomplete(known).complete("schlagan")
    found = Autocomplete(known, ["de", "fr"]).complete("schlagan")
    assert [(each.name, each.matched) for each in found] == [("stroke", "Schlaganfall")]
    assert Autocomplete(known, ["de", "fr"]).complete("vasculaire")[0].matched == "accident vasculaire cérébral"
    assert not Autocomplete(known, ["de"]).complete("vasculaire")

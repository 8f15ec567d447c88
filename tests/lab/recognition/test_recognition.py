"""Entities: the back ends, their union, placeholders and labels."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.concepts import Concept, KnowledgeBase
from auscult.documents import Document, Section, build_document
from auscult.errors import ConfigError, DataError, MissingExtraError, ModelError
from auscult_lab.recognition import (
    DictionaryRecognizer,
    Entity,
    EntityRecognizer,
    GlinerRecognizer,
    SpacyRecognizer,
    UnionRecognizer,
    own_headings,
    placeholders,
    read_entities,
)
from auscult_lab.recognition.entity import Covered
from needs import Needs

KNOWLEDGE = KnowledgeBase(
    (
        Concept("X:1", "chest pain"),
        Concept("X:2", "asthma", synonyms=("bronchial asthma",)),
        Concept("X:3", "nausea"),
        Concept("X:4", "breast cancer"),
        Concept("X:5", "fever"),
        Concept("X:6", "allergic reaction", synonyms=("allergies",)),
        Concept("DOID:6000", "congestive heart failure", synonyms=("CHF",)),
        Concept("DOID:0051061", "stroke"),
    )
)
DICTIONARY = DictionaryRecognizer(KNOWLEDGE)


class Words:
    """Finds given words; a recogniser of the smallest kind, to test what stands above recognisers."""

    def __init__(self, name: str, *words: str, concept_id: str = "", kind: str = "") -> None:
        self.name, self._words, self._concept, self._kind = name, words, concept_id, kind

    def recognise(self, text: str) -> list[Entity]:
        places = [(text.find(word), word) for word in self._words]
        return [
            Entity(at, at + len(word), word, self._concept, self._kind, (self.name,))
            for at, word in sorted(places)
            if at >= 0
        ]

    def recognise_many(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        return map(self.recognise, texts)


def ruler() -> SpacyRecognizer:
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler", config={"phrase_matcher_attr": "LOWER"}).add_patterns(
        [
            {"label": "PROBLEM", "pattern": "severe chest pain"},
            {"label": "PROBLEM", "pattern": "asthma", "id": "SNOMED:195967001"},
            {"label": "DRUG", "pattern": [{"LOWER": "aspirin"}]},
        ]
    )
    return SpacyRecognizer(nlp, knowledge=KNOWLEDGE)


def note(*sections: tuple[str, str]) -> Document:
    return build_document(doc_id="n1", title="", sections=[Section(heading, text) for heading, text in sections])


@pytest.fixture(scope="module")
def spacy_recognizer() -> SpacyRecognizer:
    return ruler()


# --- back ends -------------------------------------------------------------------------------------------------------


def test_every_back_end_keeps_the_protocol(spacy_recognizer: SpacyRecognizer) -> None:
    for recognizer in (DICTIONARY, spacy_recognizer, UnionRecognizer([DICTIONARY, spacy_recognizer])):
        assert isinstance(recognizer, EntityRecognizer)
        texts = ["Severe chest pain.", "", "No asthma; aspirin."]
        assert list(recognizer.recognise_many(texts)) == [recognizer.recognise(text) for text in texts]


def test_the_dictionary_reads_names_and_clinical_abbreviations() -> None:
    entities = DICTIONARY.recognise("Bronchial asthma and CHF, no CVA tenderness; prior CVA. PE: chest Pain.")
    assert [(entity.name, entity.concept_id) for entity in entities] == [
        ("Bronchial asthma", "X:2"),
        ("CHF", "DOID:6000"),
        ("CVA", "DOID:0051061"),
        ("chest Pain", "X:1"),
    ]
    assert all(entity.found_by == ("dictionary",) for entity in entities)


def test_dictionary_skips_lone_abbreviations_in_general_text() -> None:
    assert DictionaryRecognizer(KNOWLEDGE, clinical=False).recognise("CHF and CVA") == []


def test_a_spacy_pipeline_gives_classes_and_concepts(spacy_recognizer: SpacyRecognizer) -> None:
    found = spacy_recognizer.recognise("Severe chest pain, asthma, aspirin.")
    assert [(entity.name, entity.kind, entity.concept_id) for entity in found] == [
        ("Severe chest pain", "PROBLEM", ""),
        ("asthma", "PROBLEM", "SNOMED:195967001"),
        ("aspirin", "DRUG", ""),
    ]


def test_unlinked_spacy_entities_are_linked_by_name() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PROBLEM", "pattern": "chest pain"}])
    assert SpacyRecognizer(nlp, knowledge=KNOWLEDGE).recognise("chest pain")[0].concept_id == "X:1"
    assert SpacyRecognizer(nlp).recognise("chest pain")[0].concept_id == ""


def test_a_spacy_pipeline_opens_from_its_folder(tmp_path: Path, spacy_recognizer: SpacyRecognizer) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PROBLEM", "pattern": "gout"}])
    nlp.to_disk(tmp_path / "pipeline")
    opened = SpacyRecognizer(tmp_path / "pipeline")
    assert [entity.name for entity in opened.recognise("He has gout.")] == ["gout"]


@pytest.mark.parametrize("content", [None, "{}"])
def test_a_pipeline_that_is_none_is_named(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "meta.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match="a spaCy pipeline called") as caught:
        SpacyRecognizer(tmp_path if content else "no_such_pipeline")
    assert "\n" not in str(caught.value)


def test_a_pipeline_with_an_unknown_component_is_named(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path)
    config = (tmp_path / "config.cfg").read_text(encoding="utf-8")
    config = config.replace("pipeline = []", 'pipeline = ["odd"]') + '\n[components.odd]\nfactory = "no_such_factory"\n'
    (tmp_path / "config.cfg").write_text(config, encoding="utf-8")
    with pytest.raises(ModelError, match="none that opens"):
        SpacyRecognizer(tmp_path)


def test_text_too_long_for_a_pipeline_is_refused(spacy_recognizer: SpacyRecognizer) -> None:
    with pytest.raises(DataError, match="at most 1,000,000 characters"):
        spacy_recognizer.recognise("a " * 500_001)


@pytest.mark.parametrize(
    ("package", "deed"),
    [
        ("spacy", lambda: SpacyRecognizer("en_core_sci_sm")),
        ("gliner", lambda: GlinerRecognizer("some/model")),
    ],
)
def test_a_missing_package_names_its_extra(package: str, deed: object, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    assert callable(deed)
    with pytest.raises(MissingExtraError, match=f"'{package}'.*\\[{'gliner' if package == 'gliner' else 'ner'}"):
        deed()


def test_medspacy_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "medspacy", None)
    with pytest.raises(ModelError, match="pip install medspacy"):
        SpacyRecognizer("medspacy")


@pytest.mark.parametrize("options", [{"labels": []}, {"threshold": 0.0}, {"threshold": 1.5}])
def test_gliner_refuses_options_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        GlinerRecognizer("some/model", **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def tiny_gliner(tmp_path_factory: pytest.TempPathFactory, needs: Needs) -> Path:
    """A GLiNER of one random layer, made here: what it finds means nothing, how it is given back does."""
    needs.package("gliner")
    import torch
    from gliner import GLiNER, GLiNERConfig
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("gliner")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "patient", "has", "no", "fever", "chest", "pain", "."]
    plain = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, words[1]))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    marks = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    PreTrainedTokenizerFast(tokenizer_object=plain, **marks).save_pretrained(folder / "encoder")
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(words), **shape)).save_pretrained(folder / "encoder")
    config = GLiNERConfig(
        model_name=str(folder / "encoder"), hidden_size=32, max_width=4, max_len=64, span_mode="markerV0"
    )
    GLiNER.from_config(config).save_pretrained(folder / "model")
    return folder / "model"


def test_gliner_entities_slice_back_sentence_by_sentence(tiny_gliner: Path) -> None:
    recognizer = GlinerRecognizer(tiny_gliner, ["disease", "symptom"], threshold=0.01, batch_size=2)
    texts = ["The patient has fever.  No chest pain.\n\nNo cough and fever.", "", "fever", " "]
    recognised = list(recognizer.recognise_many(texts))
    assert recognised[0]
    assert recognised[2]
    assert recognised[1] == recognised[3] == []
    for text, entities in zip(texts, recognised, strict=True):
        assert all(text[entity.start : entity.end] == entity.name for entity in entities)
        assert all(entity.kind in ("disease", "symptom") for entity in entities)
        assert all(one.end <= other.start for one, other in pairwise(entities))
    assert GlinerRecognizer(tiny_gliner, ["disease"], threshold=0.999).recognise(texts[0]) == []


def test_a_gliner_model_that_is_none_is_named(tmp_path: Path, needs: Needs) -> None:
    needs.package("gliner")
    with pytest.raises(ModelError, match="a GLiNER model called"):
        GlinerRecognizer(tmp_path)


def test_union_keeps_longest_entities_and_their_finders(spacy_recognizer: SpacyRecognizer) -> None:
    union = UnionRecognizer([spacy_recognizer, DICTIONARY])
    found = union.recognise("Severe chest pain and asthma with nausea.")
    name = spacy_recognizer.name
    assert [(entity.name, entity.concept_id, entity.found_by) for entity in found] == [
        ("Severe chest pain", "", (name,)),
        ("asthma", "SNOMED:195967001", (name, "dictionary")),
        ("nausea", "X:3", ("dictionary",)),
    ]
    assert union.name == f"{name}+dictionary"


def test_union_completes_entities_from_each_other() -> None:
    union = UnionRecognizer([Words("a", "gout", kind="PROBLEM"), Words("b", "gout", concept_id="X:9")])
    assert union.recognise("gout") == [Entity(0, 4, "gout", "X:9", "PROBLEM", ("a", "b"))]


def test_a_union_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError):
        UnionRecognizer([])


def fragments() -> st.SearchStrategy[str]:
    piece = st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            ["chest pain", "CHF", "asthma", " no ", "severe chest pain", "[**2101**]", "\n", "\ud800", "İ"]
        ),
    )
    return st.lists(piece, max_size=12).map("".join)


@settings(deadline=None)
@given(fragments())
def test_offsets_slice_back_whatever_the_text(text: str) -> None:
    for recognizer in (DICTIONARY, RULER, UnionRecognizer([RULER, DICTIONARY])):
        found = recognizer.recognise(text)
        assert all(text[entity.start : entity.end] == entity.name != "" for entity in found)
        assert all(one.end <= other.start for one, other in pairwise(found))


RULER = ruler()


# --- placeholders and headings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mark",
    [
        "[**2101-3-4**]",
        "[**Hospital1 18**]",
        "___",
        "[REDACTED]",
        "[PATIENT NAME]",
        "<DATE>",
        "<<NAME>>",
        "XXXX",
        "****",
    ],
)
def test_placeholders_are_found(mark: str) -> None:
    text = f"Seen on {mark} for pain."
    assert [text[start:end] for start, end in placeholders(text)] == [mark]


@pytest.mark.parametrize("text", ["pain <3 and >2", "a [sic] b", "snake_case", "x < y", "[1]", "WBC [H] 12", "** no"])
def test_what_is_no_placeholder_is_let_be(text: str) -> None:
    assert placeholders(text) == []


def test_entities_in_placeholders_and_headings_are_none() -> None:
    document = note(
        ("Allergies", "Allergies: Fever after [**Name (Asthma) 4**] in <ASTHMA>. Asthma."),
        ("Fever", "Fever is low."),
    )
    names = [[entity.name for entity in row] for row in read_entities(document, DICTIONARY, with_contexts=False)]
    assert [name for row in names for name in row] == ["Fever", "Asthma", "Fever"]
    assert [document.text[start:end] for start, end in own_headings(document)] == ["Allergies"]


def test_a_numbered_heading_is_known_too() -> None:
    document = note(("Chief complaint:", "2. CHIEF COMPLAINT:\nChest pain"))
    assert [document.text[start:end] for start, end in own_headings(document)] == ["CHIEF COMPLAINT"]


# --- documents -------------------------------------------------------------------------------------------------------


def test_each_entity_in_a_sentence_has_own_contexts() -> None:
    (row,) = read_entities(note(("", "No fever or nausea but chest pain.")), DICTIONARY)
    assert [(entity.name, set(entity.contexts)) for entity in row] == [
        ("fever", {"negated"}),
        ("nausea", {"negated"}),
        ("chest pain", set()),
    ]


def test_entities_crossing_a_sentence_end_are_dropped() -> None:
    document = note(("", "It is gout. Pain follows."))
    assert read_entities(document, Words("w", "gout. Pain"), with_contexts=False) == ((), ())


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(["", "Allergies", "Fever"]), fragments()), max_size=4))
def test_document_entities_slice_back_within_their_sentence(sections: list[tuple[str, str]]) -> None:
    document = note(*sections)
    rows = read_entities(document, DICTIONARY, with_contexts=False)
    assert len(rows) == len(document.sentences)
    for sentence, row in zip(document.sentences, rows, strict=True):
        for entity in row:
            assert document.text[entity.start : entity.end] == entity.name
            assert sentence.start <= entity.start < entity.end <= sentence.end


# --- on the shared data ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_entities_of_real_notes(needs: Needs) -> None:
    needs.data("kg", "clinical_notes/aci_bench.jsonl.gz")
    from auscult.concepts.opening import open_knowledge_base
    from auscult_lab.corpora.opening import open_corpus

    recognizer = DictionaryRecognizer(open_knowledge_base())
    assert [e.name for e in recognizer.recognise("Pt with COPD, HTN and IgA nephropathy.")] == [
        "COPD",
        "HTN",
        "IgA nephropathy",
    ]
    documents = list(open_corpus("aci-bench").documents())[:60]
    entities = [e for document in documents for row in read_entities(document, recognizer) for e in row]
    negated = sum("negated" in entity.contexts for entity in entities) / len(entities)
    # Measured on all shared notes: 0.30 of the mentions are negated.
    assert len(entities) > 500
    assert 0.1 < negated < 0.5


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6))), st.integers(0, 40), st.integers(1, 6))
def test_covered_characters_are_those_of_the_ranges(pairs: list[tuple[int, int]], start: int, length: int):
    spans = [(first, first + size) for first, size in pairs]
    touched = any(first < start + length and start < end for first, end in spans)
    assert Covered(spans).touches(start, start + length) is touched

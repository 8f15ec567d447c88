"""From words to concepts: spelling, misspelling, running text, completion."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.concepts import Autocomplete, Concept, EntityResolver, KnowledgeBase, MentionLinker, normalise_name
from auscult.concepts.mentions import fold
from auscult.concepts.names import abbreviations
from needs import Needs
from places import DATA

TAXONOMIES = DATA / "concepts"


@pytest.fixture(scope="module")
def small() -> KnowledgeBase:
    names = ("small.obo", "entities.tsv", "triples.tsv", "codes.tsv")
    return KnowledgeBase.from_files([TAXONOMIES / name for name in names])


@pytest.fixture(scope="module")
def resolver(small: KnowledgeBase) -> EntityResolver:
    return EntityResolver(small)


@pytest.fixture(scope="module")
def linker(small: KnowledgeBase) -> MentionLinker:
    return MentionLinker(small)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Crohn's disease", "crohn\u2019s Disease"),
        ("Crohns disease", "Crohn's disease"),
        ("leukaemias", "leukemia"),
        ("oesophageal cancer", "esophageal cancer"),
        ("diarrhoea", "diarrhea"),
        ("Sj\u00f6gren syndrome", "Sjogren syndrome"),
        ("X-linked", "x linked"),
        ("type II", "type 2"),
        ("stage I", "stage 1"),
        ("stroke", "strokes"),
    ],
)
def test_one_key_for_two_spellings(one: str, other: str) -> None:
    assert normalise_name(one) == normalise_name(other)


@pytest.mark.parametrize(
    ("one", "other"), [("type 2", "type 1"), ("hepatitis B", "hepatitis C"), ("AIDS", "aid"), ("i", "1")]
)
def test_two_keys_for_two_names(one: str, other: str) -> None:
    assert normalise_name(one) != normalise_name(other)


@pytest.mark.parametrize(
    ("text", "concept_id", "kind"),
    [
        ("DOID:5844", "DOID:5844", "identifier"),
        ("umls:c0027051", "DOID:5844", "identifier"),
        ("Q1363684", "DOID:2986", "identifier"),
        ("ICD10:E11", "DOID:9352", "identifier"),
        ("Myocardial Infarction", "DOID:5844", "name"),
        ("heart attack", "DOID:5844", "synonym"),
        ("heart attacks", "DOID:5844", "synonym"),
        ("leukaemia, acute", "DOID:12603", "name"),
        ("haemophilia a", "DOID:12134", "synonym"),
        ("type 2 diabetes", "DOID:9352", "name"),
        ("Alzheimers", "DOID:10652", "name"),
        ("spastic paraplegia type 8", "DOID:0110823", "synonym"),
        ("alzhimers", "DOID:10652", "fuzzy"),
        ("siroris of the liver", "DOID:5082", "fuzzy"),
        ("hart attack", "DOID:5844", "fuzzy"),
        ("hypothiroidism", "DOID:1459", "fuzzy"),
        ("hyperthiroidism", "DOID:7998", "fuzzy"),
    ],
)
def test_resolve(resolver: EntityResolver, text: str, concept_id: str, kind: str) -> None:
    best = resolver.resolve(text)[0]
    assert (best.concept.concept_id, best.kind) == (concept_id, kind)
    assert 0 < best.score <= 1


@pytest.mark.parametrize("text", ["", "???", "hello world", "spastic paraplegia 9", "DOID:123456", "ibuprofen"])
def test_resolve_nothing(resolver: EntityResolver, text: str) -> None:
    assert resolver.resolve(text) == []
    assert resolver.best(text) is None


def test_a_number_is_never_misspelt(resolver: EntityResolver) -> None:
    for number in [*map(str, range(1, 20)), "II", "XI", "8a"]:
        matches = resolver.resolve(f"spastik paraplegia {number}")
        expected = {"8": {"DOID:0110823"}, "11": {"DOID:0110764"}, "XI": {"DOID:0110764"}}.get(number, set())
        assert {match.concept.concept_id for match in matches} == expected


def test_a_contrary_word_is_never_misspelt(resolver: EntityResolver) -> None:
    assert [match.concept.concept_id for match in resolver.resolve("hypothiroidism")] == ["DOID:1459"]


def test_an_abbreviation_means_the_common_disease() -> None:
    known = KnowledgeBase(
        [Concept("DOID:8683", "myeloid sarcoma", ("MS",)), Concept("DOID:2377", "multiple sclerosis")]
    )
    matches = EntityResolver(known).resolve("MS")
    assert [(m.concept.name, m.matched_name, m.kind) for m in matches] == [
        ("multiple sclerosis", "MS", "synonym"),
        ("myeloid sarcoma", "MS", "synonym"),
    ]
    without = KnowledgeBase([Concept("DOID:8683", "myeloid sarcoma", ("MS",))])
    assert EntityResolver(without).best("MS").concept.name == "myeloid sarcoma"  # type: ignore[union-attr]


def test_abbreviations_are_no_mentions(linker: MentionLinker) -> None:
    assert EntityResolver(KnowledgeBase([Concept("DOID:5844", "myocardial infarction")])).best("MI") is not None
    assert linked(linker, "MI, or MS, after an STI") == []
    assert [name for name, _ in linked(linker, "a heart attack (MI)")] == ["heart attack"]


def test_limit_and_distinct_concepts(resolver: EntityResolver) -> None:
    matches = resolver.resolve("hyprthyroidism", limit=1)
    assert len(matches) == 1
    ids = [match.concept.concept_id for match in resolver.resolve("hyprthyroidism", limit=9)]
    assert len(ids) == len(set(ids)) == 2


def test_a_wider_icd_code(resolver: EntityResolver) -> None:
    best = resolver.resolve("ICD-10 G30.9")[0]
    assert (best.concept.concept_id, best.matched_name, best.score) == ("DOID:10652", "ICD10:G30", 0.9)


def linked(linker: MentionLinker, text: str) -> list[tuple[str, str]]:
    mentions = linker.link_text(text)
    for mention in mentions:
        assert text[mention.start : mention.end] == mention.name
    return [(mention.name, mention.concept_id) for mention in mentions]


def test_longest_mention_wins(linker: MentionLinker) -> None:
    text = "Acute leukaemias, unlike Leukemia, are no HEART\nATTACK."
    assert linked(linker, text) == [
        ("Acute leukaemias", "DOID:12603"),
        ("Leukemia", "DOID:1240"),
        ("HEART\nATTACK", "DOID:5844"),
    ]


def test_word_boundaries_and_punctuation(linker: MentionLinker) -> None:
    assert linked(linker, "headaches; (headache) pre-headache painful") == [
        ("headaches", "SYMP:0000504"),
        ("headache", "SYMP:0000504"),
        ("headache", "SYMP:0000504"),
    ]
    # A full stop ends a name.
    assert linked(linker, "It is the heart. Attack is the best defence.") == []


def test_spellings_in_text(linker: MentionLinker) -> None:
    assert [concept_id for _, concept_id in linked(linker, "Alzheimer\u2019s disease, Alzheimers disease")] == [
        "DOID:10652",
        "DOID:10652",
    ]
    assert linked(linker, "hemophilia A and type II diabetes mellitus") == [
        ("hemophilia A", "DOID:12134"),
        ("type II diabetes mellitus", "DOID:9352"),
    ]


def test_acronyms_match_as_written(linker: MentionLinker) -> None:
    assert linked(linker, "AIDS, not visual aids or an AD") == [("AIDS", "DOID:635")]
    # Three letters need the full name somewhere in the text.
    assert linked(linker, "ALS is short.") == []
    assert [name for name, _ in linked(linker, "ALS means amyotrophic lateral sclerosis.")] == [
        "ALS",
        "amyotrophic lateral sclerosis",
    ]


def test_class_words_are_no_mentions(linker: MentionLinker) -> None:
    assert linked(linker, "a disease, a disorder") == []


def test_lowered_acronyms_are_no_words() -> None:
    linker = MentionLinker(
        KnowledgeBase([Concept("DOID:3125", "multiple endocrine neoplasia", ("mend",)), Concept("DOID:1", "lupus")])
    )
    assert linked(linker, "mend and lupus") == [("lupus", "DOID:1")]
    assert linked(linker, "MEND") == [("MEND", "DOID:3125")]


def test_an_ambiguous_synonym_means_the_wider_concept() -> None:
    wide = Concept("DOID:1", "wide thing", ("shared words", "clash words"))
    narrow = Concept("DOID:2", "narrow thing", ("shared words",), parents=("DOID:1",))
    other = Concept("DOID:3", "other thing", ("clash words",))
    assert linked(MentionLinker(KnowledgeBase([narrow, wide, other])), "shared words, clash words") == [
        ("shared words", "DOID:1")
    ]


_PIECES = st.one_of(
    st.sampled_from(
        ["heart attack", "Leukaemia", "ALS", "\u0130", "\u1e9e", "\u0345", "\ufb03", "\n", ". ", "'s ", "-"]
    ),
    st.text(max_size=12),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=20).map("".join))
def test_offsets_slice_back_for_any_text(linker: MentionLinker, text: str) -> None:
    assert len(fold(text)) == len(text)
    last = 0
    for mention in linker.link_text(text):
        assert last <= mention.start < mention.end
        assert text[mention.start : mention.end] == mention.name
        last = mention.end


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30))
def test_resolving_and_completing_never_fail(small: KnowledgeBase, resolver: EntityResolver, text: str) -> None:
    for match in resolver.resolve(text):
        assert match.concept.concept_id in small.concepts or match.concept.concept_id in small.codes
    assert normalise_name(normalise_name(text)) == normalise_name(text) or normalise_name(text)


def test_complete(small: KnowledgeBase) -> None:
    complete = Autocomplete(small).complete
    assert [c.matched for c in complete("heart")] == ["heart disease", "heart attack"]
    assert [c.concept_id for c in complete("INFARC")] == ["DOID:5844"]
    assert complete("leuk")[0].name == "leukemia"
    assert [c.name for c in complete("leukemia")][:2] == ["leukemia", "acute leukemia"]
    assert complete("haemo")[0].name == "factor VIII deficiency"
    assert complete("") == complete("!?") == complete("zzz") == []
    assert len(complete("a", limit=2)) == 2


def test_completion_agrees_with_a_plain_search(small: KnowledgeBase) -> None:
    complete = Autocomplete(small).complete
    for prefix in ("a", "h", "sp", "pain", "disease", "type", "type 2 d", "dis", "spastic paraplegia 1"):
        expected = {
            concept.concept_id
            for concept in small
            for name in concept.names
            if any(" ".join(fold(name).split()[i:]).startswith(prefix) for i in range(len(fold(name).split())))
        }
        assert {c.concept_id for c in complete(prefix, limit=1000)} == expected


@pytest.fixture(scope="module")
def real(taxonomies: KnowledgeBase) -> EntityResolver:
    return EntityResolver(taxonomies)


@pytest.fixture(scope="module")
def real_linker(taxonomies: KnowledgeBase) -> MentionLinker:
    return MentionLinker(taxonomies)


class TestRealTaxonomies:
    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("heart attack", "myocardial infarction"),
            ("hart attack", "myocardial infarction"),
            ("MI", "myocardial infarction"),
            ("ms", "multiple sclerosis"),
            ("IBS", "irritable bowel syndrome"),
            ("CKD", "chronic kidney disease"),
            ("STD", "sexually transmitted disease"),
            ("IgA nephropathy", "IgA glomerulonephritis"),
            ("UMLS:C0017661", "IgA glomerulonephritis"),
            ("diabetis", "diabetes mellitus"),
            ("alzhimers", "Alzheimer's disease"),
            ("siroris of the liver", "liver cirrhosis"),
            ("newmonia", "pneumonia"),
            ("leukemia, acute", "acute leukemia"),
            ("diabetes mellitus, type 2", "type 2 diabetes mellitus"),
            ("hypertension, essential", "essential hypertension"),
            ("osteoperosis", "osteoporosis"),
            ("bowel cancer", "colorectal cancer"),
            ("spastic paraplegia 8", "hereditary spastic paraplegia 8"),
        ],
    )
    def test_resolve(self, real: EntityResolver, text: str, name: str) -> None:
        best = real.best(text)
        assert best is not None
        assert best.concept.name == name

    def test_abbreviations_mean_one_concept_and_no_others_name(
        self, taxonomies: KnowledgeBase, real: EntityResolver
    ) -> None:
        for key, concept_id in abbreviations().items():
            best = real.best(key)
            assert best is not None
            assert best.concept.concept_id == concept_id
            assert best.kind == "synonym"
            assert not [c for c in taxonomies.by_name(key) if normalise_name(c.name) == key], key

    def test_mentions(self, taxonomies: KnowledgeBase, real_linker: MentionLinker) -> None:
        text = "Most men who had a heart attack also had high blood pressure, type II diabetes or COPD."
        assert [taxonomies.concepts[m.concept_id].name for m in real_linker.link_text(text)] == [
            "myocardial infarction",
            "hypertension",
            "type 2 diabetes mellitus",
            "chronic obstructive pulmonary disease",
        ]


@pytest.mark.parametrize(
    "text",
    [
        "What are the treatments for leukaemia in children?",
        "Alzheimers disease and type II diabetes",
        "metastases, headaches and a heart attack",
        "nothing that has a name",
        "MI after AIDS (acquired immunodeficiency syndrome)",
    ],
)
def test_short_text_linker_agrees_with_the_full_one(small: KnowledgeBase, linker: MentionLinker, text: str) -> None:
    assert MentionLinker.of_short_text(small, text).link_text(text) == linker.link_text(text)


def test_on_real_questions_too(taxonomies: KnowledgeBase, real_linker: MentionLinker, needs: Needs) -> None:
    with gzip.open(needs.file("medquad/queries_train.jsonl.gz"), "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines][::250]
    mentions = [real_linker.link_text(text) for text in texts]
    assert sum(map(bool, mentions)) > len(texts) / 2
    assert [MentionLinker.of_short_text(taxonomies, text).link_text(text) for text in texts] == mentions


def test_resolvers_of_equal_names_share_the_misspelling_index(small: KnowledgeBase) -> None:
    first, second = EntityResolver(small), EntityResolver(small)
    second.reuse_names(first)
    assert second._built is None, "the first has built nothing yet"
    found = first.resolve("nefropathy of IgA type")
    second.reuse_names(first)
    assert second._built is first._built
    assert second.resolve("nefropathy of IgA type") == found
    other = EntityResolver(KnowledgeBase([*small.concepts.values(), Concept("X:1", "zorbic fever")]))
    other.reuse_names(first)
    assert other._built is None
    assert other.best("zorbik fever").concept.concept_id == "X:1"  # type: ignore[union-attr]

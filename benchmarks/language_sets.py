"""The sets of `languages.py`: documents in French or Spanish, and questions in several languages with right passages.

    leaflets_fr   300 French package leaflets; questions in French, English, German and Spanish
    leaflets_es   62 Spanish leaflets and summaries; questions in Spanish and English
    frwiki        the articles of the French Wikipedia that `multilingual` has not learned from; French and English
    casimedicos   doctors' explanations of exam cases in Spanish; the cases of the part "dev" in Spanish, English and
                  French

A question of another language has the same right passages as the one in the documents' own. All sets are for choosing
and measuring, never for training.
"""

from __future__ import annotations

import gzip
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from auscult.catalogue import data_dir
from auscult.documents import Document
from auscult.documents.building import build_document
from auscult.files.records import Record, read_many
from auscult.understanding import Query
from study.shipped.multilingual_texts import LEARNED_HALF, sections_of
from study.shipped.written import half_of

FOLDER: Final = "languages"
SEED: Final = 0
SETS: Final[Mapping[str, tuple[str, str]]] = {
    "leaflets_fr": ("leaflets_fr_dev", "fr"),
    "leaflets_es": ("leaflets_es_dev", "es"),
    "frwiki": ("frwiki_dev", "fr"),
    "casimedicos": ("casimedicos", "es"),
}
"""Folder and language of the documents of each set."""
ASPECTS: Final[Mapping[str, Mapping[str, str]]] = {
    "what": {"fr": "indications", "en": "uses", "de": "Anwendungsgebiete", "es": "indicaciones"},
    "contra": {
        "fr": "contre-indications", "en": "contraindications", "de": "Gegenanzeigen", "es": "contraindicaciones",
    },
    "warn": {"fr": "précautions", "en": "precautions", "de": "Vorsichtsmaßnahmen", "es": "precauciones"},
    "inter": {"fr": "interactions", "en": "interactions", "de": "Wechselwirkungen", "es": "interacciones"},
    "preg": {"fr": "grossesse", "en": "pregnancy", "de": "Schwangerschaft", "es": "embarazo"},
    "drive": {"fr": "conduite automobile", "en": "driving", "de": "Autofahren", "es": "conducir"},
    "dose": {"fr": "posologie", "en": "dosage", "de": "Dosierung", "es": "posología"},
    "forget": {"fr": "oubli d'une dose", "en": "missed dose", "de": "vergessene Dosis", "es": "dosis olvidada"},
    "over": {"fr": "surdosage", "en": "overdose", "de": "Überdosierung", "es": "sobredosis"},
    "side": {"fr": "effets secondaires", "en": "side effects", "de": "Nebenwirkungen", "es": "efectos secundarios"},
    "store": {"fr": "conservation", "en": "storage", "de": "Aufbewahrung", "es": "conservación"},
    "contain": {"fr": "composition", "en": "ingredients", "de": "Zusammensetzung", "es": "composición"},
}  # fmt: skip
"""Names of the aspects that leaflets are asked for, as a person would type them."""
KNOWN: Final[Mapping[str, Collection[str]]] = {
    "what": {"uses"}, "contra": {"contraindications"}, "warn": {"warnings"}, "inter": {"interactions"},
    "preg": {"pregnancy and breastfeeding", "pregnancy"}, "drive": {"alcohol and driving"}, "dose": {"dosage"},
    "forget": {"missed dose"}, "over": {"overdose"}, "side": {"side effects"}, "store": {"storage"},
    "contain": {"ingredients"}, "cause": {"causes"}, "symptom": {"symptoms"}, "treat": {"treatment"},
    "epi": {"frequency"}, "prev": {"prevention"}, "diag": {"diagnosis"}, "prog": {"prognosis"},
}  # fmt: skip
"""What the encoders call these aspects, and those of encyclopedia articles."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in one language.

    Attributes:
        query_id: Identifier of the question.
        of: Identifier that is the same in all languages.
        lang: Its language.
        text: The question.
        entity: What it is about; empty if no field says so.
        aspect: Key of the aspect; empty if no field says so.
    """

    query_id: str
    of: str
    lang: str
    text: str
    entity: str
    aspect: str

    def in_words(self) -> Query:
        """Return the question as a query in words."""
        return Query(self.query_id, "", text=self.text)

    def as_pair(self) -> Query:
        """Return the question as a query by entity and aspect, in its language."""
        return Query(self.query_id, self.entity, (ASPECTS[self.aspect][self.lang],))


@dataclass(frozen=True, slots=True)
class LanguageSet:
    """Documents of one language with questions in several.

    Attributes:
        name: Name in tables.
        lang: Language of the documents.
        documents: The documents.
        questions: Questions whose right passages are in these documents, each in every language.
        right: Right passages of each question.
    """

    name: str
    lang: str
    documents: list[Document]
    questions: list[Asked]
    right: Mapping[str, Collection[str]]

    @property
    def languages(self) -> list[str]:
        """Languages of the questions, that of the documents first."""
        return sorted({each.lang for each in self.questions}, key=lambda lang: (lang != self.lang, lang))

    def asked_in(self, lang: str) -> list[Asked]:
        """Return the questions in one language, in the same order for each."""
        return [each for each in self.questions if each.lang == lang]


def read_set(name: str, documents: int | None = None, questions: int | None = None) -> LanguageSet:
    """Read a set, or a part of it.

    Args:
        name: A name of `SETS`.
        documents: Number of documents, drawn by chance; None for all.
        questions: Number of questions in each language, drawn by chance; None for all about these documents.
    """
    folder, lang = SETS[name]
    chance = random.Random(SEED)
    found = [each for each in _records(folder, "documents") if _is_in(name, each)]
    if documents is not None:
        chance.shuffle(found)
        found = found[:documents]
    built = [
        build_document(doc_id=each.text("doc_id"), title=each.text("title", ""), sections=sections_of(each))
        for each in found
    ]
    held = {passage.passage_id for document in built for passage in document.passages if passage.sentences}
    right = defaultdict[str, set[str]](set)
    with gzip.open(data_dir() / FOLDER / folder / "qrels.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            query_id, passage_id, grade = line.rstrip("\n").split("\t")
            if int(grade) > 0 and passage_id in held:
                right[query_id].add(passage_id)
    learned = {each.text("doc_id") for each in _records(folder, "documents") if each.text("split", "") == "train"}
    asked = [
        each for each in questions_of(folder)
        if each.query_id in right and each.query_id.removesuffix("-q") not in learned
    ]  # fmt: skip
    return LanguageSet(name, lang, built, _in_every_language(asked, questions, chance), right)


def questions_of(folder: str) -> list[Asked]:
    """Return all questions in the folder of a set."""
    return [*map(_asked, _records(folder, "queries"))]


def _is_in(name: str, record: Record) -> bool:
    if name == "frwiki":
        return half_of(record.text("doc_id")) != LEARNED_HALF
    return record.text("lang") == SETS[name][1]


def _asked(record: Record) -> Asked:
    query_id, lang = record.text("query_id"), record.text("lang")
    of = query_id.removesuffix("-q").removesuffix(f"-{lang}")
    return Asked(query_id, of, lang, record.text("text"), record.text("entity", ""), record.text("aspect", ""))


def _in_every_language(asked: list[Asked], most: int | None, chance: random.Random) -> list[Asked]:
    """Return questions that are asked in every language, at most some in each."""
    languages = {each.lang for each in asked}
    by_question = defaultdict[str, list[Asked]](list)
    for each in asked:
        by_question[each.of].append(each)
    whole = [forms for forms in by_question.values() if {each.lang for each in forms} == languages]
    if most is not None:
        chance.shuffle(whole)
    return [each for forms in whole[:most] for each in sorted(forms, key=lambda form: form.lang)]


def _records(folder: str, name: str) -> Iterator[Record]:
    yield from read_many([data_dir() / FOLDER / folder / f"{name}.jsonl.gz"])

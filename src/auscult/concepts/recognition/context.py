"""What a sentence says of an entity: ConText's rules (harkema2009), applied by negspaCy.

ConText generalises NegEx (chapman2001): phrases before or after an entity ("no", "was ruled out") set a property of
it as far as the sentence goes or a terminating phrase ("but"), unless they are part of a longer phrase that says
something else ("no increase"). negspaCy implements exactly that for one property; here it runs once for each, with
phrases of `context_rules.tsv`, written for this package after the two papers. Cost: five passes of a phrase matcher
over the sentence, thousands of sentences a second on one core (benchmarks/results/entity_recognition.json).

Departures from harkema2009: the temporal and the experiencer property are independent marks, so that one entity can be
negated and of the family; uncertainty is a fifth mark; there is no window of six tokens.

Of libraries, medspaCy's ConText and pyConTextNLP were weighed: medspaCy 1.3.1 pins spaCy < 3.8 and with it NumPy < 2,
pyConTextNLP has had no release since 2019.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, get_args

from auscult.concepts.recognition.entity import Context, Entity
from auscult.concepts.recognition.spacy_pipeline import blank_english
from auscult.documents.splitting import plain_characters
from auscult.errors import naming_extra

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

CONTEXTS: tuple[Context, ...] = get_args(Context)
_KEYS = {
    "pseudo": "pseudo_negations",
    "preceding": "preceding_negations",
    "following": "following_negations",
    "termination": "termination",
}
_SPANS = "auscult"


class ContextFilter:
    """Marks entities as negated, historical, of the family, hypothetical or uncertain.

    Raises:
        MissingExtraError: spaCy or negspaCy is not installed.
    """

    def __init__(self) -> None:
        self._nlp = blank_english()
        with naming_extra("ner", "negspacy"):
            from negspacy import negation
        self._rules = {
            context: negation.Negex(self._nlp, context, phrases, extension_name=_mark(context), span_keys=[_SPANS])
            for context, phrases in context_rules().items()
        }

    def mark(self, sentence: str, entities: Sequence[Entity]) -> list[Entity]:
        """The entities of one sentence, in order, with what it says of them as `contexts`.

        Args:
            sentence: One sentence; a rule reaches as far as the text.
            entities: Offsets are of this sentence.
        """
        if not entities:
            return []
        doc = self._read(sentence, entities)
        for rule in self._rules.values():
            rule(doc)
        return [
            replace(entity, contexts=frozenset(c for c in CONTEXTS if span._.get(_mark(c))))
            for entity, span in zip(entities, doc.spans[_SPANS], strict=True)
        ]

    def _read(self, sentence: str, entities: Iterable[Entity]) -> Doc:
        doc = self._nlp.make_doc(plain_characters(sentence))
        for token in doc:
            token.is_sent_start = token.i == 0
        doc.spans[_SPANS] = [_tokens(doc, entity) for entity in entities]
        return doc


@cache
def context_rules() -> Mapping[Context, dict[str, list[str]]]:
    """Context -> role of a phrase, as negspaCy calls it -> phrases; what ends all contexts is in each."""
    table = resources.files("auscult.concepts.recognition").joinpath("context_rules.tsv").read_text(encoding="utf-8")
    phrases: dict[str, dict[str, list[str]]] = defaultdict(lambda: {key: [] for key in _KEYS.values()})
    for row in csv.DictReader(table.splitlines(), delimiter="\t"):
        for context in CONTEXTS if row["context"] == "any" else (row["context"],):
            phrases[context][_KEYS[row["role"]]].append(row["phrase"])
    return {context: phrases[context] for context in CONTEXTS}


def _tokens(doc: Doc, entity: Entity) -> Span:
    # An entity may begin or end inside what the tokeniser takes for one token ("fever/chills").
    span = doc.char_span(entity.start, entity.end, alignment_mode="expand")
    if span is None:
        raise ValueError(f"{entity} lies outside of its sentence")
    return span


def _mark(context: Context) -> str:
    return f"auscult_{context}"

"""Variants of CK-HQA (wang2021, section 5.1.4): their names, and the pairs of them that answer the paper's questions.

A name is a ranking head and its additional inputs. B is context (an encoder's states of every layer), BC also the state
of [CLS], SC the same of a domain encoder. W is the vectors of a general knowledge graph, U those of a domain graph. The
head alone is the feature-based model. The paper's W is Wikidata, its U UMLS, its B BERT and its SC SciBERT; here each
letter names the kind. Two variants are not in the paper. NONE is a control: it has the layer that fuses context and
knowledge, but no linked entity. UM compares the domain graph's entities in a matrix of their own, instead of adding
them to tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

HEADS = ("KNRM", "PACRR", "DRMM-TKS")
_NAME = re.compile(r"(knrm|pacrr|drmm-?tks)(?:-(b|bc|sc))?(?:-(none|w|um|u))?")
_CONTEXTS, _GRAPHS = ("", "B", "BC", "SC"), ("", "NONE", "W", "U", "UM")


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant.

    Attributes:
        head: One of `HEADS`.
        given: Its additional inputs, as in its name: "", "W", "BC-U", "BC-NONE".
    """

    head: str
    given: str = ""

    @property
    def name(self) -> str:
        """The variant's name in the paper, except for the hyphen in DRMM-TKS."""
        return "-".join(part for part in (self.head, self.given) if part)

    @property
    def place(self) -> tuple[int, int, int]:
        """Sort key: by head, then by inputs, fewest first."""
        context, _, graph = self.given.rpartition("-") if self.given not in _CONTEXTS else (self.given, "", "")
        return HEADS.index(self.head), _CONTEXTS.index(context), _GRAPHS.index(graph)


@dataclass(frozen=True, slots=True)
class Question:
    """A question that differences between variants answer.

    Attributes:
        title: The question.
        pairs: Additional inputs of two variants of one head to compare, the one that should be better first.
    """

    title: str
    pairs: tuple[tuple[str, str], ...]


QUESTIONS = (
    Question("What does context add?", (("B", ""), ("BC", ""), ("BC", "B"))),
    Question("What does knowledge add?", (("W", ""), ("U", ""))),
    Question(
        "Does a domain graph, or a domain encoder, give more than a general one?",
        (("U", "W"), ("BC-U", "BC-W"), ("SC-U", "SC-W"), ("SC-W", "BC-W"), ("SC-U", "BC-U")),
    ),
    Question(
        "Do context and knowledge together give more than each alone?",
        (("BC-W", "BC"), ("BC-W", "W"), ("BC-U", "BC"), ("BC-U", "U")),
    ),
    Question("What does the fusion layer add without knowledge?", (("NONE", ""), ("BC-NONE", "BC"))),
    Question(
        "What does knowledge add to the fusion layer alone?",
        (("W", "NONE"), ("U", "NONE"), ("BC-W", "BC-NONE"), ("BC-U", "BC-NONE")),
    ),
    Question("Are entities better compared in a matrix of their own?", (("UM", ""), ("UM", "U"))),
)
"""The paper's four questions (section 5) in its order, then three that separate knowledge from how it is added.

The paper has no U alone. Here the second question includes it, and the third compares it with W.
"""


def variant_of(model: str) -> Variant | None:
    """Parse a variant from a model's name, up to its first blank, comma or bracket; None if it names none.

    Case is ignored, and so is the hyphen in DRMM-TKS.
    """
    match = _NAME.fullmatch(re.split(r"[ ,(]", model, maxsplit=1)[0].lower())
    if match is None:
        return None
    head, context, graph = match.groups(default="")
    given = "-".join(part.upper() for part in (context, graph) if part)
    return Variant("DRMM-TKS" if head.startswith("drmm") else head.upper(), given)


def planned_pairs(models: Iterable[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Return the pairs of models of an evaluation that answer the questions: variants of one head and one track.

    Args:
        models: Label, name and track of each model. Several of one variant ("KNRM-U (small graph)", "KNRM-U (large
            graph)") are all compared.

    Returns:
        Pairs of labels, the one that should be better first; each once.
    """
    named = [(label, variant, track) for label, name, track in models if (variant := variant_of(name)) is not None]
    pairs = [
        (label, other)
        for question in QUESTIONS
        for better, worse in question.pairs
        for label, variant, track in named
        if variant.given == better
        for other, against, its in named
        if (against, its) == (Variant(variant.head, worse), track)
    ]
    return list(dict.fromkeys(pairs))


__all__ = ["HEADS", "QUESTIONS", "Question", "Variant", "planned_pairs", "variant_of"]

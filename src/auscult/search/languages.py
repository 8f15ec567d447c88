"""What a probability means where question and passages are in languages that the model does not read.

The vectors of a model that reads English alone say little about a German question and an English passage, and so does
the probability that is computed from them: of 100 German questions over English evidence none had one above .5, though
the first hit answered 59. Such a hit has no probability, and people are told the reason instead.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from auscult.documents.language import detect_language
from auscult.documents.language_names import ENGLISH, language_name
from auscult.index.reader import GenerationReader
from auscult.search.hits import Hit

READ_ENGLISH: Final = frozenset({ENGLISH})


@dataclass(frozen=True, slots=True)
class LanguagesRead:
    """Tells which passages a model cannot compare with a question.

    Attributes:
        question: Code of the language of the question; empty where it is not sure.
        model: Codes of the languages that the model reads.
    """

    question: str = ""
    model: frozenset[str] = READ_ENGLISH

    @property
    def note(self) -> str:
        """The sentence for people that says why there are no probabilities, and what to do."""
        return say_unread(self.question, self.model)

    def lacks(self, reader: GenerationReader, row: int) -> bool:
        """Return whether a passage is in another language than the question, and the model does not read both.

        A language that is not sure is no other one.

        Args:
            reader: Of the index.
            row: Row of the passage.
        """
        if not self.question:
            return False
        passage = reader.languages.of(row)
        # Indexes of 0.1.0 have no languages. An English question is not made to wait for the classifier.
        if not passage and self.question != ENGLISH:
            passage = detect_language(reader.stored(row).text)
        return passage not in ("", self.question) and not {passage, self.question} <= self.model


def note_languages(question: str, model: Collection[str], hits: Sequence[Hit]) -> str:
    """Return the sentence that says why hits have no probability; empty where the model reads their languages.

    Args:
        question: Code of the language of the question.
        model: Codes of the languages that the model reads.
        hits: The hits that are shown.
    """
    return say_unread(question, model) if any(hit.unread for hit in hits) else ""


def say_unread(question: str, model: Collection[str]) -> str:
    """Return the sentence that says which languages a model does not read, and what to do."""
    asked, read, either = language_name(question) or "another language", _list_names(model), _list_names(model, "or")
    if question in model:
        return (
            f"Some hits are in a language that the model of this index does not read; it reads {read} only."
            " They have no probability: read them yourself, or leave them out by the field language."
        )
    return (
        f"The question is in {asked}, and the model of this index reads {read} only."
        f" So no probabilities are shown. Ask in {either}, or use an index in {asked}."
    )


def _list_names(codes: Collection[str], joined: str = "and") -> str:
    *others, last = sorted(language_name(code) for code in codes)
    return f"{', '.join(others)} {joined} {last}" if others else last

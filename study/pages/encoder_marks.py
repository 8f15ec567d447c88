"""Marks after the names of models for the encoders that they began with, and the paragraph that explains them."""

from __future__ import annotations

from collections.abc import Iterable

from auscult_lab.evaluation.pre_trained import Encoder, encoders_of
from auscult_lab.evaluation.records import EvaluationRecord

_MARKS = "¹²³⁴⁵⁶⁷⁸⁹"


class EncoderMarks:
    """The marks of a page: one for each encoder, and each way that it came to a model.

    A column would have the same words in every row.

    Args:
        records: Of the page.
    """

    def __init__(self, records: Iterable[EvaluationRecord]) -> None:
        encoders = dict.fromkeys(each for record in records for each in encoders_of(record.training))
        self._marks: dict[Encoder, str] = {
            each: _MARKS[number] if number < len(_MARKS) else f" ({number + 1})" for number, each in enumerate(encoders)
        }

    def of(self, record: EvaluationRecord) -> str:
        """Return the marks after a model's name; empty for a model without an encoder."""
        return "".join(self._marks.get(encoder, "") for encoder in encoders_of(record.training))

    def paragraph(self) -> str:
        """Return the explanation of the marks and of the encoders; empty without marks."""
        if not self._marks:
            return ""
        marked = "; ".join(f"{mark} {encoder}" for encoder, mark in self._marks.items())
        unknown = dict.fromkeys(encoder.name for encoder in self._marks if not encoder.training_known)
        sentences = [f"Models began with encoders: {marked}."]
        sentences += [
            f"{name}'s training is not known in full: zero-shot models that began with it are [pre-trained "
            "retrievers](../explanation/evaluation.md#tracks)."
            for name in unknown
        ]
        return " ".join(sentences) + "\n"

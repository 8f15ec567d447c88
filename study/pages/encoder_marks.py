"""Marks behind the names of models for the encoders that these began with, and what is said of them once a page."""

from __future__ import annotations

from collections.abc import Iterable

from auscult_lab.evaluation.pre_trained import Encoder, encoders_of
from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.modules.encoder_identity import KNOWN

_MARKS = "¹²³⁴⁵⁶⁷⁸⁹"


class EncoderMarks:
    """A mark for each encoder, and each way that it came to a model, of a page.

    A column would say the same words in every row.

    Args:
        records: Of the page.
    """

    def __init__(self, records: Iterable[EvaluationRecord]) -> None:
        encoders = dict.fromkeys(each for record in records for each in encoders_of(record.training))
        self._marks: dict[Encoder, str] = {
            each: _MARKS[number] if number < len(_MARKS) else f" ({number + 1})" for number, each in enumerate(encoders)
        }

    def of(self, record: EvaluationRecord) -> str:
        """What stands behind a model's name; empty for one without an encoder."""
        return "".join(self._marks.get(each, "") for each in encoders_of(record.training))

    def paragraph(self) -> str:
        """What the marks mean, and what is known of these encoders; empty where there is none."""
        if not self._marks:
            return ""
        marked = "; ".join(f"{mark} {encoder}" for encoder, mark in self._marks.items())
        unknown = dict.fromkeys((each.name, each.sha256) for each in self._marks if not each.training_known)
        told = [f"Models began with encoders: {marked}."]
        for name, digest in unknown:
            known = f" ({KNOWN[digest].learned_from})" if digest in KNOWN else ""
            told.append(
                f"What {name} was trained on is not known in full{known}: zero-shot models that began with it are "
                "*pre-trained retrievers*."
            )
        return " ".join(told) + "\n"

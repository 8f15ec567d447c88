"""Training pairs of questions that a corpus brings with it (see `training.asked`).

A passage's labels are the questions that it answers, so that batches know which of their passages are no negatives.
"""

from __future__ import annotations

from collections.abc import Callable

from auscult_lab.encoders.base import PassageText, passage_text, query_text
from auscult_lab.encoders.data import LabelledPassage, PassagePool, PoolQuestion
from auscult_lab.training.asked import AskedPart, PassageKey, read_asked
from auscult_lab.training.experiment import DataExperiment
from auscult_lab.training.labels import EntityLabel


def asked_pools(
    experiment: DataExperiment, say: Callable[[str], None], *, surroundings: int = 0
) -> tuple[PassagePool, PassagePool]:
    """Questions to train on and questions held out, each over its own passages.

    Args:
        experiment: What to read.
        say: Told of each corpus.
        surroundings: Characters kept of what stands around a passage, for architectures that read them.

    Raises:
        ConfigError: A corpus is named without a split, or too few documents answer a query to hold some out.
        CorpusMissingError: A corpus is not on this machine.
    """
    found = read_asked(experiment, say)
    return make_pool(found.training, surroundings=surroundings), make_pool(found.held_out, surroundings=surroundings)


def make_pool(part: AskedPart, *, surroundings: int = 0) -> PassagePool:
    """Questions over the passages of documents.

    Passages without words are left out, and so are questions without words or without an answer among the passages.
    """
    texts: dict[PassageKey, PassageText] = {
        (corpus, passage.passage_id): passage_text(document, passage, surroundings=surroundings)
        for (corpus, _), document in part.documents.items()
        for passage in document.passages
        if passage.sentences
    }
    rows = {key: row for row, key in enumerate(texts)}
    answered: list[list[EntityLabel]] = [[] for _ in texts]
    questions = []
    for number, question, answers in part.answered(rows):
        text = query_text(question.query)
        if text.strip():
            label = EntityLabel(f"question:{number}", text)
            questions.append(PoolQuestion(label, answers))
            for row in answers:
                answered[row].append(label)
    passages = (
        LabelledPassage(text, tuple(labels), ("",)) for text, labels in zip(texts.values(), answered, strict=True)
    )
    return PassagePool(tuple(passages), questions=tuple(questions))

"""From an experiment's corpora to the passages it trains on and those it is validated with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from auscult.errors import ConfigError
from auscult_lab.corpora.note_labels import open_labeller
from auscult_lab.encoders.asked import asked_pools
from auscult_lab.encoders.data import LabelledPassage, PassagePool, label_passages
from auscult_lab.encoders.experiment import CaprExperiment
from auscult_lab.encoders.notes import check_headings, label_notes, read_notes
from auscult_lab.training.data import gather
from auscult_lab.training.experiment import ValidationChoice


@dataclass(frozen=True, slots=True)
class Gathered:
    """Passages to train on, and held-out ones of other entities or patients."""

    training: PassagePool
    held_out: PassagePool


def gather_passages(experiment: CaprExperiment, say: Callable[[str], None], *, surroundings: int = 0) -> Gathered:
    """Read, split and label all corpora of an experiment.

    Held-out passages whose very text is trained on (collections that quote each other) are left out.

    Args:
        experiment: What to read.
        say: Told of each stage.
        surroundings: See `label_passages`.

    Raises:
        CorpusMissingError: A corpus is not on this machine.
        ConfigError: Too few documents to hold some out, no headings, or too few usable passages.
    """
    noted = set(experiment.clinical_notes)
    parts = []
    if experiment.queries == "corpus":
        asked, aside = asked_pools(experiment, say, surroundings=surroundings)
        gathered = Gathered(asked, _unseen(aside, asked))
        _check(experiment, gathered.training, gathered.held_out)
        return gathered
    if noted:
        parts.append(_notes(experiment, noted, say, surroundings))
    if {choice.name for choice in experiment.corpora} - noted:
        parts.append(_titled(experiment, noted, say, surroundings))
    training = sum((part.training for part in parts), PassagePool(()))
    held_out = sum((part.held_out for part in parts), PassagePool(()))
    held_out = _unseen(held_out, training)
    _check(experiment, training, held_out)
    return Gathered(training, held_out)


def _unseen(held_out: PassagePool, training: PassagePool) -> PassagePool:
    """Held-out passages but those whose very text is trained on; a question stays as a label of its other answers."""
    seen = {item.passage.text for item in training.passages}
    kept = tuple(each for each in held_out.passages if each.passage.text not in seen)
    return replace(held_out, passages=kept, questions=())


def _titled(experiment: CaprExperiment, noted: set[str], say: Callable[[str], None], surroundings: int) -> Gathered:
    """Corpora whose titles name entities."""
    names = [name for name in experiment.validation.corpora if name not in noted]
    choice = experiment.validation
    held = ValidationChoice(
        corpora=names or [each.name for each in experiment.corpora if each.name not in noted][:1],
        documents=choice.documents,
    )
    corpora = [each for each in experiment.corpora if each.name not in noted]
    data = gather(experiment.model_copy(update={"corpora": corpora, "validation": held}), say)
    pools = [
        label_passages(each, experiment.labels, surroundings=surroundings) for each in (data.documents, data.held_out)
    ]
    # Where only notes validate, what was held out here is not asked for.
    return Gathered(pools[0], pools[1] if names else PassagePool(()))


def _notes(experiment: CaprExperiment, noted: set[str], say: Callable[[str], None], surroundings: int) -> Gathered:
    """Corpora that are clinical notes."""
    choices = [choice for choice in experiment.corpora if choice.name in noted]
    asked = experiment.validation.documents if noted & set(experiment.validation.corpora) else 0
    # First, because a wrong name should fail before minutes of reading.
    how = (
        "pass --read knowledge=FILE (in an experiment file, knowledge) with a taxonomy, such as the Disease Ontology's "
        "doid.obo"
    )
    labeller = open_labeller(
        experiment.recognizers, knowledge=experiment.knowledge, tables=experiment.note_aspects, how=how
    )
    split = read_notes(choices, validation=asked, say=say)
    say("finding entities and headings")
    training = label_notes(split.training, labeller, surroundings=surroundings)
    check_headings(training, len(split.training))
    say(
        f"{len(training.passages):,} passages of {len(split.training):,} notes; skipped {training.without_aspect:,} "
        f"without a heading and {training.without_entity:,} without an entity"
    )
    return Gathered(training, label_notes(split.validation, labeller, surroundings=surroundings))


def _check(experiment: CaprExperiment, training: PassagePool, held_out: PassagePool) -> None:
    if experiment.queries == "corpus":
        if not training.questions or not any(each.entities for each in held_out.passages):
            found = f"{len(training.questions):,} to train on"
            raise ConfigError("questions with answers to train on and to hold out", found, "give more judgements")
        return
    wanted = f"{experiment.least_passages:,} passages or more that have a heading and name an entity"
    if len(training.passages) < experiment.least_passages:
        skipped = f"{training.without_aspect:,} have no heading, {training.without_entity:,} name none"
        remedy = "give more documents, or allow fewer passages (least_passages; --set least_passages=N)"
        raise ConfigError(wanted, f"{len(training.passages):,} ({skipped})", remedy)
    if len(held_out.passages) < 2:
        raise ConfigError("held-out passages to validate with", f"{len(held_out.passages)}", "hold out more documents")


def told(gathered: Gathered) -> dict[str, Any]:
    """Counts and a digest of training and held-out passages."""
    return {
        "passages": len(gathered.training.passages),
        "held_out_passages": len(gathered.held_out.passages),
        **({"questions": len(gathered.training.questions)} if gathered.training.questions else {}),
        "skipped_without_aspect": gathered.training.without_aspect,
        "skipped_without_entity": gathered.training.without_entity,
        "sha256": _digest([*gathered.training.passages, *gathered.held_out.passages]),
    }


def _digest(passages: list[LabelledPassage]) -> str:
    digest = hashlib.sha256()
    for item in passages:
        digest.update(json.dumps(asdict(item), sort_keys=True).encode())
    return digest.hexdigest()

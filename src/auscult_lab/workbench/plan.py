"""The plan: models worth trying on data of a given size, with reason and estimated time.

Times are estimated from rates that were measured on two cores of an Intel Xeon with passages of about 150 words
(benchmarks/results). They grow with the length of passages, are shown to users as rough estimates, and are not used in
the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from auscult.encoders import SHIPPED, kind_of
from auscult.errors import ConfigError
from auscult_lab.evaluation.contenders import FUSED, LEXICAL
from auscult_lab.evaluation.task import Protocol
from auscult_lab.fitting.weighing import GENERAL
from auscult_lab.workbench.folder import Description
from auscult_lab.workbench.recipes import OWN_WORD_VECTORS, RECIPES, Recipe

_WORDS = 150.0
_LONGEST, _SHORTEST = 2.0, 0.2


@dataclass(frozen=True, slots=True)
class Rate:
    """Cost of a model on passages of 150 words.

    Attributes:
        learn_ms: Milliseconds to train on one question, with its answer and negatives, once.
        rank_us: Microseconds to score one passage.
        read_ms: Milliseconds to read one passage of the collection, once.
    """

    learn_ms: float = 0.0
    rank_us: float = 0.0
    read_ms: float = 0.0


RATES: Mapping[str, Rate] = MappingProxyType(
    {
        "bm25": Rate(rank_us=1, read_ms=0.1),
        "tfidf": Rate(rank_us=2, read_ms=0.1),
        "ql": Rate(rank_us=2, read_ms=0.1),
        "cdv": Rate(rank_us=0.1, read_ms=10),
        "general": Rate(rank_us=1, read_ms=30),
        "backbone": Rate(rank_us=0.1, read_ms=25),
        "drmm": Rate(learn_ms=4, rank_us=540, read_ms=0.3),
        "drmm-tks": Rate(learn_ms=8, rank_us=430, read_ms=0.3),
        "knrm": Rate(learn_ms=20, rank_us=630, read_ms=0.3),
        "match-pyramid": Rate(learn_ms=15, rank_us=400, read_ms=0.3),
        "pacrr": Rate(learn_ms=18, rank_us=540, read_ms=0.3),
        "conv-knrm": Rate(learn_ms=100, rank_us=5100, read_ms=0.3),
        "har": Rate(learn_ms=165, rank_us=7700, read_ms=0.3),
        "bi": Rate(learn_ms=200, rank_us=0.1, read_ms=25),
        "cross": Rate(learn_ms=700, rank_us=20_000, read_ms=0.3),
        "ck": Rate(learn_ms=900, rank_us=25_000, read_ms=0.3),
    }
)
"""By the names that plans use; of all general encoders one."""
WORD_VECTORS = Rate(read_ms=6)
"""Training word vectors on the passages, once for all rankers, where there are many."""


def estimate_seconds(rate: Rate, *, words: float, learned: int = 0, passages: int = 0, ranked: int = 0) -> float:
    """Return the estimated seconds of a model.

    Args:
        rate: Its cost.
        words: Mean number of words of a passage.
        learned: Questions to train on, with repeats over epochs.
        passages: Passages of the collection.
        ranked: Pairs of question and passage to score.
    """
    factor = min(max(words / _WORDS, _SHORTEST), _LONGEST)
    return factor * (rate.learn_ms * learned / 1e3 + rate.rank_us * ranked / 1e6 + rate.read_ms * passages / 1e3)


MOST_PASSAGES = 5_000
"""With more, models rank what BM25 ranks highest."""
_PAIRS_A_MINUTE = 10_000
CANDIDATES = 100
"""Passages that are ranked for a question where not all are."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A model that could be tried.

    Attributes:
        name: Its name for `--models`; for a trained model also the name of its experiment.
        model: For an untrained model, its name for `open_contenders`.
        reason: Reason for or against it, in a sentence.
        seconds: Rough estimate of its time; 0 where it is unknown.
        chosen: Whether it is tried.
        lacks: Missing options that it needs.
    """

    name: str
    model: str
    reason: str
    seconds: float
    chosen: bool = True
    lacks: tuple[str, ...] = ()

    @property
    def trained(self) -> bool:
        """Whether it is trained on the data."""
        return not self.model


@dataclass(frozen=True, slots=True)
class Wishes:
    """The user's options for the plan.

    Attributes:
        models: Names of the models to try; empty for all that fit.
        backbone: Folder or hub name of a pre-trained encoder.
        graph: Folder of trained knowledge-graph vectors.
        minutes: Time for everything.
    """

    models: tuple[str, ...] = ()
    backbone: str = ""
    graph: str = ""
    minutes: float = 15.0


def choose_protocol(description: Description, minutes: float) -> Protocol:
    """Return the protocol: end-to-end where there is time for it."""
    passages, asked = description.counts["passages"], description.counts["test questions"]
    few = passages <= MOST_PASSAGES and passages * asked <= _PAIRS_A_MINUTE * minutes
    return "end-to-end" if few else "rerank"


def propose(description: Description, wishes: Wishes, own: Sequence[str] = ()) -> list[Proposal]:
    """Propose models, first those that promise most for their cost, and choose as many as there is time for.

    Args:
        description: Description of the data.
        wishes: The user's options.
        own: Names of the user's experiments. They are always tried, after the others.

    Raises:
        ConfigError: An option names no model, or one with a missing option; or an experiment has the name of an
            untrained model.
    """
    proposals = [*_propose_untrained(description, wishes), *_propose_trained(description, wishes)]
    _check_names(wishes, proposals, own)
    if wishes.models:
        chosen = [replace(each, chosen=each.name in wishes.models) for each in proposals]
    else:
        chosen = _choose_in_time(description, wishes, proposals)
    return [*chosen, *(Proposal(name, "", "An experiment of your own.", 0.0) for name in own)]


def _choose_in_time(description: Description, wishes: Wishes, proposals: Sequence[Proposal]) -> list[Proposal]:
    """Choose the proposals that there is time for."""
    passages, left = description.counts["passages"], 60.0 * wishes.minutes
    if passages >= OWN_WORD_VECTORS:
        left -= estimate_seconds(WORD_VECTORS, words=description.words, passages=passages)
    chosen = []
    for proposal in proposals:
        fits = proposal.chosen and (proposal.name in LEXICAL or proposal.seconds <= left)
        left -= proposal.seconds if fits else 0.0
        reason = proposal.reason
        if proposal.chosen and not fits:
            reason += f" Left out: it would take longer than the {wishes.minutes:g} minutes allow (--minutes)."
        chosen.append(replace(proposal, chosen=fits, reason=reason))
    return chosen


def _propose_untrained(description: Description, wishes: Wishes) -> Iterator[Proposal]:
    """Propose models that are not trained here."""
    reasons = {
        "bm25": "Needs no training, and is hard to beat on exact words.",
        "tfidf": "The oldest yardstick.",
        "ql": "Query likelihood: another way to weigh words, at no cost.",
    }
    yield Proposal("bm25", "bm25", reasons["bm25"], _estimate("bm25", description))
    for name in general_encoders():
        reason = "What `auscult search` does with this shipped encoder: all evidence weighed, of words and of vectors."
        yield Proposal(name, f"{name}{FUSED}", reason, _estimate("general", description))
    for name in ("tfidf", "ql"):
        yield Proposal(name, name, reasons[name], _estimate(name, description))
    yield Proposal(
        "cdv",
        "cdv",
        "The shipped model, which learned health topics and their aspects from MedQuAD, two Wikipedias and the NHS' "
        "pages; used as it is.",
        _estimate("cdv", description),
    )
    reason = "The given encoder as it is: shows what training adds."
    seconds = _estimate("backbone", description)
    if wishes.backbone and (Path(wishes.backbone) / "modules.json").is_file():
        yield Proposal("backbone", str(Path(wishes.backbone).resolve()), reason, seconds)
    else:
        needed = f"{wishes.backbone} is no folder" if wishes.backbone else "give --backbone FOLDER,"
        reason += f" Left out: {needed} as sentence-transformers saves it."
        yield Proposal("backbone", "backbone", reason, seconds, chosen=False, lacks=("--backbone",))


def general_encoders() -> list[str]:
    """Return the shipped models for documents of any kind."""
    return [name for name in SHIPPED if kind_of(name).name == GENERAL]


def _propose_trained(description: Description, wishes: Wishes) -> Iterator[Proposal]:
    available = description.counts["training questions"]
    given = {"backbone": wishes.backbone, "graph": wishes.graph}
    for recipe in RECIPES:
        lacks = tuple(f"--{need}" for need in recipe.needs if not given[need])
        reason = f"{recipe.reason} {available:,} training questions; sensible from {recipe.questions:,}."
        if lacks:
            reason += f" Left out: give {' and '.join(lacks)}."
        seconds = _estimate(recipe.name, description, recipe)
        chosen = available >= recipe.questions and not lacks
        yield Proposal(recipe.name, "", reason, seconds, chosen=chosen, lacks=lacks)


def _estimate(name: str, description: Description, recipe: Recipe | None = None) -> float:
    counts = description.counts
    ranked = counts["passages"] if description.protocol == "end-to-end" else min(CANDIDATES, counts["passages"])
    learning = counts["training questions"] + counts["development questions"]
    return estimate_seconds(
        RATES[name],
        words=description.words,
        learned=learning * recipe.epochs if recipe is not None else 0,
        passages=counts["passages"],
        ranked=counts["test questions"] * ranked,
    )


def _check_names(wishes: Wishes, proposals: Sequence[Proposal], own: Sequence[str]) -> None:
    lacks = {each.name: each.lacks for each in proposals}
    for name in own:
        if name in lacks:
            raise ConfigError(
                "an experiment with a name of its own", f"'{name}', a model that is not trained", "rename it"
            )
    for name in wishes.models:
        if name not in lacks and name not in own:
            raise ConfigError("models for --models", f"'{name}'", f"choose among {', '.join([*lacks, *own])}")
        if name == "backbone" and lacks[name] and wishes.backbone:
            expected = f"a folder that sentence-transformers saved, for the model '{name}'"
            raise ConfigError(expected, f"{wishes.backbone} without modules.json", "give such a folder as --backbone")
        if options := " and ".join(lacks.get(name, ())):
            raise ConfigError(f"{options} for the model '{name}'", "none", "give it")

"""Word vectors to train with: read from a file or a model, or trained here.

Those trained here are skip-gram vectors with subwords (bojanowski2017), which floret hashes into one small table.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

from auscult.concepts import KnowledgeBase
from auscult.documents import Document
from auscult.encoders import load_model
from auscult.errors import DataError, ModelError
from auscult.files.json_text import parse_json
from auscult.files.writing import whole_or_nothing
from auscult_lab.cdv.encoder import CdvEncoder
from auscult_lab.cdv.floret_process import train_table
from auscult_lab.modules.word_vectors import (
    AveragedWords,
    SubwordTable,
    WordVectors,
    from_state,
    read_word_vectors,
    sentence_tokens,
    tokenize,
)
from auscult_lab.training.data import TrainingData
from auscult_lab.training.experiment import DataExperiment, WordVectorChoice, expanded

_THREADS = 2
# All further words count as rare as the last of these.
_FREQUENT_WORDS = 30_000


def word_vectors(
    experiment: DataExperiment,
    data: TrainingData,
    given: WordVectors | None,
    folder: Path,
    say: Callable[[str], None],
) -> tuple[WordVectors, dict[str, float]]:
    """Return word vectors, given or trained and saved in a folder, and the words' shares of the training text."""
    text, trained = folder / "text.txt", folder / "vectors.npz"
    if not text.is_file():
        with whole_or_nothing(text) as partial:
            glossary = data.knowledge if experiment.word_vectors.glossary else None
            lines = chain(document_lines(data.texts), () if glossary is None else knowledge_lines(glossary))
            written = write_lines(lines, partial)
        say(f"{written:,} words of training text")
    shares = dict(islice(word_shares(text, min_count=experiment.word_vectors.min_count).items(), _FREQUENT_WORDS))
    if given is not None:
        return given, shares
    if not trained.is_file():
        say("training word vectors")
        arrays, settings = train_word_vectors(text, experiment.word_vectors).state()
        with whole_or_nothing(trained) as partial, partial.open("wb") as file:
            np.savez(file, settings=np.array(json.dumps(settings)), table=arrays["table"])
    with np.load(trained, allow_pickle=False) as stored:
        return from_state({"table": stored["table"]}, parse_json(str(stored["settings"]))), shares


def document_lines(documents: Iterable[Document]) -> Iterator[list[str]]:
    """Yield the words of every title, heading and sentence."""
    for document in documents:
        yield tokenize(document.title)
        for passage in document.passages:
            yield tokenize(passage.heading)
        yield from sentence_tokens(document)


def knowledge_lines(knowledge: KnowledgeBase) -> Iterator[list[str]]:
    """Yield the words of every name, synonym and definition."""
    for concept in knowledge:
        for description in knowledge.descriptions(concept.concept_id):
            yield tokenize(description)


def write_lines(lines: Iterable[list[str]], path: Path) -> int:
    """Write tokenised lines for the trainer; returns the number of words."""
    words = 0
    with path.open("w", encoding="utf-8") as out:
        for line in lines:
            if line:
                out.write(" ".join(line) + "\n")
                words += len(line)
    return words


def word_shares(path: Path, *, min_count: int) -> dict[str, float]:
    """Return relative frequencies, highest first, of the words that a tokenised file has `min_count` times or more."""
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            counts.update(line.split())
    total = counts.total()
    return {word: count / total for word, count in counts.most_common() if count >= min_count}


def given_word_vectors(choice: WordVectorChoice) -> WordVectors | None:
    """Return the word vectors of the file or the model that a choice names; None where it names neither.

    Raises:
        ConfigError: An environment variable in the file's name is not set.
        DataError: The file cannot be read.
        ModelError: There is no such model, or it averages no word vectors.
    """
    if choice.file is not None:
        return read_word_vectors(Path(expanded(str(choice.file), "file")), limit=choice.limit)
    if choice.model is None:
        return None
    encoder = load_model(choice.model)
    if not (isinstance(encoder, CdvEncoder) and isinstance(encoder.sentences, AveragedWords)):
        raise ModelError("a CDV model that averages word vectors", f"'{choice.model}'", "name 'cdv', say")
    return encoder.sentences.vectors


def train_word_vectors(path: Path, choice: WordVectorChoice) -> SubwordTable:
    """Train a subword table on a tokenised file.

    Two threads share the table without locks, so vectors of the same text differ slightly between runs. floret starts
    with a tenth of its table filled per thread and learns the rest. On very little text a short word may get no
    vector; averages then leave it out.

    Args:
        path: One tokenised line a sentence.
        choice: Dimensions, n-grams, table size, epochs.

    Raises:
        DataError: When the file holds too little text for any word to reach `min_count`.
        MissingExtraError: When floret is not installed.
    """
    if not word_shares(path, min_count=choice.min_count):
        wanted = f"text with words that occur at least {choice.min_count} times"
        raise DataError(wanted, "none", "train on more text or lower word_vectors.min_count")
    settings = {
        "model": "skipgram",
        "mode": "floret",
        "dim": choice.dim,
        "epoch": choice.epochs,
        "minn": choice.min_n,
        "maxn": choice.max_n,
        "hashCount": choice.hash_count,
        "bucket": choice.buckets,
        "minCount": choice.min_count,
        "lr": choice.learning_rate,
        "thread": _THREADS,
        "verbose": 0,
    }
    with tempfile.TemporaryDirectory() as scratch:
        exported = Path(scratch) / "vectors.floret"
        train_table(path, exported, settings)
        table = read_word_vectors(exported)
    if not isinstance(table, SubwordTable):
        raise DataError("a floret table", type(table).__name__, "report this as a bug")
    return table

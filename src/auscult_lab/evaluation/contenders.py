"""Open models by their names on the command line, as contenders with tracks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from auscult.encoders import SHIPPED, kind_of, load_model, model_folder, training_record
from auscult.encoders.contract import Precision
from auscult.errors import ConfigError, ModelError
from auscult.files.reading import digest_of_file
from auscult.ingest.knowledge import find_knowledge
from auscult_lab.corpora.questions import read_questions
from auscult_lab.evaluation.comparison import Contender
from auscult_lab.evaluation.pre_trained import bare_encoder
from auscult_lab.evaluation.task import Names
from auscult_lab.evaluation.tracks import track_on
from auscult_lab.fitting.fused_scorer import FusedScorer
from auscult_lab.modules.encoder_identity import digest_of_weights
from auscult_lab.modules.word_vectors import read_word_vectors
from auscult_lab.opening import load_scorer
from auscult_lab.scorers.cosine import CosineScorer, InverseDocumentFrequencies
from auscult_lab.scorers.encoder_scorer import EncoderScorer
from auscult_lab.scorers.lexical import Bm25Scorer, QueryLikelihoodScorer, TfIdfScorer

LEXICAL: dict[str, Callable[[], Bm25Scorer | TfIdfScorer | QueryLikelihoodScorer]] = {
    "bm25": Bm25Scorer,
    "tfidf": TfIdfScorer,
    "ql": QueryLikelihoodScorer,
}
"""Models that learn nothing, by name."""

COSINES = ("cosine", "cosine-idf", "cosine-q")
"""Weighted cosines (galko2017's CD, CD_idf and CD_q), by the prefix before a colon and a file of word vectors."""

_PARTS = ":parts"
FUSED = ":fused"
"""Suffix of a model's name for the fusion of all evidence with it."""


def is_untrained(model: str) -> bool:
    """Check whether a name is of a model that learns nothing: one of word counts, or of given word vectors."""
    return model in LEXICAL or _parse_cosine(model) is not None


def whole_of(model: str) -> str:
    """Return a model's name without ":parts"."""
    return model.removesuffix(_PARTS)


def open_contenders(
    model: str,
    corpus: str,
    *,
    split: str = "test",
    track: str | None = None,
    precision: Precision = "float32",
    names: Names = "hidden",
    progress: Callable[[int], None] | None = None,
) -> list[Contender]:
    """Open a model for evaluation on a corpus.

    Args:
        model: "bm25", "tfidf", "ql", "cosine:VECTORS" (`COSINES`), a shipped model's name, a model folder, or a bare
            sentence-transformers folder. The last, and word vectors, count as untrained, because their training is
            unknown and was not for this task; a record names the encoder. "MODEL:parts" also opens the model's entity
            half and aspect half as further contenders. "MODEL:fused" opens the fusion of all evidence with the model
            (`fitting.fused_scorer`) instead.
        corpus: The corpus of the evaluation, as `open_corpus` takes it; decides the track.
        split: The split of the queries.
        track: "zero-shot" or "adapted", where the model's own training record does not say.
        precision: Precision of the transformers of CAPR's architectures and of sentence-transformers (`CaprScorer`).
        names: Whether the evidence includes titles and headings, from which queries may be made.
        progress: Called with the number of documents encoded so far.

    Raises:
        ModelError: There is no such model.
        CorpusMissingError: There are no general questions for "cosine-q".
        ConfigError: It was trained on the test documents, its track is unknown, or `track` contradicts its record
            (see `track_on`).
    """
    if model in LEXICAL:
        return [Contender(scorer=LEXICAL[model](), track="untrained")]
    if (cosine := _parse_cosine(model)) is not None:
        return [_open_cosine(*cosine)]
    model, wish = _split_suffix(model)
    if wish and model in LEXICAL:
        raise ConfigError("a model that makes vectors", f"'{model}{wish}'", f"name '{model}' alone")
    if model not in SHIPPED and not Path(model).exists():
        known = ", ".join((*LEXICAL, *SHIPPED, *(f"{cosine}:VECTORS" for cosine in COSINES)))
        raise ModelError(f"a model by name ({known}) or by its folder", repr(model), "correct it")
    kind = kind_of(model)
    ready = partial(Contender, precision=precision)
    if not kind.told:
        bare = load_scorer(model, precision=precision)
        record = {"encoder": bare_encoder(bare.name, digest_of_weights(Path(model)))}
        return [ready(scorer=bare, track="untrained", fingerprint=bare.fingerprint, training=record)]
    folder = model_folder(model)
    training = training_record(folder)
    own = track_on(model, training, corpus, split, user_track=track, folder=folder)
    if kind.reads_words:
        ranker = load_scorer(model)
        return [Contender(scorer=ranker, track=own, fingerprint=ranker.fingerprint, training=training)]
    if kind.scorer is not None:
        trained = load_scorer(model, precision=precision)
        return [ready(scorer=trained, track=own, fingerprint=trained.fingerprint, training=training)]
    encoder = load_model(model)
    if wish == FUSED:
        fused = FusedScorer(
            encoder,
            knowledge_base=find_knowledge(),
            hide_names=names == "hidden",
            progress=progress,
        )
        return [Contender(scorer=fused, track=own, fingerprint=encoder.fingerprint, training=training)]
    scorer = EncoderScorer(encoder, progress=progress)
    contenders = [Contender(scorer=scorer, track=own, fingerprint=encoder.fingerprint, training=training)]
    # A model with a single part is the same as that part.
    if wish == _PARTS and len(encoder.parts) > 1:
        contenders += [replace(contenders[0], scorer=scorer.only(part), prepare=False) for part in encoder.parts]
    return contenders


def _split_suffix(model: str) -> tuple[str, str]:
    """Return a model's name, and its suffix, which may be empty."""
    wish = next((each for each in (_PARTS, FUSED) if model.endswith(each)), "")
    return model.removesuffix(wish), wish


def _parse_cosine(model: str) -> tuple[str, Path] | None:
    """Return the weighting and the file of word vectors; None for another model."""
    kind, colon, vectors = model.partition(":")
    return (kind, Path(vectors)) if colon and vectors and kind in COSINES else None


def _open_cosine(kind: str, file: Path) -> Contender:
    if not file.is_file():
        raise ModelError(f"a file of word vectors behind '{kind}:'", f"{file}, which is none", "correct the path")
    vectors = read_word_vectors(file)
    if kind == "cosine-q":
        scorer = CosineScorer(vectors, InverseDocumentFrequencies.of_texts(read_questions()))
    else:
        scorer = CosineScorer(vectors, "passages" if kind == "cosine-idf" else None)
    return Contender(scorer=scorer, track="untrained", fingerprint=digest_of_file(file))

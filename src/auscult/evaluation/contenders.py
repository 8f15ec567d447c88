"""From the name of a model, as it is given on the command line, to a contender with its track."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from auscult.errors import ModelError
from auscult.evaluation.comparison import Contender
from auscult.evaluation.encoder_scorer import EncoderScorer
from auscult.evaluation.tracks import track_on
from auscult.interfaces import Precision
from auscult.models import (
    SENTENCE_TRANSFORMER,
    SHIPPED,
    is_ranker,
    is_scorer,
    load_model,
    load_scorer,
    model_folder,
    model_kind,
    training_record,
)
from auscult.models.lexical import Bm25Scorer, QueryLikelihoodScorer, TfIdfScorer

LEXICAL: dict[str, Callable[[], Bm25Scorer | TfIdfScorer | QueryLikelihoodScorer]] = {
    "bm25": Bm25Scorer,
    "tfidf": TfIdfScorer,
    "ql": QueryLikelihoodScorer,
}
"""Models that learn nothing, by name."""


def open_contenders(
    model: str,
    corpus: str,
    *,
    split: str = "test",
    track: str | None = None,
    parts: bool = False,
    precision: Precision = "float32",
    progress: Callable[[int], None] | None = None,
) -> list[Contender]:
    """Open a model for evaluation on a corpus.

    Args:
        model: "bm25", "tfidf", "ql", a shipped model's name, a model folder, or a bare sentence-transformers folder,
            which counts as untrained: nothing says what it was trained on, but not for this.
        corpus: What it is to be evaluated on, as `open_corpus` takes it; decides the track.
        split: Whose queries are asked.
        track: "zero-shot" or "adapted", where the model's own training record does not say.
        parts: Also its entity half and its aspect half alone, as further contenders.
        precision: What the transformers of CAPR's architectures and of sentence-transformers compute in (`CaprScorer`).
        progress: Called with the number of documents encoded so far.

    Raises:
        ModelError: There is no such model.
        ConfigError: It was trained on the test documents, or its track is unknown or told otherwise than its record
            says (see `track_on`).
    """
    if model in LEXICAL:
        return [Contender(scorer=LEXICAL[model](), track="untrained")]
    if model not in SHIPPED and not Path(model).exists():
        names = ", ".join((*LEXICAL, *SHIPPED))
        raise ModelError(f"a model by name ({names}) or by its folder", repr(model), "correct it")
    if model_kind(model) == SENTENCE_TRANSFORMER:
        bare = load_scorer(model, precision=precision)
        return [Contender(scorer=bare, track="untrained", fingerprint=bare.fingerprint, precision=precision)]
    training = training_record(model_folder(model))
    own = track_on(model, training, corpus, split, told=track)
    if is_ranker(model):
        ranker = load_scorer(model)
        return [Contender(scorer=ranker, track=own, fingerprint=ranker.fingerprint, training=training)]
    if is_scorer(model):
        ready = load_scorer(model, precision=precision)
        return [
            Contender(scorer=ready, track=own, fingerprint=ready.fingerprint, training=training, precision=precision)
        ]
    encoder = load_model(model)
    scorer = EncoderScorer(encoder, progress=progress)
    contenders = [Contender(scorer=scorer, track=own, fingerprint=encoder.fingerprint, training=training)]
    # A model with one part is that part already.
    if parts and len(encoder.parts) > 1:
        contenders += [
            Contender(
                scorer=scorer.only(part),
                track=own,
                fingerprint=encoder.fingerprint,
                training=training,
                prepare=False,
            )
            for part in encoder.parts
        ]
    return contenders

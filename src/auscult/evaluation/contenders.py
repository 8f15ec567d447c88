"""From the name of a model, as it is given on the command line, to a contender with its track."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args

from auscult.errors import ConfigError
from auscult.evaluation.comparison import Contender
from auscult.evaluation.encoder_scorer import EncoderScorer
from auscult.evaluation.records import Track
from auscult.models import load_model, model_folder
from auscult.models.lexical import Bm25Scorer, TfIdfScorer

LEXICAL: dict[str, Callable[[], Bm25Scorer | TfIdfScorer]] = {"bm25": Bm25Scorer, "tfidf": TfIdfScorer}
"""Models that learn nothing, by name."""


def open_contenders(
    model: str,
    *,
    track: str | None = None,
    parts: bool = False,
    progress: Callable[[int], None] | None = None,
) -> list[Contender]:
    """Open a model.

    Args:
        model: "bm25", "tfidf", a shipped model's name, or a model folder.
        track: "zero-shot" or "adapted", where the model's own training record does not say.
        parts: Also its entity half and its aspect half alone, as further contenders.
        progress: Called with the number of documents encoded so far.

    Raises:
        ModelError: There is no such model.
        ConfigError: Its track is unknown, or is told otherwise than it says itself.
    """
    if model in LEXICAL:
        return [Contender(scorer=LEXICAL[model](), track="untrained")]
    encoder = load_model(model)
    training = _training_record(model)
    own = _track(model, training.get("track"), track)
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


def _training_record(model: str) -> dict[str, Any]:
    # `load_model` has read this file already, so that it is there and whole.
    described = json.loads((model_folder(model) / "model.json").read_text(encoding="utf-8"))
    return dict(described.get("training") or {})


def _track(model: str, recorded: object, told: str | None) -> Track:
    tracks = [each for each in get_args(Track) if each != "untrained"]
    if told is not None and recorded in tracks and told != recorded:
        raise ConfigError(f"track '{recorded}' for '{model}'", f"--track {told}", "leave the option out")
    track = recorded if recorded in tracks else told
    for known in get_args(Track):
        if track == known and known != "untrained":
            return known  # type: ignore[no-any-return]
    raise ConfigError(
        f"a model that tells its track ({' or '.join(tracks)})",
        f"'{model}' with track {track!r}",
        "say what it was trained on with --track",
    )

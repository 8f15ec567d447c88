"""Every architecture by its name in experiment files. A new one is added here, and every test then includes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from auscult.errors import ConfigError
from auscult_lab.encoders.base import CaprConfig, PassageRanker
from auscult_lab.encoders.bi import BiConfig, BiEncoder
from auscult_lab.encoders.ck.ranker import CkConfig, CkRanker
from auscult_lab.encoders.cross import CrossConfig, CrossEncoder
from auscult_lab.encoders.longformer import LongBiConfig, LongBiEncoder, LongPolyConfig, LongPolyEncoder
from auscult_lab.encoders.poly import PolyConfig, PolyEncoder
from auscult_lab.graphs.knowledge_vectors import load as load_vectors
from auscult_lab.modules.backbone import open_backbone


@dataclass(frozen=True, slots=True)
class Architecture:
    """How an architecture is made.

    Attributes:
        ranker: Its class, called with its settings and its first backbone, or with all of them by name.
        config: The class of its settings, a frozen dataclass.
        attachments: Functions that open the folders of a saved model besides its backbones, by name. Their results are
            passed to the class under these names.
    """

    ranker: Callable[..., PassageRanker]
    config: Callable[..., CaprConfig]
    attachments: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)


ARCHITECTURES: dict[str, Architecture] = {
    BiEncoder.kind: Architecture(BiEncoder, BiConfig),
    PolyEncoder.kind: Architecture(PolyEncoder, PolyConfig),
    CrossEncoder.kind: Architecture(CrossEncoder, CrossConfig),
    LongBiEncoder.kind: Architecture(LongBiEncoder, LongBiConfig),
    LongPolyEncoder.kind: Architecture(LongPolyEncoder, LongPolyConfig),
    CkRanker.kind: Architecture(CkRanker, CkConfig, {"knowledge": load_vectors}),
}


def architecture(kind: str) -> Architecture:
    """Return the architecture of a name.

    Raises:
        ConfigError: There is none.
    """
    if kind not in ARCHITECTURES:
        raise ConfigError(f"an architecture ({', '.join(ARCHITECTURES)})", repr(kind), "name one of them")
    return ARCHITECTURES[kind]


def configure(kind: str, settings: Mapping[str, Any]) -> CaprConfig:
    """Return settings of an architecture, checked.

    Raises:
        ConfigError: There is no such architecture or setting, or a value is out of range.
    """
    config: Any = architecture(kind).config
    known = [field.name for field in fields(config)]
    strange = [name for name in settings if name not in known]
    if strange:
        raise ConfigError(f"settings of '{kind}' ({', '.join(known)})", repr(strange[0]), "leave it out")
    made: CaprConfig = config(**settings)
    return made


def create(kind: str, backbone: str, settings: Mapping[str, Any] | None = None) -> PassageRanker:
    """Return a new ranker on a pre-trained encoder; torch's random numbers initialise its other parameters.

    Args:
        kind: A name in `ARCHITECTURES`.
        backbone: A hub name, or a folder saved with save_pretrained.
        settings: Settings that differ from the defaults.

    Raises:
        ConfigError: There is no such architecture or setting, or a value is out of range.
        ModelError: The encoder cannot be opened.
        MissingExtraError: The package that opens it is not installed.
    """
    config = configure(kind, settings or {})
    return architecture(kind).ranker(config, open_backbone(backbone))

"""Every neural ranker by its name in experiment files. A new one is added here, and every test then includes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from auscult.errors import ConfigError
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.arc import ArcI, ArcIConfig, ArcII, ArcIIConfig
from auscult_lab.rankers.base import Ranker, RankerConfig
from auscult_lab.rankers.drmm import Anmm, AnmmConfig, Drmm, DrmmConfig, DrmmTks, DrmmTksConfig
from auscult_lab.rankers.dssm import Cdssm, CdssmConfig, Dssm, DssmConfig
from auscult_lab.rankers.duet import Duet, DuetConfig
from auscult_lab.rankers.har import Har, HarConfig, HarSimple, HarSimpleConfig, HarWca
from auscult_lab.rankers.knrm import ConvKnrm, ConvKnrmConfig, Knrm, KnrmConfig
from auscult_lab.rankers.match_pyramid import MatchPyramid, MatchPyramidConfig, Pacrr, PacrrConfig
from auscult_lab.rankers.mv_lstm import MvLstm, MvLstmConfig
from auscult_lab.rankers.position_mlp import PositionMlp, PositionMlpConfig


@dataclass(frozen=True, slots=True)
class RankerKind:
    """Classes of a ranker.

    Attributes:
        ranker: Its class, called with its settings and a vocabulary.
        config: The class of its settings, a frozen dataclass.
    """

    ranker: Callable[[Any, Vocabulary], Ranker]
    config: Callable[..., RankerConfig]


RANKERS: dict[str, RankerKind] = {
    Anmm.kind: RankerKind(Anmm, AnmmConfig),
    ArcI.kind: RankerKind(ArcI, ArcIConfig),
    ArcII.kind: RankerKind(ArcII, ArcIIConfig),
    Cdssm.kind: RankerKind(Cdssm, CdssmConfig),
    ConvKnrm.kind: RankerKind(ConvKnrm, ConvKnrmConfig),
    Drmm.kind: RankerKind(Drmm, DrmmConfig),
    DrmmTks.kind: RankerKind(DrmmTks, DrmmTksConfig),
    Dssm.kind: RankerKind(Dssm, DssmConfig),
    Duet.kind: RankerKind(Duet, DuetConfig),
    Har.kind: RankerKind(Har, HarConfig),
    HarSimple.kind: RankerKind(HarSimple, HarSimpleConfig),
    HarWca.kind: RankerKind(HarWca, HarConfig),
    Knrm.kind: RankerKind(Knrm, KnrmConfig),
    MatchPyramid.kind: RankerKind(MatchPyramid, MatchPyramidConfig),
    MvLstm.kind: RankerKind(MvLstm, MvLstmConfig),
    Pacrr.kind: RankerKind(Pacrr, PacrrConfig),
    PositionMlp.kind: RankerKind(PositionMlp, PositionMlpConfig),
}


def register(ranker: type[Ranker], config: type[RankerConfig]) -> None:
    """Add a ranker, which experiment files may then name.

    Args:
        ranker: Its class, called with its settings and a vocabulary.
        config: The class of its settings, a frozen dataclass.

    Raises:
        ConfigError: There is a ranker of that name.
    """
    if ranker.kind in RANKERS:
        raise ConfigError("a ranker of a new name", repr(ranker.kind), "give the class another 'kind'")
    RANKERS[ranker.kind] = RankerKind(ranker, config)


def ranker_kind(name: str) -> RankerKind:
    """Return the ranker of a name.

    Raises:
        ConfigError: There is none.
    """
    if name not in RANKERS:
        raise ConfigError(
            f"a ranker ({', '.join(RANKERS)})",
            repr(name),
            "correct it; one of your own is registered by a file: --with",
        )
    return RANKERS[name]

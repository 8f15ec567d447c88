"""The aspects that are known by a name, and the protocol of models that read which of them a question asks for.

`aspects.tsv` has the names and a question for each, as people would ask it. Nothing is matched against these: a model
places the whole question, without the names in it, in the space of headings (`encoders.general`), and the page shows
the known aspect that is nearest to that place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from types import MappingProxyType
from typing import Final, Protocol, runtime_checkable

_NAME = "{e}"


QUESTIONS: Final[Mapping[str, str]] = MappingProxyType(
    dict(
        line.split("\t")
        for line in resources.files("auscult.understanding").joinpath("aspects.tsv").read_text("utf-8").splitlines()
    )
)
"""A question that asks for each known aspect, with {e} in the place of the name."""


@runtime_checkable
class ReadsAspects(Protocol):
    """A model that reads what a question asks for."""

    @property
    def reads_aspects(self) -> bool:
        """Whether this model does."""
        ...

    def read_aspects(self, asking: Sequence[str]) -> list[dict[str, float]]:
        """Return for each question how likely each known aspect is meant, the likeliest first.

        Args:
            asking: Questions without the names in them ("how long has my dad got with this").
        """
        ...


def question_about(aspect: str, name: str) -> str:
    """Return a question for an aspect of something as people word it; of an aspect without a name, its words."""
    return QUESTIONS.get(aspect, f"{aspect.capitalize()} of {_NAME}?").replace(_NAME, name)

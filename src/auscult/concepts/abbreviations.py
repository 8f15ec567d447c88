"""Abbreviations that people type for one well-known disease: `abbreviations.tsv`, written for this package.

They stand apart from the names of a knowledge base: in running text "MS" may be anything and is never a mention of one,
and taxonomies lend the same letters to rarer things (myeloid sarcoma), but a person who types them and no more means
the common one. Left out are those with two common senses ("ASD", "CP", "DM").
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from auscult.concepts.names import normalise_name


@cache
def abbreviations() -> Mapping[str, str]:
    """Normalised abbreviation -> identifier of what it stands for."""
    return MappingProxyType({normalise_name(row["abbreviation"]): row["concept"] for row in _rows()})


@cache
def abbreviated_names() -> Mapping[str, str]:
    """Normalised abbreviation -> normalised name of what it stands for."""
    return MappingProxyType({normalise_name(row["abbreviation"]): normalise_name(row["name"]) for row in _rows()})


def _rows() -> csv.DictReader[str]:
    table = resources.files("auscult.concepts").joinpath("abbreviations.tsv").read_text(encoding="utf-8")
    return csv.DictReader(table.splitlines(), delimiter="\t")

"""Abbreviations that people type for one well-known disease: `abbreviations.tsv`, written for this package.

They stand apart from the names of a knowledge base: in running text "MS" may be anything and is never a mention, and
taxonomies lend the same letters to rarer things (myeloid sarcoma), but a person who types them and no more means the
common one. Left out are those with two common senses ("ASD", "CP", "DM").
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
    table = resources.files("auscult.concepts").joinpath("abbreviations.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(table.splitlines(), delimiter="\t")
    return MappingProxyType({normalise_name(row["abbreviation"]): row["concept"] for row in rows})

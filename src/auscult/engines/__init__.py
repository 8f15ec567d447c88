"""Indexes on servers, where one machine is too small: their addresses, and what a package for a server implements."""

from auscult.engines.addresses import is_address, named_indexes, place_of, shown_address
from auscult.engines.opening import manifest_at, open_index, publish, signs_of, withdraw

__all__ = [
    "is_address",
    "manifest_at",
    "named_indexes",
    "open_index",
    "place_of",
    "publish",
    "shown_address",
    "signs_of",
    "withdraw",
]

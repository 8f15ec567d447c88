"""Fixtures of a service over a small index."""

from served_index import client, fast_index, index

__all__ = ["client", "fast_index", "index"]

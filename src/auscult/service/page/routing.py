"""Addresses to go back to, which forms bring along and anyone may have written."""

from __future__ import annotations


def own_path(wanted: str) -> str:
    """An address of this service; the first page for what would lead elsewhere."""
    leads_here = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if leads_here else "/"

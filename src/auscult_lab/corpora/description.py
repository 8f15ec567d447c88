"""What is told of a data set: its licence, its files, and whether it is on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auscult.catalogue import Entry
from auscult_lab.corpora.obtain import FileState


def state_of(found: Entry, root: Path) -> str:
    """Whether a data set is on this machine, and else how it can be had."""
    missing = found.missing(root)
    if not missing:
        return "present"
    if found.access.instructed:
        return found.access.value
    return "missing" if len(missing) == len(found.files) else "incomplete"


def summary_of(found: Entry, root: Path) -> dict[str, Any]:
    """What a list tells of a data set."""
    return {
        "name": found.name,
        "title": found.title,
        "licence": found.licence,
        "licence_class": found.licence_class,
        "access": found.access.value,
        "bytes": found.bytes,
        "state": state_of(found, root),
    }


def details_of(found: Entry, root: Path, states: Mapping[str, FileState]) -> dict[str, Any]:
    """All that is told of a data set.

    Args:
        found: Its entry.
        root: The folder of all data sets.
        states: Of the files that were verified, by their paths.
    """
    details = summary_of(found, root) | {
        "description": found.description,
        "attribution": found.attribution,
        "sources": [
            {"repository": s.repository, "commit": s.commit, "paths": s.paths or ", ".join(s.sha256)}
            for s in found.sources
        ],
        "path": str(found.path(root)),
        "files": [
            {"path": f.path, "rows": f.rows, "bytes": f.bytes, "sha256": f.sha256, "content_sha256": f.content_sha256}
            | ({"state": states[f.path].value} if f.path in states else {})
            for f in found.files
        ],
    }
    if details["state"] != "present":
        details["remedy"] = found.remedy(root)
    return details

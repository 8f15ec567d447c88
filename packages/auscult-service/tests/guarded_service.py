"""A service of two small indexes with documents of two groups, keys of every kind, and an audit log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from auscult.documents import Document, Original
from auscult.ingest.building import build_index
from auscult_service.access.keys import Key, KeyRole, add, hash_of, new_key, now_text, revoke
from auscult_service.app import create_app
from auscult_service.settings import AccessOptions, ServiceLimits, Settings
from encoders import HashedEncoder
from leaflets import leaflets

ENCODER = HashedEncoder(256)
GROUPS = ("ward-a", "ward-b", "", "ward-a, ward-b")
"""Of the four leaflets, in their order: IgA nephropathy, migraine, asthma, gout."""


@dataclass(frozen=True)
class Guarded:
    """A service and what its callers show.

    Attributes:
        keys: By what they are: "read", "write", "admin", "revoked", "expired", "elsewhere" (another index), "ann" and
            "ben" (of one ward each), "both" (of these two), "plain" (of none, as `auscult keys add --role write`).
    """

    app: FastAPI
    client: TestClient
    keys: Mapping[str, str]
    folder: Path
    settings: Settings

    def headers(self, key: str) -> dict[str, str]:
        """What somebody shows; "none" for nothing, "wrong" for what is no key."""
        if key == "none":
            return {}
        return {"Authorization": f"Bearer {self.keys.get(key, new_key())}"}


def documents() -> list[Document]:
    """The leaflets, each of a group or of none; with their files."""
    return [
        replace(
            document,
            metadata={**document.metadata, **({"access": access} if access else {})},
            original=Original(
                name=f"{document.doc_id}.txt", media_type="text/plain", content=document.text.encode(), encoding="utf-8"
            ),
        )
        for document, access in zip(leaflets(), GROUPS, strict=True)
    ]


def make_keys(path: Path) -> dict[str, str]:
    """A file of keys, and these."""
    shown: dict[str, str] = {}

    def put(name: str, role: KeyRole, **more: Any) -> None:
        shown[name] = new_key()
        add(path, Key(name=name, role=role, hash=hash_of(shown[name]), created=now_text(), **more))

    put("read", "read", groups=None)
    put("write", "write", groups=None)
    put("admin", "admin", groups=None)
    put("revoked", "admin", groups=None)
    revoke(path, "revoked")
    put("expired", "admin", groups=None, expires=(datetime.now(UTC) - timedelta(seconds=1)).isoformat())
    put("elsewhere", "admin", indexes=("other",), groups=None)
    put("ann", "write", groups=("ward-a",))
    put("ben", "write", groups=("ward-b",))
    put("both", "write", groups=("ward-a", "ward-b"))
    put("plain", "write", groups=())
    return shown


@contextmanager
def guarded(
    folder: Path, limits: ServiceLimits | None = None, access: AccessOptions | None = None, **more: Any
) -> Iterator[Guarded]:
    """A running service; its files are below the folder."""
    if not (folder / "main").exists():
        for name in ("main", "other"):
            build_index(documents(), ENCODER, folder / name, corpus=name)
    keys = make_keys(folder / "keys.json")
    settings = Settings(
        indexes={name: folder / name for name in ("main", "other")},
        keys=folder / "keys.json",
        audit=folder / "audit.jsonl",
        data=folder / "data",
        limits=limits or ServiceLimits(),
        access=access or AccessOptions(),
        **more,
    )
    app = create_app(settings, ENCODER)
    with TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client:
        client.get("/api/v1/search", params={"q": "gout"}, headers={"Authorization": f"Bearer {keys['admin']}"})
        yield Guarded(app, client, keys, folder, settings)

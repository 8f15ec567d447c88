"""`auscult keys`: who may use a service."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from auscult.errors import ConfigError, printable
from auscult_service.access.keys import Key, KeyRole, add, hash_of, new_key, now_text, read, revoke

app = typer.Typer(help="Keys of a service: who may use it, and what they see.", no_args_is_help=True)
KeysArgument = Annotated[Path, typer.Argument(metavar="KEYSFILE", help="The key file of `auscult serve --keys`.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the holder in the audit log.")]


@app.command("add")
def add_key(
    keys: KeysArgument,
    name: NameArgument,
    role: Annotated[
        KeyRole,
        typer.Option(
            help="`read` searches and judges, `write` also adds and removes documents, `admin` does everything."
        ),
    ] = "read",
    index: Annotated[
        list[str] | None,
        typer.Option(help="Served name of an index that the key opens. Repeatable. Default: all."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Show documents of this group (field `access`), beside open ones. Repeatable."),
    ] = None,
    all_groups: Annotated[bool, typer.Option("--all-groups", help="Show the documents of all groups.")] = False,
    expires: Annotated[
        str, typer.Option(help="The last day (`2027-12-31`), or days from now (`90`). Default: never.")
    ] = "",
) -> None:
    """Make a key and print it, once. Only its hash is kept: replace a lost key by a new one.

    Example: `auscult keys add keys.json "Ward 3" --group ward-3 --expires 365`
    """
    if group and all_groups:
        raise ConfigError("--group or --all-groups", "both", "leave one out")
    secret = new_key()
    groups = None if all_groups or (role == "admin" and not group) else tuple(group or ())
    key = Key(
        name=name,
        role=role,
        hash=hash_of(secret),
        indexes=tuple(index) if index else None,
        groups=groups,
        created=now_text(),
        expires=_end(expires),
    )
    add(keys, key)
    typer.echo(secret)
    typer.echo(f"{printable(_described(key))}; it is shown this once", err=True)


@app.command("list")
def list_keys(keys: KeysArgument) -> None:
    """List the holders of keys, never the keys themselves.

    Example: `auscult keys list keys.json`
    """
    for key in read(keys):
        typer.echo(printable(_described(key)))


@app.command("revoke")
def revoke_key(keys: KeysArgument, name: NameArgument) -> None:
    """Revoke a holder's key, from the next request on.

    Example: `auscult keys revoke keys.json "Ward 3"`
    """
    revoke(keys, name)
    typer.echo(printable(f"revoked: {name}"))


def _described(key: Key) -> str:
    groups = "all documents" if key.groups is None else ", ".join(("open documents", *key.groups))
    indexes = "all indexes" if key.indexes is None else ", ".join(key.indexes)
    state = "" if key.holds(datetime.now(UTC)) else f"; {'revoked' if key.revoked else 'expired'}"
    until = f"; until {key.expires[:10]}" if key.expires else ""
    return f"{key.name}: {key.role}; {indexes}; {groups}{until}{state}"


def _end(day_text: str) -> str:
    """Return the end of a day, UTC; empty for never."""
    if not day_text:
        return ""
    try:
        if day_text.isdecimal():
            day = datetime.now(UTC) + timedelta(days=int(day_text))
        else:
            day = datetime.strptime(day_text, "%Y-%m-%d").replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise ConfigError("a day as 2027-12-31, or a number of days", f"'{day_text}'", "write one of these") from error
    return day.replace(hour=23, minute=59, second=59, microsecond=0).isoformat()

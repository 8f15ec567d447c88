"""`auscult keys`: who may ask a service."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from auscult.errors import ConfigError, printable
from auscult.service.access.keys import Key, KeyRole, add, hash_of, new_key, now_text, read, revoke

app = typer.Typer(help="Keys of a service: who may ask it, and what they see.", no_args_is_help=True)
KeysArgument = Annotated[Path, typer.Argument(metavar="KEYSFILE", help="The file that `auscult serve --keys` reads.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Of the holder; the audit log knows them by it.")]


@app.command("add")
def add_key(
    keys: KeysArgument,
    name: NameArgument,
    role: Annotated[
        KeyRole, typer.Option(help="`read` asks and judges, `write` also adds and removes documents, `admin` does all.")
    ] = "read",
    index: Annotated[
        list[str] | None,
        typer.Option(help="An index that it opens, by the name it is served as; repeatable. Else: all."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="A group whose documents it shows (their field `access`), beside the open ones; repeatable."),
    ] = None,
    all_groups: Annotated[bool, typer.Option("--all-groups", help="Show the documents of all groups.")] = False,
    expires: Annotated[str, typer.Option(help="The last day, as `2027-12-31`, or days from now, as `90`.")] = "",
) -> None:
    """Make a key. It is shown once, and only its hash is kept: who loses it gets another.

    Example: `auscult keys add keys.json "Ward 3" --group ward-3 --expires 365`
    """
    if group and all_groups:
        raise ConfigError("--group or --all-groups", "both", "leave one out")
    secret = new_key()
    groups = None if all_groups or (role == "admin" and not group) else tuple(group or ())
    made = Key(
        name=name,
        role=role,
        hash=hash_of(secret),
        indexes=tuple(index) if index else None,
        groups=groups,
        created=now_text(),
        expires=_end(expires),
    )
    add(keys, made)
    typer.echo(secret)
    typer.echo(f"{printable(_told(made))}; it is shown this once", err=True)


@app.command("list")
def list_keys(keys: KeysArgument) -> None:
    """Show whose keys there are, never the keys themselves.

    Example: `auscult keys list keys.json`
    """
    for key in read(keys):
        typer.echo(printable(_told(key)))


@app.command("revoke")
def revoke_key(keys: KeysArgument, name: NameArgument) -> None:
    """Let a holder's key open nothing any more, from the next request on.

    Example: `auscult keys revoke keys.json "Ward 3"`
    """
    revoke(keys, name)
    typer.echo(printable(f"revoked: {name}"))


def _told(key: Key) -> str:
    groups = "all documents" if key.groups is None else ", ".join(("open documents", *key.groups))
    indexes = "all indexes" if key.indexes is None else ", ".join(key.indexes)
    state = "" if key.holds(datetime.now(UTC)) else f"; {'revoked' if key.revoked else 'expired'}"
    until = f"; until {key.expires[:10]}" if key.expires else ""
    return f"{key.name}: {key.role}; {indexes}; {groups}{until}{state}"


def _end(given: str) -> str:
    """The end of a day, UTC; empty for never."""
    if not given:
        return ""
    try:
        if given.isdecimal():
            day = datetime.now(UTC) + timedelta(days=int(given))
        else:
            day = datetime.strptime(given, "%Y-%m-%d").replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise ConfigError("a day as 2027-12-31, or a number of days", f"'{given}'", "write one of these") from error
    return day.replace(hour=23, minute=59, second=59, microsecond=0).isoformat()

"""`auscult keys` and `auscult audit`: who may use a service, and the audit log of its use."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from auscult.errors import ConfigError, DataError, printable
from auscult.service.access.keys import Key, KeyRole, add, hash_of, new_key, now_text, read, revoke
from auscult.service.audit import audit_key
from auscult.service.audit_files import records
from auscult.service.audit_files import verify as check
from auscult.service.audit_heads import KeptHead, head_of, parse_head, read_head, read_kept
from auscult.service.audit_loss import accept_loss

keys_app = typer.Typer(help="Keys of a service: who may use it, and what they see.", no_args_is_help=True)
KeysArgument = Annotated[Path, typer.Argument(metavar="KEYSFILE", help="The key file of `auscult serve --keys`.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the holder in the audit log.")]


@keys_app.command("add")
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


@keys_app.command("list")
def list_keys(keys: KeysArgument) -> None:
    """List the holders of keys, never the keys themselves.

    Example: `auscult keys list keys.json`
    """
    for key in read(keys):
        typer.echo(printable(_described(key)))


@keys_app.command("revoke")
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


audit_app = typer.Typer(help="The audit log of a service: check it, and see who asked what.", no_args_is_help=True)
LogArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The log's first file; later files follow it.")]
_DOCUMENTS = 3


KeyOption = Annotated[Path | None, typer.Option(help="The key file, to check seals too.")]
CounterOption = Annotated[
    Path | None,
    typer.Option(help="`audit.counter` in the service's data folder, to compare with."),
]
WitnessOption = Annotated[Path | None, typer.Option(help="A witness file, to compare with its heads.")]


@audit_app.command("verify")
def verify(
    log: LogArgument,
    key: KeyOption = None,
    counter: CounterOption = None,
    head: Annotated[
        str, typer.Option(metavar="HEAD", help="A head that `auscult audit head` printed, or a file of one.")
    ] = "",
    witness: WitnessOption = None,
) -> None:
    """Check that no audit record was changed, removed or inserted, and that none is missing at the end.

    Example: `auscult audit verify audit.jsonl`, or
    `auscult audit verify audit.jsonl --key audit.key --counter data/audit.counter --witness /mnt/other/heads.jsonl`
    """
    kept_heads = [] if witness is None else read_kept(witness)
    if head.lstrip().startswith("{"):
        kept_heads.append(KeptHead("the head that was given", parse_head(head, "--head")))
    elif head:
        kept_heads.append(KeptHead("the head that was given", read_head(Path(head), "a kept head")))
    report = check(log, None if key is None else audit_key(key), counter=counter, kept=kept_heads)
    if report.problem:
        whole = f"{report.records:,} records before it are whole; " if report.records else ""
        raise DataError(f"a whole audit log at {log}", report.problem, f"{whole}compare with a copy")
    checks = {
        "chain": True,
        "seals": report.sealed,
        "end": True,
        "counter": counter is not None,
        "kept heads": bool(kept_heads),
    }
    checked, unchecked = (
        ", ".join(name for name, performed in checks.items() if performed is which) for which in (True, False)
    )
    typer.echo(
        f"whole: {report.records:,} records in {report.files} file(s): {checked}"
        + (f" ({report.agreeing:,} agree)" if kept_heads else "")
        + (f"; not checked: {unchecked}" if unchecked else "")
    )
    if report.gap:
        typer.echo(printable(f"a gap: {report.gap}"))
    if report.before:
        typer.echo(f"{report.before:,} kept heads are of records before the gap: compare them with the log moved away")


@audit_app.command("head")
def head(log: LogArgument, key: KeyOption = None, counter: CounterOption = None) -> None:
    """Print the log's head (number, SHA-256 and seal), to keep elsewhere for `verify --head`.

    Example: `auscult audit head audit.jsonl --key audit.key`
    """
    report = check(log, None if key is None else audit_key(key), counter=counter)
    if report.problem:
        raise DataError(f"a whole audit log at {log}", report.problem, f"see more: auscult audit verify {log}")
    typer.echo(read_head(head_of(log), "its head").to_json())


@audit_app.command("accept-loss")
def accept(
    log: LogArgument,
    counter: Annotated[Path, typer.Option(help="`audit.counter` in the service's data folder.")],
    key: Annotated[Path | None, typer.Option(help="The key file, to seal the new log.")] = None,
    witness: WitnessOption = None,
) -> None:
    """Move a damaged log away, and begin a new one whose first record says what was lost. Then the service can start.

    Example: `auscult audit accept-loss audit.jsonl --counter my-index.service/audit.counter --key audit.key`
    """
    kept_heads = [] if witness is None else read_kept(witness)
    record = accept_loss(log, None if key is None else audit_key(key), counter, kept_heads)
    typer.echo(printable(f"accepted: {record['reason']}"))
    if record["moved_to"]:
        typer.echo(f"the log is in {log.with_name(record['moved_to'])}")
    typer.echo(f"{log} begins with record {record['seq']}")


@audit_app.command("show")
def show(
    log: LogArgument,
    who: Annotated[str, typer.Option(help="Only this caller.")] = "",
    action: Annotated[str, typer.Option(help="Only this action: `search`, `view`, `refused`, ...")] = "",
    document: Annotated[str, typer.Option(help="Only records that sent this document.")] = "",
    since: Annotated[str, typer.Option(help="From this time on, UTC: `2026-05-31`, `2026-05-31T14:00`.")] = "",
    until: Annotated[str, typer.Option(help="Up to this time; a day counts to its end.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print records as JSON lines.")] = False,
) -> None:
    """Show who asked what, and which documents were sent.

    Example: `auscult audit show audit.jsonl --who "Ward 3" --since 2026-05-31`
    """
    for record in records(log):
        at = str(record.get("at", ""))
        if (
            (not who or record.get("who") == who)
            and (not action or record.get("action") == action)
            and (not document or document in record.get("documents", ()))
            and at >= since
            and (not until or at[: len(until)] <= until)
        ):
            typer.echo(json.dumps(record, ensure_ascii=False) if as_json else _to_text(record))


def _to_text(record: dict[str, Any]) -> str:
    query = record.get("query") or {}
    words = [str(query.get("question") or ""), str(query.get("entity") or ""), *map(str, query.get("aspects") or ())]
    question = " ".join(filter(None, words)) or (f"#{record['query_hash'][:12]}" if "query_hash" in record else "")
    ids = [str(doc_id) for doc_id in record.get("documents") or ()]
    documents = ", ".join(ids[:_DOCUMENTS]) + (f" and {len(ids) - _DOCUMENTS} more" if len(ids) > _DOCUMENTS else "")
    parts = [
        str(record.get("at", ""))[:19],
        str(record.get("who") or "nobody"),
        str(record.get("from", "")),
        f"{record.get('action', '')} {record.get('status', '')}".strip(),
        str(record.get("index") or ""),
        f'"{question}"' if question else "",
        documents,
        f"purpose: {record['purpose']}" if record.get("purpose") else "",
        f"lost: {record['reason']}" if record.get("reason") else "",
    ]
    return "\t".join(printable(part) for part in parts if part)

"""`auscult audit`: whether a service's audit log is whole, and what stands in it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from auscult.errors import DataError, printable
from auscult.service.audit import audit_key
from auscult.service.audit_files import Kept, records
from auscult.service.audit_files import verify as check
from auscult.service.audit_gap import accept_loss
from auscult.service.audit_heads import head_of, parse_head, read_head
from auscult.service.witness import read_kept

app = typer.Typer(help="The audit log of a service: whether it is whole, and who asked what.", no_args_is_help=True)
LogArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The log's first file; those after it follow.")]
_DOCUMENTS = 3


KeyOption = Annotated[Path | None, typer.Option(help="The key's file, to check seals, too.")]
CounterOption = Annotated[
    Path | None,
    typer.Option(help="The file of its counter, to compare with: `audit.counter` in the service's data folder."),
]
WitnessOption = Annotated[Path | None, typer.Option(help="A witness' file, to compare with all heads in it.")]


@app.command("verify")
def verify(
    log: LogArgument,
    key: KeyOption = None,
    counter: CounterOption = None,
    head: Annotated[
        str, typer.Option(metavar="HEAD", help="A head that `auscult audit head` has printed before, or a file of one.")
    ] = "",
    witness: WitnessOption = None,
) -> None:
    """Check that no record was changed, removed or put in, and that the end is there.

    Example: `auscult audit verify audit.jsonl`, or
    `auscult audit verify audit.jsonl --key audit.key --counter data/audit.counter --witness /mnt/other/heads.jsonl`
    """
    kept = [] if witness is None else read_kept(witness)
    if head.lstrip().startswith("{"):
        kept.append(Kept("the head that was given", parse_head(head, "--head")))
    elif head:
        kept.append(Kept("the head that was given", read_head(Path(head), "a kept head")))
    found = check(log, None if key is None else audit_key(key), counter=counter, kept=kept)
    if found.problem:
        whole = f"{found.records:,} records before it are whole; " if found.records else ""
        raise DataError(f"a whole audit log at {log}", found.problem, f"{whole}compare with a copy")
    done = {"chain": True, "seals": found.sealed, "end": True, "counter": counter is not None, "kept heads": bool(kept)}
    checked, unchecked = (", ".join(name for name, was in done.items() if was is which) for which in (True, False))
    typer.echo(
        f"whole: {found.records:,} records in {found.files} file(s): {checked}"
        + (f" ({found.agreeing:,} agree)" if kept else "")
        + (f"; not checked: {unchecked}" if unchecked else "")
    )
    if found.gap:
        typer.echo(printable(f"a gap: {found.gap}"))
    if found.before:
        typer.echo(f"{found.before:,} kept heads are of records before the gap: compare them with the log moved away")


@app.command("head")
def head(log: LogArgument, key: KeyOption = None, counter: CounterOption = None) -> None:
    """Print how far a log goes: number, SHA-256 and seal, to be kept elsewhere and compared (`verify --head`) later.

    Example: `auscult audit head audit.jsonl --key audit.key`
    """
    found = check(log, None if key is None else audit_key(key), counter=counter)
    if found.problem:
        raise DataError(f"a whole audit log at {log}", found.problem, f"see more: auscult audit verify {log}")
    typer.echo(read_head(head_of(log), "its head").to_json())


@app.command("accept-loss")
def accept(
    log: LogArgument,
    counter: Annotated[
        Path, typer.Option(help="The file of its counter: `audit.counter` in the service's data folder.")
    ],
    key: Annotated[Path | None, typer.Option(help="The key's file; the new log is sealed with it.")] = None,
    witness: WitnessOption = None,
) -> None:
    """Move a damaged log away, whole, and begin one whose first record says what was lost; a service starts again.

    Example: `auscult audit accept-loss audit.jsonl --counter my-index.service/audit.counter --key audit.key`
    """
    kept = [] if witness is None else read_kept(witness)
    record = accept_loss(log, None if key is None else audit_key(key), counter, kept)
    typer.echo(printable(f"accepted: {record['reason']}"))
    if record["moved_to"]:
        typer.echo(f"the log is in {log.with_name(record['moved_to'])}")
    typer.echo(f"{log} begins with record {record['seq']}")


@app.command("show")
def show(
    log: LogArgument,
    who: Annotated[str, typer.Option(help="Only of this caller.")] = "",
    action: Annotated[str, typer.Option(help="Only this: `search`, `view`, `refused`, ...")] = "",
    document: Annotated[str, typer.Option(help="Only where this document went out, by its id.")] = "",
    since: Annotated[str, typer.Option(help="From here on, UTC: `2026-05-31`, or with `T14:00`.")] = "",
    until: Annotated[str, typer.Option(help="Up to here; a day up to its end.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Write records as JSON lines.")] = False,
) -> None:
    """Show who asked what, and which documents went out.

    Example: `auscult audit show audit.jsonl --who "Ward 3" --since 2026-05-31`
    """
    for record in _chosen(records(log), who, action, document, since, until):
        typer.echo(json.dumps(record, ensure_ascii=False) if as_json else _told(record))


def _chosen(
    found: Iterable[dict[str, Any]], who: str, action: str, document: str, since: str, until: str
) -> Iterable[dict[str, Any]]:
    for record in found:
        at = str(record.get("at", ""))
        if (
            (not who or record.get("who") == who)
            and (not action or record.get("action") == action)
            and (not document or document in record.get("documents", ()))
            and at >= since
            and (not until or at[: len(until)] <= until)
        ):
            yield record


def _told(record: dict[str, Any]) -> str:
    query = record.get("query") or {}
    words = [str(query.get("question") or ""), str(query.get("entity") or ""), *map(str, query.get("aspects") or ())]
    asked = " ".join(filter(None, words)) or (f"#{record['query_hash'][:12]}" if "query_hash" in record else "")
    ids = [str(each) for each in record.get("documents") or ()]
    named = ", ".join(ids[:_DOCUMENTS]) + (f" and {len(ids) - _DOCUMENTS} more" if len(ids) > _DOCUMENTS else "")
    parts = [
        str(record.get("at", ""))[:19],
        str(record.get("who") or "nobody"),
        str(record.get("from", "")),
        f"{record.get('action', '')} {record.get('status', '')}".strip(),
        str(record.get("index") or ""),
        f'"{asked}"' if asked else "",
        named,
        f"purpose: {record['purpose']}" if record.get("purpose") else "",
        f"lost: {record['reason']}" if record.get("reason") else "",
    ]
    return "\t".join(printable(each) for each in parts if each)

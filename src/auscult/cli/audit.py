"""`auscult audit`: whether a service's audit log is whole, and what stands in it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from auscult.errors import DataError
from auscult.search.explain import printable
from auscult.service.audit import audit_key
from auscult.service.audit_files import records
from auscult.service.audit_files import verify as check

app = typer.Typer(help="The audit log of a service: whether it is whole, and who asked what.", no_args_is_help=True)
LogArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The log's first file; those after it follow.")]
_DOCUMENTS = 3


@app.command("verify")
def verify(
    log: LogArgument,
    key: Annotated[Path | None, typer.Option(help="The key's file, to check each record's seal, too.")] = None,
) -> None:
    """Check that no record was changed, removed or put in, and that the end is there.

    Example: `auscult audit verify audit.jsonl`, or `auscult audit verify audit.jsonl --key audit.key`
    """
    found = check(log, None if key is None else audit_key(key))
    if found.problem:
        remedy = f"the {found.records:,} records before it are whole; compare with a copy"
        raise DataError(f"a whole audit log at {log}", found.problem, remedy)
    how = "chain, seals and end" if found.sealed else "chain and end; seals were not asked for (--key)"
    typer.echo(f"whole: {found.records:,} records in {found.files} file(s): {how}")


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
        f"{record.get('action', '')} {record.get('status', '')}",
        str(record.get("index") or ""),
        f'"{asked}"' if asked else "",
        named,
        f"purpose: {record['purpose']}" if record.get("purpose") else "",
    ]
    return "\t".join(printable(each) for each in parts if each)

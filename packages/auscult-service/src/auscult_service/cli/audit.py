"""`auscult audit`: the audit log of a service's use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from auscult.errors import DataError, printable
from auscult_service.audit import audit_key
from auscult_service.audit_files import records
from auscult_service.audit_files import verify as check
from auscult_service.audit_heads import KeptHead, head_of, parse_head, read_head, read_kept
from auscult_service.audit_loss import accept_loss

app = typer.Typer(help="The audit log of a service: check it, and see who asked what.", no_args_is_help=True)
LogArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The log's first file; later files follow it.")]
_DOCUMENTS = 3


KeyOption = Annotated[Path | None, typer.Option(help="The key file, to check seals too.")]
CounterOption = Annotated[
    Path | None,
    typer.Option(help="`audit.counter` in the service's data folder, to compare with."),
]
WitnessOption = Annotated[Path | None, typer.Option(help="A witness file, to compare with its heads.")]


@app.command("verify")
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


@app.command("head")
def head(log: LogArgument, key: KeyOption = None, counter: CounterOption = None) -> None:
    """Print the log's head (number, SHA-256 and seal), to keep elsewhere for `verify --head`.

    Example: `auscult audit head audit.jsonl --key audit.key`
    """
    report = check(log, None if key is None else audit_key(key), counter=counter)
    if report.problem:
        raise DataError(f"a whole audit log at {log}", report.problem, f"see more: auscult audit verify {log}")
    typer.echo(read_head(head_of(log), "its head").to_json())


@app.command("accept-loss")
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


@app.command("show")
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

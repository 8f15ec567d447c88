"""`auscult data`: list, inspect and download data sets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn
from rich.table import Table

from auscult.catalogue import Entry, catalogue, data_dir, entry
from auscult.errors import DataError
from auscult_lab.corpora.obtain import FileState, check_file, obtain

app = typer.Typer(help="List, inspect and get the data sets of the catalogue.", no_args_is_help=True)

_TREE = typer.Option(None, help="medquad: a local copy of github.com/abachaa/MedQuAD.")
_ANNOTATIONS = typer.Option(None, help="medquad: a local copy of data/MedQuAD/ of github.com/sebastianarnold/cdv.")
_JSON = typer.Option(False, "--json", help="Print JSON.")


@app.command("list")
def list_(as_json: bool = _JSON) -> None:
    """List all data sets with licence class, size, and whether they are on this machine.

    Example: `auscult data list`
    """
    root = data_dir()
    if as_json:
        for data_set in catalogue().values():
            typer.echo(json.dumps(_summarize(data_set, root), ensure_ascii=False))
        return
    # In 80 columns no row may take more than two lines: licences by their class, and no frame.
    table = Table("name", "what", "licence", "size", "state", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for column in (table.columns[0], *table.columns[2:]):
        column.no_wrap = True
    for data_set in catalogue().values():
        table.add_row(
            data_set.name,
            data_set.title,
            data_set.licence_class,
            _format_size(data_set.bytes),
            _describe_state(data_set, root),
        )
    console = Console(highlight=False, markup=False)
    console.print(f"Data in {root}", soft_wrap=True)
    console.print(table)
    console.print("Licences in full: auscult data show NAME", soft_wrap=True)


@app.command()
def show(
    name: str = typer.Argument(help="A name of `auscult data list`."),
    verify: bool = typer.Option(False, "--verify", help="Check the files' checksums; fail if one is wrong."),
    as_json: bool = _JSON,
) -> None:
    """Show one data set: licence, sources, files, and how to get it.

    Example: `auscult data show medquad --verify`
    """
    data_set, root = entry(name), data_dir()
    states = {file.path: check_file(file, root / file.path) for file in data_set.files} if verify else {}
    details = _collect_details(data_set, root, states)
    if as_json:
        typer.echo(json.dumps(details, ensure_ascii=False))
    else:
        _print_details(details)
    wrong = [path for path, state in states.items() if state in (FileState.DIFFERENT, FileState.MISSING)]
    if wrong:
        raise DataError(f"{wrong[0]} as catalogued", f"a {states[wrong[0]].value} file", data_set.remedy(root))


@app.command()
def get(
    name: str = typer.Argument(help="A name of `auscult data list`."),
    origin: str = typer.Option(
        "",
        "--from",
        help="Folder or http(s) address of the prepared files.",
    ),
    tree: Path | None = _TREE,
    annotations: Path | None = _ANNOTATIONS,
) -> None:
    """Download or rebuild one data set into AUSCULT_DATA, and verify it. The same command continues an interrupted one.

    Example: `auscult data get medquad`
    """
    data_set, root = entry(name), data_dir()
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console) if console.is_terminal else nullcontext() as bars:

        def report(label: str, received: int, total: int | None) -> None:
            if bars is not None:
                if label not in tasks:
                    tasks[label] = bars.add_task(label, total=total)
                bars.update(tasks[label], completed=received, total=total)

        files = obtain(data_set, root, origin=origin, tree=tree, annotations=annotations, report=report)
    for path in files:
        typer.echo(str(path))


def _describe_state(data_set: Entry, root: Path) -> str:
    """Return whether a data set is on this machine, or else how to get it."""
    missing = data_set.missing(root)
    if not missing:
        return "present"
    if data_set.access.instructed:
        return data_set.access.value
    return "missing" if len(missing) == len(data_set.files) else "incomplete"


def _summarize(data_set: Entry, root: Path) -> dict[str, Any]:
    """Return the fields of a data set that `auscult data list` prints."""
    return {
        "name": data_set.name,
        "title": data_set.title,
        "licence": data_set.licence,
        "licence_class": data_set.licence_class,
        "access": data_set.access.value,
        "bytes": data_set.bytes,
        "state": _describe_state(data_set, root),
    }


def _collect_details(data_set: Entry, root: Path, states: Mapping[str, FileState]) -> dict[str, Any]:
    """Return all fields of a data set.

    Args:
        data_set: Its entry in the catalogue.
        root: The folder of all data sets.
        states: States of the verified files, by path.
    """
    details = _summarize(data_set, root) | {
        "description": data_set.description,
        "attribution": data_set.attribution,
        "sources": [
            {"repository": s.repository, "commit": s.commit, "paths": s.paths or ", ".join(s.sha256)}
            for s in data_set.sources
        ],
        "path": str(data_set.path(root)),
        "files": [
            {"path": f.path, "rows": f.rows, "bytes": f.bytes, "sha256": f.sha256, "content_sha256": f.content_sha256}
            | ({"state": states[f.path].value} if f.path in states else {})
            for f in data_set.files
        ],
    }
    if details["state"] != "present":
        details["remedy"] = data_set.remedy(root)
    return details


def _print_details(details: dict[str, Any]) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(f"{details['name']}: {details['title']} ({details['state']})")
    console.print(details["description"])
    console.print(f"licence: {details['licence']} ({details['licence_class']})")
    if details["attribution"]:
        console.print(f"cite or credit: {details['attribution']}")
    for source in details["sources"]:
        where = f"https://github.com/{source['repository']}/tree/{source['commit']}"
        console.print(f"source: {where} {source['paths']}".rstrip())
    for file in details["files"]:
        rows = f", {file['rows']:,} rows" if file["rows"] else ""
        state = f": {file['state']}" if "state" in file else ""
        console.print(f"file: {file['path']} ({_format_size(file['bytes'])}{rows}){state}")
        console.print(f"  sha256 {file['sha256']}")
        console.print(f"  of the content {file['content_sha256']}")
    console.print(f"place: {details['path']}")
    if "remedy" in details:
        console.print(f"to get it: {details['remedy']}")


def _format_size(count: int) -> str:
    return decimal(count) if count else ""

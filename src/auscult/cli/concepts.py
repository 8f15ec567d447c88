"""`auscult concepts`: build a knowledge base, look into it, see what it finds in a text; graphs below it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from auscult.cli.options import TextArgument, read_text
from auscult.concepts import Autocomplete, EntityResolver, KnowledgeBase, Match, MentionLinker
from auscult.concepts.adding_names import with_names
from auscult.concepts.opening import (
    ACCEPTED,
    DEFAULT,
    NAMES_ACCEPTED,
    open_knowledge_base,
    open_named,
    open_names,
    with_default_names,
)
from auscult.documents.language_names import ENGLISH, UNKNOWN, language_name
from auscult.errors import QueryError

_HOW = "pass --kb with a taxonomy (.obo, .tsv)"
app = typer.Typer(help="Diseases and symptoms: build, look up, link, complete; knowledge graphs.", no_args_is_help=True)

KnowledgeBaseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kb",
        help=f"{ACCEPTED[:1].upper()}{ACCEPTED[1:]}. Repeatable for files. Default: `{DEFAULT}`.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]


@app.command()
def build(
    out: Annotated[Path, typer.Argument(help="The file to write (.jsonl.gz).")],
    taxonomies: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"OBO files and TSV tables, most trusted first, or a folder of them. Default: `{DEFAULT}`."
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--names", help=f"Names in other languages, most trusted first: {NAMES_ACCEPTED}. Repeatable."),
    ] = None,
) -> None:
    """Merge taxonomies into one compact knowledge base, and add names in other languages.

    Example: `auscult concepts build kb.jsonl.gz doid.obo --names de_product1.xml`
    """
    knowledge_base = open_knowledge_base(taxonomies) if taxonomies else with_default_names(open_knowledge_base())
    knowledge_base, added = with_names(knowledge_base, [open_names(spec) for spec in names or ()])
    knowledge_base.save(out)
    counts = knowledge_base.counts
    typer.echo(
        f"{out}: {counts.concepts:,} concepts of {counts.records:,} records "
        f"(merged: {counts.merged_by_id:,} by identifier, {counts.merged_by_xref:,} by cross-reference, "
        f"{counts.merged_by_name:,} by name), {len(knowledge_base.codes):,} codes"
    )
    unknown = {each.source: each.unknown for each in added}
    for source in knowledge_base.foreign.sources:
        left = f" ({unknown[source]:,} more belong to none of these concepts)" if unknown.get(source) else ""
        languages = ", ".join(map(language_name, source.languages))
        licence = source.licence or "not stated; see where the file is from"
        typer.echo(f"{source.title}: {source.names:,} names in {languages}{left}. Licence: {licence}")


@app.command()
def show(
    entity: Annotated[str, typer.Argument(help="A name, synonym, misspelling or identifier.")],
    kb: KnowledgeBaseOption = None,
    limit: Annotated[int, typer.Option(min=1, help="Number of readings.")] = 3,
    language: Annotated[
        str, typer.Option("--language", help="Code of the name's language (`de`). Default: English, else any.")
    ] = UNKNOWN,
    as_json: JsonOption = False,
) -> None:
    """Show what a name or identifier stands for.

    Example: `auscult concepts show "heart attack"`
    """
    knowledge_base = open_named(kb or None, _HOW)
    matches = EntityResolver(knowledge_base).resolve(entity, limit, language=language)
    if not matches:
        raise QueryError("a disease, symptom or identifier", repr(entity), "check the spelling, or try `complete`")
    console = Console(highlight=False, soft_wrap=True)
    for match in matches:
        if as_json:
            record = {**asdict(match.concept), "matched": match.matched_name, "kind": match.kind, "score": match.score}
            record |= {"language": match.language, "names": _foreign_names(knowledge_base, match)}
            typer.echo(json.dumps(record, ensure_ascii=False))
        else:
            _print(console, knowledge_base, match)


@app.command()
def link(
    text: TextArgument,
    kb: KnowledgeBaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the diseases and symptoms that a text names.

    Example: `auscult concepts link "A heart attack, and a headache."`
    """
    content = read_text(text)
    knowledge_base = open_named(kb or None, _HOW)
    mentions = MentionLinker(knowledge_base).link_text(content)
    if as_json:
        for mention in mentions:
            typer.echo(json.dumps(asdict(mention), ensure_ascii=False))
        return
    table = Table("start", "end", "text", "concept", "id")
    for mention in mentions:
        name = knowledge_base.concepts[mention.concept_id].name
        cells = (str(mention.start), str(mention.end), mention.name, name, mention.concept_id)
        table.add_row(*map(escape, cells))
    Console(highlight=False).print(table)


@app.command()
def complete(
    prefix: Annotated[str, typer.Argument(help="The beginning of a name, or of a word in it.")],
    kb: KnowledgeBaseOption = None,
    limit: Annotated[int, typer.Option(min=1, help="Number of names.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Complete the beginning of a name.

    Example: `auscult concepts complete "heart at"`
    """
    for completion in Autocomplete(open_named(kb or None, _HOW)).complete(prefix, limit):
        if as_json:
            typer.echo(json.dumps(asdict(completion), ensure_ascii=False))
        else:
            also = "" if completion.matched == completion.name else f"  ({completion.matched})"
            typer.echo(f"{completion.concept_id}\t{completion.name}{also}")


def _print(console: Console, knowledge_base: KnowledgeBase, match: Match) -> None:
    concept = match.concept
    console.print(f"[bold]{escape(concept.name)}[/]  {concept.concept_id}  ({concept.source})")
    how = match.kind if match.language == ENGLISH else f"{match.kind}, {language_name(match.language)}"
    console.print(f"  matched     {escape(match.matched_name)} ({how}, {match.score:.2f})")
    parents = (knowledge_base.get(parent) for parent in knowledge_base.hierarchy.parents(concept.concept_id))
    fields = {
        "synonyms": "; ".join(concept.synonyms),
        **{language_name(code): "; ".join(names) for code, names in _foreign_names(knowledge_base, match).items()},
        "definition": concept.definition,
        "is a": "; ".join(f"{parent.name} ({parent.concept_id})" for parent in parents if parent),
        "elsewhere": ", ".join(concept.xrefs),
    }
    for label, value in fields.items():
        if value:
            console.print(f"  {label:<12}{escape(value)}")


def _foreign_names(knowledge_base: KnowledgeBase, match: Match) -> dict[str, tuple[str, ...]]:
    """Return the names of a concept by the codes of other languages, in alphabetical order of these."""
    return dict(sorted(knowledge_base.foreign.of_concepts.get(match.concept.concept_id, {}).items()))

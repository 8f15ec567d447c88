"""`auscult evaluate`: rank a corpus' queries, measure, and print measured beside published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from auscult.cli.plugin import PluginOption, run_plugins
from auscult.cli.scoring import FuseOption, PrecisionOption
from auscult.cli.trec_run import measure_run
from auscult.concepts import KnowledgeBase
from auscult.concepts.recognition.dictionary import DictionaryRecognizer
from auscult.corpora import open_corpus
from auscult.corpora.knowledge import ACCEPTED, DEFAULT, open_knowledge_base
from auscult.corpora.note_labels import NoteLabeller, open_labeller
from auscult.corpora.opening import makes_queries
from auscult.errors import ConfigError, DataError
from auscult.evaluation.comparison import Comparison, Contender, compare_models
from auscult.evaluation.contenders import LEXICAL, open_contenders
from auscult.evaluation.error_traits import MAX_TOKENS, TraitFinder, find_traits, trait_table, write_traits
from auscult.evaluation.errors import RankingError, find_errors, write_errors
from auscult.evaluation.figures import check_figures, draw_figures
from auscult.evaluation.fusion import fusions_of
from auscult.evaluation.records import check_records, write_records
from auscult.evaluation.tables import group_table, match_table, result_tables
from auscult.evaluation.task import Task, build_task
from auscult.evaluation.trec import write_qrels, write_run
from auscult.evaluation.writing import check_file, check_folder, file_name
from auscult.interfaces import Precision


class ProtocolName(StrEnum):
    """What is ranked."""

    rerank = "rerank"
    end_to_end = "end-to-end"


class Grouping(StrEnum):
    """What results are broken down by."""

    source = "source"
    aspect = "aspect"
    question_type = "question-type"
    length = "length"


class ErrorClasses(StrEnum):
    """Whose classes wrong answers are sorted into."""

    arnold2020 = "arnold2020"
    grundmann2021 = "grundmann2021"


class TrackName(StrEnum):
    """What a model was trained on."""

    zero_shot = "zero-shot"
    adapted = "adapted"


def evaluate(
    context: typer.Context,
    corpus: Annotated[
        str | None, typer.Argument(help="A corpus with queries and judgements, such as `medquad`.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", help="`bm25`, `tfidf`, `default`, or a model folder; repeatable."),
    ] = None,
    protocol: Annotated[
        ProtocolName, typer.Option(help="Rank given candidates, or every passage of the corpus.")
    ] = ProtocolName.rerank,
    split: Annotated[str, typer.Option(help="Whose queries; published figures are of `test`.")] = "test",
    queries: Annotated[int | None, typer.Option(min=1, help="Evaluate a random subset of this size.")] = None,
    query_ids: Annotated[Path | None, typer.Option(help="Evaluate the queries of this file, an id a line.")] = None,
    seed: Annotated[int, typer.Option(help="Of the subset, the shuffled candidates and the statistics.")] = 0,
    json: Annotated[
        Path | None, typer.Option("--json", help="Write records (merged into what the file holds).")
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder for TREC runs and qrels; by default beside the records.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Folder for figures, as PNG and SVG.")] = None,
    errors: Annotated[
        Path | None, typer.Option(help="Write wrong top-1 passages, sorted into classes, as JSON lines.")
    ] = None,
    taxonomy: Annotated[
        list[str] | None,
        typer.Option(help=f"For --errors: {ACCEPTED}; repeatable for files. Default: `{DEFAULT}`."),
    ] = None,
    classes: Annotated[
        ErrorClasses, typer.Option(help="For --errors: by taxonomy, or also long, structural, negated, anonymised.")
    ] = ErrorClasses.arnold2020,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="For --classes grundmann2021: longer passages are long.")
    ] = MAX_TOKENS,
    knowledge: Annotated[
        str | None, typer.Option(help=f"For queries that are made of notes: as for `adapt`. Default: `{DEFAULT}`.")
    ] = None,
    recognizer: Annotated[
        list[str] | None, typer.Option(help="For queries that are made of notes: as for `adapt`; repeatable.")
    ] = None,
    aspects: Annotated[
        list[Path] | None, typer.Option(help="For queries that are made of notes: as for `adapt`; repeatable.")
    ] = None,
    by: Annotated[list[Grouping] | None, typer.Option(help="Also print results by this; repeatable.")] = None,
    parts: Annotated[
        bool, typer.Option("--parts", help="Also rank by a model's entity and aspect half alone.")
    ] = False,
    track: Annotated[
        TrackName | None, typer.Option(help="What a model was trained on, where its folder does not say.")
    ] = None,
    precision: PrecisionOption = "float32",
    fuse: FuseOption = None,
    plugin: PluginOption = None,
    depth: Annotated[int, typer.Option(min=10, help="For --protocol end-to-end: passages kept of a ranking.")] = 100,
    run: Annotated[Path | None, typer.Option(help="Measure this TREC run instead; needs --qrels.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="The judgements for --run.")] = None,
) -> None:
    """Rank a corpus' queries with one or more models and measure how well they do.

    Ties count against a model. With `--run` and `--qrels`, an existing TREC run is measured instead.
    """
    console = Console()
    given = _given(context)
    if run is not None or qrels is not None:
        measure_run(console, run, qrels, given)
        return
    run_plugins(plugin)
    if corpus is None or not model:
        raise ConfigError("a corpus and at least one --model", "none", "try: auscult evaluate medquad --model bm25")
    if len(set(model)) != len(model):
        raise ConfigError("different models", f"'{max(model, key=model.count)}' twice", "name each once")
    _refuse_without_effect(given, corpus, model, protocol, errors, classes)
    folder = runs if runs is not None else json.with_name(f"{json.stem}-runs") if json is not None else None
    _check_outputs(json, folder, figures, errors)
    knowledge_base = open_knowledge_base(taxonomy or DEFAULT) if errors is not None else None
    labeller = None
    if makes_queries(corpus):
        how = "pass --knowledge with a taxonomy"
        labeller = open_labeller(recognizer or (), knowledge=knowledge, tables=aspects or (), how=how)
    comparison, task = compare(
        corpus,
        model,
        protocol=protocol,
        split=split,
        number=queries,
        query_ids=query_ids,
        seed=seed,
        parts=parts,
        track=track.value if track else None,
        precision=precision,
        fuse=fuse or (),
        depth=depth,
        labeller=labeller,
    )
    if folder is not None:
        _write_runs(folder, task, comparison)
    if json is not None:
        write_records(json, comparison.records)
    found: dict[str, list[RankingError]] = {}
    if errors is not None and knowledge_base is not None:
        found = {
            record.label: find_errors(task, ranked.rankings, comparison.passages, knowledge_base)
            for record, ranked in zip(comparison.records, comparison.runs, strict=True)
        }
        if classes is ErrorClasses.grundmann2021:
            _write_traits(console, errors, found, task, knowledge_base, max_tokens)
        else:
            write_errors(errors, found)
    if figures is not None:
        draw_figures(figures, comparison.records, found)
    print_comparison(console, comparison, [each.value.replace("-", " ") for each in by or ()])
    for path in (json, folder, errors, figures):
        if path is not None:
            console.print(f"Written: {escape(str(path))}", soft_wrap=True)


def compare(
    corpus: str,
    models: Sequence[str],
    *,
    protocol: ProtocolName = ProtocolName.rerank,
    split: str = "test",
    number: int | None = None,
    query_ids: Path | None = None,
    seed: int = 0,
    parts: bool = False,
    track: str | None = None,
    precision: Precision = "float32",
    fuse: Sequence[str] = (),
    depth: int = 100,
    labeller: NoteLabeller | None = None,
) -> tuple[Comparison, Task]:
    """Open corpus and models and compare them, with progress bars; see `evaluate` for the options."""
    ids = _read_ids(query_ids) if query_ids is not None else None
    with progress_bars() as progress:
        encoded = progress.add_task("documents", total=None, visible=False)

        def documents_done(count: int) -> None:
            progress.update(encoded, completed=count, visible=True)

        # Names first: a wrong one should fail before minutes of reading and ranking.
        opened = open_corpus(corpus, labeller=labeller)
        found = {
            name: open_contenders(
                name,
                corpus,
                split=split,
                track=track,
                parts=parts,
                precision=precision,
                progress=documents_done,
            )
            for name in models
        }
        # A model stands before its parts.
        fusions = fusions_of(fuse, {name: whole for name, (whole, *_) in found.items()}, protocol.value)
        contenders = [contender for own in found.values() for contender in own]
        reading = progress.add_task(f"reading {escape(corpus)}", total=None)
        task = build_task(opened, protocol.value, split=split, number=number, ids=ids, seed=seed)
        progress.update(reading, total=len(task.documents), completed=len(task.documents))
        progress.update(encoded, total=len(task.documents))

        def queries_of(contender: Contender) -> Callable[[int, int], None]:
            bar = progress.add_task(escape(contender.label), total=len(task.queries))
            return lambda done, total: progress.update(bar, completed=done, total=total)

        comparison = compare_models(task, contenders, fusions=fusions, depth=depth, progress=queries_of)
    return comparison, task


def print_comparison(console: Console, comparison: Comparison, groupings: Sequence[str] = ()) -> None:
    """Print measured beside published figures, match rates, and the groupings asked for."""
    tables = result_tables(comparison.records)
    tables.append(match_table(comparison.records))
    tables += [group_table(record, by) for by in groupings for record in comparison.records]
    for table in tables:
        table.print_to(console)


def _given(context: typer.Context) -> list[str]:
    """The options and arguments that were typed, by their names."""
    return [
        max(param.opts, key=len) if param.param_type_name == "option" else param.name.upper()
        for param in context.command.params
        if param.name and (source := context.get_parameter_source(param.name)) and source.name == "COMMANDLINE"
    ]


def _refuse_without_effect(
    given: Sequence[str],
    corpus: str,
    models: Sequence[str],
    protocol: ProtocolName,
    errors: Path | None,
    classes: ErrorClasses,
) -> None:
    """Raise ConfigError for an option that would change nothing: whoever typed it expects that it does."""
    learned = any(name not in LEXICAL for name in models)
    made = makes_queries(corpus)
    needed = {
        "--taxonomy": ("--errors beside it", errors is not None),
        "--classes": ("--errors beside it", errors is not None),
        "--max-tokens": ("--classes grundmann2021 beside it", classes is ErrorClasses.grundmann2021),
        "--depth": ("--protocol end-to-end beside it", protocol is ProtocolName.end_to_end),
        "--track": ("a --model that has learned", learned),
        "--parts": ("a --model that has learned", learned),
        "--precision": ("a --model that has learned", learned),
        **dict.fromkeys(("--knowledge", "--recognizer", "--aspects"), ("notes:NOTES as the corpus", made)),
    }
    for option, (what, there) in needed.items():
        if option in given and not there:
            raise ConfigError(what, f"{option} without", f"leave {option} out")


def _check_outputs(json: Path | None, runs: Path | None, figures: Path | None, errors: Path | None) -> None:
    """Raise before the work is done where its result could not be written."""
    if json is not None:
        check_records(json)
    if runs is not None:
        check_folder(runs)
    if figures is not None:
        check_figures(figures)
    if errors is not None:
        check_file(errors)
        if json is not None and json.absolute() == errors.absolute():
            raise ConfigError("different files for --json and --errors", f"{json} for both", "rename one")


def _write_traits(
    console: Console,
    path: Path,
    errors: Mapping[str, Sequence[RankingError]],
    task: Task,
    knowledge_base: KnowledgeBase,
    max_tokens: int,
) -> None:
    """Write wrong answers with the classes of grundmann2021, and print how many are in each."""
    labeller = NoteLabeller(DictionaryRecognizer(knowledge_base))
    finder = TraitFinder(task, knowledge_base, labeller, max_tokens=max_tokens)
    sorted_errors = {label: find_traits(finder, own) for label, own in errors.items()}
    write_traits(path, sorted_errors)
    trait_table(sorted_errors).print_to(console)


def _write_runs(folder: Path, task: Task, comparison: Comparison) -> None:
    for record, run in zip(comparison.records, comparison.runs, strict=True):
        name = "-".join((task.corpus, task.protocol, record.track, file_name(run.model)))
        write_run(folder / f"{name}.run.gz", run.rankings, record.label)
    write_qrels(folder / f"{task.corpus}.qrels", task.judgements)


def _read_ids(path: Path) -> list[str]:
    try:
        ids = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError("a text file of query ids", f"{path}: {error}", "write one query id a line") from None
    return ids


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Progress bars on stderr, gone when the work is done."""
    # On stderr, so that the tables can be piped.
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield progress

"""`auscult demo`: index, search and evaluate, on real documents if they can be downloaded."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from auscult.catalogue import data_dir, entry
from auscult.concepts import KnowledgeBase
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.errors import AuscultError, CorpusMissingError
from auscult.ingest.building import build_index
from auscult.ingest.knowledge import find_knowledge
from auscult.search import Searcher
from auscult.search.terminal import print_hit
from auscult.understanding import Query
from auscult_lab.corpora.obtain import obtain
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.demo import LEAFLETS

_CORPUS = "medquad"
_QUESTIONS = (
    Query("", "IgA nephropathy", ("symptoms",)),
    Query("", "heart attack", ("causes",)),
    Query("", "cystic fibrosis", ("inheritance",)),
    Query("", "", (), text="How is gout treated?"),
    Query("", "psoriasus", ("causes",)),
)
_COMPARED = ("bm25", "tfidf", "cdv")
_ENCODER = "fast"


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the index.")] = Path("out/demo-index"),
    leaflets: Annotated[bool, typer.Option("--leaflets", help="Use the leaflets.")] = False,
    evaluation: Annotated[bool, typer.Option(help="Also rank the published test queries.")] = True,
) -> None:
    """Index health documents, answer five questions, and measure against a published test.

    Uses MedQuAD's documents in AUSCULT_DATA, or downloads them; otherwise a dozen leaflets of the package.

    Example: `auscult demo`
    """
    console = Console(highlight=False)
    corpus = str(LEAFLETS) if leaflets else _choose_documents(console)
    knowledge = _find_knowledge(console)
    console.rule("[bold]1. Index")
    encoder = load_model(_ENCODER)
    searcher = _index(console, corpus, encoder, knowledge, out)
    console.rule("[bold]2. Ask")
    _warm_up(console, searcher)
    for question in _QUESTIONS:
        # Parsing a whole question needs a knowledge base.
        if question.entity or searcher.knowledge_base is not None:
            _ask(console, searcher, question)
    if evaluation and corpus == _CORPUS:
        console.rule("[bold]3. Measure")
        _measure(console, corpus)
    console.rule("[bold]Where to go next")
    # `make demo` puts the program on no path: print its relative path then.
    called = "auscult" if shutil.which("auscult") else os.path.relpath(sys.argv[0])
    here, program = escape(str(out)), escape(called)
    console.print(
        f"[bold]{program} serve {here}[/]   the page, on what was just indexed: open the address that it prints\n"
        f"{program} search {here} 'What helps against gout?'\n"
        f"{program} explain {here} --entity 'IgA nephropathy' --aspect symptoms --out curves.svg\n"
        f"{program} index YOUR-FOLDER --out your-index   PDF, Word, HTML, notes: docs/how-to/read-your-documents.md\n"
        f"{program} train --documents YOUR-FOLDER --backbone best --out your-model   learn from them, without labels",
        soft_wrap=True,
    )


def _choose_documents(console: Console) -> str:
    """Return the real corpus, downloaded if necessary, or else the leaflets. Print which."""
    try:
        open_corpus(_CORPUS)
    except CorpusMissingError as missing:
        console.print(f"{escape(missing.expected)} is not here; trying to download it.")
        try:
            obtain(entry(_CORPUS), data_dir())
        except (AuscultError, OSError) as error:
            reason = escape(str(error))
            console.print(f"[yellow]No download ({reason}). Using a dozen leaflets; there is no test for them.[/]")
            return str(LEAFLETS)
    return _CORPUS


def _find_knowledge(console: Console) -> KnowledgeBase | None:
    knowledge_base = find_knowledge()
    if knowledge_base is None:
        # The command named here prints how to get it.
        console.print("[yellow]No knowledge base (auscult data show knowledge-base): names go by their words alone.[/]")
    return knowledge_base


def _index(
    console: Console, corpus: str, encoder: DocumentEncoder, knowledge: KnowledgeBase | None, out: Path
) -> Searcher:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=None)
        report = build_index(
            open_corpus(corpus).documents(),
            encoder,
            out,
            knowledge_base=knowledge,
            corpus=corpus,
            model_path=_ENCODER,
            progress=lambda counts: bar.update(task, description=f"{counts.documents:,} documents"),
        )
    counts = report.counts
    console.print(
        f"{counts.documents:,} documents, {counts.passages:,} passages, {counts.sentences:,} sentences "
        f"in {report.seconds:.0f} s ({report.sentences_per_second:,.0f} sentences/s): {escape(str(out))}"
    )
    return Searcher.open(out, encoder)


def _warm_up(console: Console, searcher: Searcher) -> None:
    """Load names and linker, as a server does at its start, so that the later times are those of answering."""
    began = time.perf_counter()
    with console.status("loading names"):
        searcher.understand(Query("", "diabetis", ("causes",)))
        if searcher.knowledge_base is not None:
            searcher.understand(Query("", "", (), text="What causes diabetis?"))
    if searcher.knowledge_base is not None:
        names = sum(len(concept.names) for concept in searcher.knowledge_base)
        console.print(f"[dim]{names:,} names loaded in {time.perf_counter() - began:.1f} s, once a process[/]")


def _ask(console: Console, searcher: Searcher, question: Query) -> None:
    began = time.perf_counter()
    understood = searcher.understand(question)
    hits = searcher.search(understood.query, 1)
    milliseconds = 1000 * (time.perf_counter() - began)
    asked = question.text or f"⟨{question.entity}, {', '.join(question.aspects)}⟩"
    note = f"  [dim]{escape(understood.note)}[/]" if understood.note else ""
    console.print(f"[bold]{escape(asked)}[/]  [dim]{milliseconds:.1f} ms[/]{note}")
    for hit in hits:
        print_hit(console, hit)


def _measure(console: Console, corpus: str) -> None:
    # Imported here, as ir_measures takes a second to import.
    from auscult_lab.cli.evaluate import compare_named, print_comparison

    comparison, _ = compare_named(corpus, _COMPARED)
    print_comparison(console, comparison)

"""Any other record on a page: its plain fields and its lists of records, as far as a page has room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import flatten, is_table, plain

KINDS = {
    "medquad-overlap": "What MedQuAD's training documents share with its test",
    "indexing": "Indexing",
    "search": "Search",
    "sentence-splitting": "Sentence splitting",
    "reranking": "Time of re-ranking",
    "taught-reranker": "What a taught re-ranker gains",
    "workbench": "Time of the workbench",
    "adapting": "Time of adapting to notes",
    "capr-latency": "Time of bi-, poly- and cross-encoders",
    "capr-forms": "Cheaper forms of encoders",
    "note-headings": "Headings of notes",
    "entity_recognition": "Entities of notes",
    "entity_linking": "Linking to knowledge graphs",
    "knowledge_vectors": "Vectors of knowledge graphs",
    "nothing_here": "Questions without an answer",
    "left_out": "Collections whose questions nobody fitted weights on",
    "scans": "Scanned pages",
    "spans": "Answers whose boundaries nobody marked",
    "marks": "Sentences that hits mark",
    "general_ablation": "What each evidence adds",
    "weighted-cosine": "All snippets ranked",
    "weighted-cosine-why": "Cross-validated, by the vectors' text, and by the pool",
    "target_spaces": "Targets",
    "names_seen": "Names that training saw",
    "knowledge_seeds": "Knowledge over several seeds",
    "writing_together": "Writing to PostgreSQL from files",
    "published": "An index on servers, beside its folder",
    "general_towers": "What context and each term of the loss add",
}
"""Titles of kinds of records, in the order of the page; further kinds follow by name."""

_UNTOLD = ("kind", "title", "history", "left_out_as_too_long", "first_hits")
"""What no page tells; marks within first hits, say, are much as those within passages that answer."""
_WHENCE = frozenset(
    {
        *("version", "revision", "seed", "python", "torch", "fingerprint", "corpus", "model", "encoder: name"),
        *("repeats", "resamples", "cores used", "speed repeats", "speed paragraphs", "speed characters", "threads"),
        *("dim", "hits", "half", "word vector length", "minutes given", "backbone", "page bytes", "filtered"),
        *("tokens of a passage", "distinct passages", "longest seconds", "track", "precision", "corpora"),
    }
)
"""What the tables for programs tell, and no page; also settings, whose names begin with "default: " or "versions: "."""
COLUMNS = {
    "rows": ("model", "ms per query", "times bm25"),
    "forms": ("model", "form", "queries", "R@1"),
    "styles": ("style", "precision", "recall", "f1"),
    "recognizers": ("recognizer", "megabytes per second", "entities"),
    "graphs": ("graph", "names", "build seconds"),
    "runs": ("graph", "triples", "MRR", "Hits@10", "frequency MRR"),
    "kinds": ("kind", "questions", "auc", "low", "high", "told nothing"),
    "weights": ("collection", "fitted on", "ndcg10", "p1", "p1 spread"),
    "certainty": (
        *("collection", "calibration error", "auc", "told nothing where right", "said to answer where right"),
        *("told nothing without answers", "at most may answer without answers"),
    ),
    "collections": (
        *("collection", "questions", "first hit right", "auc", "told nothing", "told nothing where right"),
        "told nothing without answers",
    ),
    "ways": (
        *("way", "f1", "f1 low", "f1 high", "boundary", "near", "span better by"),
        *("touched", "belonging", "characters", "marks"),
        *("recall", "worst recall", "precision", "headings", "seconds"),
    ),
    "gains": ("corpus", "model", "nDCG@10", "gain by reranker: nDCG@10"),
    "splits": (
        "split",
        "documents",
        "documents sharing a name or concept",
        "documents sharing a passage",
        "documents titled by a concept of a test title",
        "documents with 13 words of a test document",
        "answers of the test that are a passage",
    ),
    "unseen queries": ("file", "queries"),
    "folds": ("model", "MAP@10", "MAP@10, interval", "P@10", "R@10", "F1@10"),
    "texts": ("share", "words", "CD", "CD_idf", "CD_q"),
    "pools": ("others for each that answers", "RND", "BM25", "CD", "CD_idf", "CD_q"),
    "writers": (
        *("way", "sentences per second", "sentences per processor second", "seconds", "processor seconds"),
        "load",
    ),
    "relations": ("graph", "relation", "object MRR", "object MRR, frequency"),
}
"""Which columns of a list a reader asks for, by the list's name; of others the first ones."""
_MOST_COLUMNS, _MOST_ROWS, _MOST_FIELDS = 5, 18, 9
_MEASURED = ("date", "hardware")
_DAY = len("2026-01-31")


def in_order(kinds: Mapping[str, Any]) -> list[str]:
    """Kinds in the order of their page."""
    return [*(kind for kind in KINDS if kind in kinds), *sorted(kind for kind in kinds if kind not in KINDS)]


def measurement(kind: str, records: Sequence[Mapping[str, Any]]) -> str:
    """A section of a kind of records."""
    parts = [f"## {KINDS.get(kind, kind.capitalize())}\n"]
    for record in records:
        flat = dict(flatten({name: value for name, value in record.items() if name not in _UNTOLD}))
        if "title" in record:
            parts.append(f"{record['title']}.\n")
        fields = tuple((name, plain(value)) for name, value in flat.items() if _is_told(name, value))
        if fields:
            parts.append(TextTable("", ("", "value"), fields[:_MOST_FIELDS]).as_markdown())
        if whence := [
            plain(flat[name])[:_DAY] if name == "date" else plain(flat[name]) for name in _MEASURED if name in flat
        ]:
            parts.append(f"Measured: {', '.join(whence)}.\n")
        if kind == "sentence-splitting":
            parts.append(_splitters(record).as_markdown())
        else:
            parts += [_table(rows, name) for name, rows in flat.items() if is_table(rows)]
    return "\n".join(parts)


def _is_told(name: str, value: Any) -> bool:
    setting = name.startswith(("versions: ", "default: "))
    return not (is_table(value) or setting or name in _WHENCE or name in _MEASURED)


def _splitters(record: Mapping[str, Any]) -> TextTable:
    """A row a splitter; precision, recall and the two strata are on the page of the experiment."""
    rows = tuple(
        (
            f"{each['splitter']}{' (default)' if each['default'] else ''}",
            f"{100 * each['framed']['all']['f1']:.1f}",
            f"{100 * each['framed']['all']['exact']:.1f}",
            plain(each["sentences_per_second"]),
        )
        for each in record["splitters"]
    )
    notes = ("More: [sentence splitting](../explanation/sentence-splitting.md).",)
    return TextTable("", ("Splitter", "boundary F1", "exact sentences", "sentences/s"), rows, notes)


def _table(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """A list of records, as far as its columns have room; of one that a figure or a program reads better its length."""
    if len(rows) > _MOST_ROWS:
        return f"{name.capitalize()}: {len(rows)} rows in the tables for programs.\n"
    flattened = [{key: value for key, value in flatten(row) if not is_table(value)} for row in rows]
    columns = tuple(dict.fromkeys(column for row in flattened for column in row))
    asked = [column for column in COLUMNS.get(name.replace("_", " "), ()) if column in columns]
    shown = tuple(asked) or columns[:_MOST_COLUMNS]
    cells = tuple(tuple(plain(row.get(column, "")) for column in shown) for row in flattened)
    return f"{name.capitalize()}:\n\n" + TextTable("", shown, cells).as_markdown()

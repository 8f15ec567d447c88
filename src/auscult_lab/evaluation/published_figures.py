"""Published figures, stored as data with citations, for comparison with measured ones."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from auscult_lab.evaluation.tracks import Trained

_FOLDER = resources.files("auscult_lab.evaluation").joinpath("published")

TABLES = (
    "arnold2020_table3.json",
    "zhu2019_table2.json",
    "zhu2019_table3.json",
    "wang2021_table2.json",
    "wang2021_table3.json",
    "grundmann2021_table3_wikipedia.json",
    "grundmann2021_table3_mimic.json",
    "grundmann2021_table3_both.json",
)
"""Files of re-ranking tables. Where several hold a corpus, the first that fits a result is its main one."""
STANDS_FOR = {"clinical-notes": "mimic-iii"}
"""Corpora that stand in for one that may not be passed on, and whose figures are the nearest there are."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One model's published figures on one corpus.

    Attributes:
        citation: Key in `references.bib`.
        group: Its heading in the paper's table.
        track: "untrained", "zero-shot" or "adapted".
        measures: As fractions, in ir_measures' notation, and "MAP". A figure that cannot be read is left out.
        repeated_by: Further names of models that repeat it: the same architecture on any encoder.
    """

    citation: str
    group: str
    model: str
    track: str
    measures: dict[str, float]
    repeated_by: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Names of models that repeat it, in small letters and digits only."""
        return frozenset(_plain(name) for name in (self.model, *self.repeated_by))


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """One published table's figures on one corpus.

    Attributes:
        citation: Key in `references.bib`.
        table: Its name in the paper: "Table 3".
        track: Track of its trained models on this corpus: "zero-shot" or "adapted".
        trained_on: Kind of text that they learned from.
        candidates: Number of passages ranked per query; None where the paper does not say.
        queries: Number of queries; None where the paper does not say.
        measures: Names of the columns, in ir_measures' notation, and "MAP".
        rows: In the paper's order.
        note: Explanation for readers; may be empty.
    """

    citation: str
    table: str
    corpus: str
    track: str
    trained_on: Trained
    candidates: int | None = None
    queries: int | None = None
    measures: tuple[str, ...]
    rows: tuple[PublishedRow, ...] = field(repr=False)
    note: str = ""

    @property
    def title(self) -> str:
        """Citation and name: "zhu2019, Table 2"."""
        return f"{self.citation}, {self.table}"

    def find(self, model: str) -> PublishedRow | None:
        """Find the row that a model repeats: the longest published name that equals its own or begins it.

        The published name must end at a separator: "CDV+avg-fasttext, mention labels" repeats "CDV+avg-fasttext", but
        "HAR-WCA" does not repeat "HAR". A single-task variant "(entity only)" and ensembles ("CAPR-Bi + CAPR-Cross")
        repeat no row; a Longformer repeats Longformers only. Hyphens and case are ignored: "MV-LSTM" repeats "MVLSTM".
        """
        if "only)" in model or " + " in model:
            return None
        own = {_plain(model)} | {_plain(model[: end.start()]) for end in re.finditer(r"[ ,(]", model)}
        if "longformer" in _plain(model):
            own = {name for name in own if "longformer" in name}
        rows = [row for row in self.rows if row.names & own]
        return max(rows, key=lambda row: max(map(len, row.names & own)), default=None)


@cache
def published_tables(corpus: str, candidates: float | None = None) -> tuple[PublishedTable, ...]:
    """Return the published tables on a corpus with which a re-ranking result may be compared.

    Args:
        corpus: Its name.
        candidates: Mean number of candidates per query of the result. Tables with half or twice as many, or further
            off, are left out where there are nearer ones: a measure over ten candidates says little about one over
            sixty-four. None returns all tables.

    Returns:
        The main one first; none for an unknown corpus.
    """
    corpus = STANDS_FOR.get(corpus, corpus)
    tables = tuple(each for name in TABLES if (each := _table(published_content(name), corpus)) is not None)
    if candidates is None:
        return tables
    near = (each for each in tables if each.candidates is None or 0.5 < candidates / each.candidates < 2)
    return tuple(near) or tables


def published_measures(corpus: str) -> tuple[str, ...]:
    """Return the measures of all published tables on a corpus, in ir_measures' notation ("AP" for "MAP")."""
    names = (name for table in published_tables(corpus) for name in table.measures)
    return tuple(dict.fromkeys("AP" if name == "MAP" else name for name in names))


@cache
def published_references() -> dict[str, dict[str, str]]:
    """Return authors, title and venue by citation key, from all files that have them."""
    contents = [published_content(path.name) for path in _FOLDER.iterdir() if path.name.endswith(".json")]
    return {
        content["citation"]: {part: content[part] for part in ("authors", "title", "venue")}
        for content in contents
        if "authors" in content
    }


@cache
def published_match_rates() -> tuple[tuple[str, float, float], ...]:
    """Return each part with its lowest and highest rate on three test sets, in percent (arnold2020, Figure 5)."""
    return tuple(
        (row["rate"], row["lowest"], row["highest"]) for row in published_content("arnold2020_figure5.json")["rows"]
    )


def _table(content: dict[str, Any], corpus: str) -> PublishedTable | None:
    """Parse a table of one corpus, or of several with rows and numbers of queries by corpus."""
    single = content.get("corpus")
    if single is not None and single != corpus:
        return None
    rows = [(row, row["measures"] if single else row["measures"].get(corpus)) for row in content["rows"]]
    if not any(figures for _, figures in rows):
        return None
    queries, track = content["queries"], content["track"]
    track = track[corpus] if isinstance(track, dict) else track
    return PublishedTable(
        citation=content["citation"],
        table=content["table"],
        corpus=corpus,
        track=track,
        trained_on=content["trained_on"],
        candidates=content["candidates"],
        queries=queries[corpus] if isinstance(queries, dict) else queries,
        measures=tuple(content["measures"]),
        rows=tuple(
            PublishedRow(
                content["citation"],
                row["group"],
                row["model"],
                row.get("track", track),
                {name: value / 100.0 for name, value in figures.items()},
                tuple(row.get("repeated_by", ())),
            )
            for row, figures in rows
            if figures
        ),
        note=content.get("note", ""),
    )


def published_content(name: str) -> dict[str, Any]:
    """Read a file of published figures by its name."""
    content: dict[str, Any] = json.loads(_FOLDER.joinpath(name).read_text(encoding="utf-8"))
    return content


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())

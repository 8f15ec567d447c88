"""What context and knowledge add: tables of CK-HQA's variants (wang2021, section 5), from records alone.

The paper's four questions, and three of the fusion layer, are answered by differences between variants with paired
intervals and tests; its other tables are its measures, the effect of a question's length (Figure 5), and costs
(Table 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from auscult_lab.evaluation.breakdown import FEW, LENGTHS, counted
from auscult_lab.evaluation.measures import CUTOFF_MEASURES
from auscult_lab.evaluation.published_figures import PublishedTable, published_tables
from auscult_lab.evaluation.records import Asked, EvaluationRecord
from auscult_lab.evaluation.statistics import Difference
from auscult_lab.evaluation.tables import TextTable, percent
from study.pages.reading import Filed
from study.published import published_costs
from study.variants import HEADS, QUESTIONS, Question, Variant, variant_of

PUBLISHED = ("healthqa", "nfcorpus")
"""Corpora of the paper: its Tables 2 and 3."""
_SIGNIFICANT = 0.05
_VERDICTS = ("gain", "loss", "no difference shown")
_FIGURE_5 = ("", "W", "BC", "BC-W")


def variants(records: Sequence[EvaluationRecord]) -> list[tuple[Variant, EvaluationRecord]]:
    """Return the variants among records, head by head; none if there are only heads, which any bench may have.

    Several records may be of one variant: tables show their titles.
    """
    by_variant = [(variant, record) for record in records if (variant := variant_of(record.model)) is not None]
    if not any(variant.given for variant, _ in by_variant):
        return []
    return sorted(by_variant, key=lambda pair: pair[0].place)


def context_knowledge_tables(records: Sequence[EvaluationRecord]) -> list[TextTable]:
    """Build all tables of the variants of one task and track; none without variants."""
    tables = [
        measures_table(records),
        *(question_table(records, question) for question in QUESTIONS),
        length_table(records),
        cost_table(records),
    ]
    return [table for table in tables if table.rows]


def measures_table(records: Sequence[EvaluationRecord]) -> TextTable:
    """Build the table of the paper's measures for every variant (its Tables 2 and 3), with an interval of MAP."""
    names = ("MAP", *CUTOFF_MEASURES)
    rows = []
    for _, record in variants(records):
        low, high = record.intervals.get("MAP", (0.0, 0.0))
        interval = f" [{100 * low:.1f}, {100 * high:.1f}]" if "MAP" in record.intervals else ""
        cells = [percent(record.measures[name]) if name in record.measures else "" for name in names]
        rows.append((record.model, cells[0] + interval, *cells[1:]))
    notes = (
        "Percent. B: context of every layer; C: and the state of [CLS]; SC: both, of a domain encoder; W: a general "
        "graph; U: a domain graph; NONE: the layer that fuses them, without an entity. A head alone reads words.",
    )
    return TextTable("Context and knowledge: measures", ("Model", *names), tuple(rows), notes)


def question_table(records: Sequence[EvaluationRecord], question: Question) -> TextTable:
    """Build the table of a question: differences between variants, with intervals, tests, and the published ones.

    Args:
        records: Of one task and track; differences are shown between those that were compared with each other.
        question: Of `QUESTIONS`.
    """
    compared = list(_comparisons(records, question))
    rows = tuple(
        (
            pair.better.model,
            pair.worse.model,
            _gap(pair.gaps["MAP"]),
            _gap(pair.gaps["R@1"]),
            _verdict(pair.gaps["MAP"]),
            *_published(*pair.variants),
        )
        for pair in compared
    )
    columns = ("Model", "against", "MAP", "R@1", "by MAP", *(f"publ. MAP, {corpus}" for corpus in PUBLISHED))
    notes = (
        _answer([pair.gaps["MAP"] for pair in compared]),
        "Differences in points, with 95 % paired bootstrap intervals and p of a paired randomisation test, corrected "
        "after Holm over all comparisons of variants.",
        "Published: differences of the figures of wang2021, Tables 2 and 3: other corpora, encoders and graphs.",
    )
    return TextTable(question.title, columns, rows, notes)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Two variants that were compared: the one that should be better, the other, and their differences by measure."""

    better: EvaluationRecord
    worse: EvaluationRecord
    variants: tuple[Variant, Variant]
    gaps: Mapping[str, Difference]


def _comparisons(records: Sequence[EvaluationRecord], question: Question) -> Iterator[_Comparison]:
    """Yield the comparisons that answer a question, among records of one task and track."""
    by_variant = variants(records)
    pairs = [(Variant(head, better), Variant(head, worse)) for better, worse in question.pairs for head in HEADS]
    for pair in pairs:
        better, worse = ([record for variant, record in by_variant if variant == side] for side in pair)
        for record, other in product(better, worse):
            if record.compared_in == other.compared_in:
                for difference in (entry for entry in record.differences if entry.than == other.label):
                    yield _Comparison(record, other, pair, difference.measures)


def questions_table(filed: Sequence[Filed], repeated: Sequence[Mapping[str, Any]] = ()) -> TextTable:
    """Build a row per question: its comparisons over all tasks and tracks, counted by verdict.

    Args:
        filed: The records; only variants of one evaluation are compared.
        repeated: Records of several seeds: what they compare, a single training need not.

    Returns:
        The table; without rows where nothing was compared.
    """
    left_out = {
        (record["corpus"], "adapted", gap["model"], gap["than"]) for record in repeated for gap in record["differences"]
    }
    tasks = dict.fromkeys((entry.record.asked, entry.record.track) for entry in filed)
    rows = []
    for question in QUESTIONS:
        gaps = [
            pair.gaps["MAP"]
            for asked, track in tasks
            for pair in _comparisons(_of_task(filed, asked, track), question)
            if (asked.corpus, track, pair.better.model, pair.worse.model) not in left_out
        ]
        if gaps:
            rows.append(_counted(question, gaps))
    columns = ("Question", *_VERDICTS, "MAP from", "to")
    notes = (
        "Differences in points of MAP; p < 0.05 after Holm's correction. Each, with its interval: "
        "[differences](../../benchmarks/results/tables/differences.csv).",
    )
    return TextTable("What context and knowledge add", columns, tuple(rows), notes)


def _of_task(filed: Sequence[Filed], asked: Asked, track: str) -> list[EvaluationRecord]:
    return [entry.record for entry in filed if (entry.record.asked, entry.record.track) == (asked, track)]


def _counted(question: Question, gaps: Sequence[Difference]) -> tuple[str, ...]:
    """Return a question's row: number of comparisons by verdict, smallest and largest difference."""
    verdicts = Counter(map(_verdict, gaps))
    means = sorted(gap.mean for gap in gaps)
    ends = (f"{100 * mean:+.2f}" for mean in (means[0], means[-1]))
    return (question.title, *(str(verdicts[verdict]) for verdict in _VERDICTS), *ends)


def length_table(records: Sequence[EvaluationRecord], measure: str = "MAP") -> TextTable:
    """Build the table of variants by the length of questions in words (Figure 5)."""
    by_variant = _with_lengths(records)
    queries = {group.name: group.queries for _, record in by_variant for group in record.by_length}
    lengths = [name for name in LENGTHS if name in queries]
    rows = []
    for _, record in by_variant:
        by_length = {group.name: group.measures for group in record.by_length}
        figures = [percent(by_length[name][measure]) if name in by_length else "" for name in lengths]
        rows.append((record.model, *figures, percent(record.measures[measure])))
    columns = ("Model", *(f"{name} ({counted(queries[name])})" for name in lengths), "all")
    read = all(record.length_of == "query" for _, record in by_variant)
    notes = (
        f"{measure} in percent by words of the {'query as it is read' if read else 'question as it was asked'}; in "
        f"brackets, how many; *: fewer than {FEW}, too few to tell lengths apart.",
        *(() if read else ("Models read entity and aspects instead, where a question has them.",)),
    )
    return TextTable("By length of the question", columns, tuple(rows), notes)


def cost_table(records: Sequence[EvaluationRecord]) -> TextTable:
    """Build the table of costs and MAP of variants (Table 4, which has DRMM-TKS only)."""
    published = {corpus: published_costs(corpus) for corpus in PUBLISHED}
    rows = []
    for variant, record in variants(records):
        seconds = record.training.get("seconds")
        cells = [record.model, f"{seconds / 60:.1f}" if isinstance(seconds, int | float) else ""]
        cells += [f"{record.ms_per_query:.2f}", percent(record.measures["MAP"])]
        for corpus in PUBLISHED:
            cost = published[corpus].get(variant.name.replace("DRMM-TKS", "DRMMTKS"))
            cells += [f"{cost.training_minutes:.2f}", f"{cost.query_ms:.2f}"] if cost else ["", ""]
        rows.append(tuple(cells))
    beside = (f"publ. {what}, {corpus}" for corpus in PUBLISHED for what in ("min", "ms"))
    candidates = sorted({record.candidates for _, record in variants(records) if record.candidates})
    over = f", over {candidates[0]:.0f} candidates" if candidates else ""
    notes = (f"Training without preparation. A query's time{over}; of how many the published one is, is not said.",)
    return TextTable("Costs", ("Model", "training, min", "ms per query", "MAP", *beside), tuple(rows), notes)


def figure_records(records: Sequence[EvaluationRecord]) -> list[EvaluationRecord]:
    """Return the records whose results by length are drawn: of one head, as in Figure 5, words, W, BC and BC-W.

    U replaces a missing W. Empty if there are fewer than two. Of several records of one variant the first is drawn.
    """
    by_variant = _with_lengths(records)
    for head in reversed(HEADS):
        by_input = {variant.given: record for variant, record in reversed(by_variant) if variant.head == head}
        chosen = [by_input.get(given) or by_input.get(given.replace("W", "U")) for given in _FIGURE_5]
        drawn = [record for record in chosen if record is not None]
        if len(drawn) > 1:
            return drawn
    return []


def _with_lengths(records: Sequence[EvaluationRecord]) -> list[tuple[Variant, EvaluationRecord]]:
    """Return the variants with results by length. Lengths of queries are preferred: other lengths make other groups."""
    with_lengths = [(variant, record) for variant, record in variants(records) if record.by_length]
    return [pair for pair in with_lengths if pair[1].length_of == "query"] or with_lengths


def _gap(gap: Difference) -> str:
    p = "p < 0.001" if gap.p < 0.001 else f"p = {gap.p:.3f}"
    return f"{100 * gap.mean:+.2f} [{100 * gap.low:+.2f}, {100 * gap.high:+.2f}], {p}"


def _verdict(gap: Difference) -> str:
    if gap.p >= _SIGNIFICANT:
        return "no difference shown"
    return "gain" if gap.mean > 0 else "loss"


def _answer(gaps: Sequence[Difference]) -> str:
    """Return a sentence that counts the verdicts of a question's comparisons."""
    verdicts = [_verdict(gap) for gap in gaps]
    counts = (f"{verdicts.count('gain')} significant gains", f"{verdicts.count('loss')} significant losses")
    least, most = min((gap.mean for gap in gaps), default=0.0), max((gap.mean for gap in gaps), default=0.0)
    return (
        f"Of {len(gaps)} comparisons by MAP: {counts[0]}, {counts[1]}, "
        f"{verdicts.count('no difference shown')} without a difference that could be "
        f"shown; from {100 * least:+.2f} to {100 * most:+.2f} points."
    )


def _published(first: Variant, second: Variant) -> tuple[str, ...]:
    tables = [_paper_table(corpus) for corpus in PUBLISHED]
    cells = []
    for table in tables:
        rows = [table.find(variant.name) if table else None for variant in (first, second)]
        values = [row.measures["MAP"] for row in rows if row is not None and "MAP" in row.measures]
        cells.append(f"{100 * (values[0] - values[1]):+.2f}" if len(values) == len(rows) else "")
    return tuple(cells)


def _paper_table(corpus: str) -> PublishedTable | None:
    return next((table for table in published_tables(corpus) if table.citation == "wang2021"), None)

"""The conclusion of a comparison in words: the best model, significance, and the recommended model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.tables import beaten_by

_PREFERRED = ("MAP", "AP", "nDCG@10", "nDCG@5", "RR", "R@1")
_FEW = 50
"""With fewer questions only large differences can be told from chance."""
_NAMED = 3


def deciding_measure(records: Sequence[EvaluationRecord]) -> str:
    """Return the deciding measure: MAP, else the most similar one that all models have, else the first."""
    for name in _PREFERRED:
        if all(name in record.measures for record in records):
            return name
    return next(iter(records[0].measures))


def best_first(records: Sequence[EvaluationRecord]) -> list[EvaluationRecord]:
    """Sort records by the deciding measure; the cheaper of equal ones comes first."""
    name = deciding_measure(records)
    return sorted(records, key=lambda each: (-each.measures.get(name, 0.0), *_cost(each)))


def short_names(records: Sequence[EvaluationRecord]) -> dict[str, str]:
    """Return a short name by label: the model's name where no other model has it, else the label."""
    names = [record.model for record in records]
    return {record.label: record.model if names.count(record.model) == 1 else record.label for record in records}


def conclude(records: Sequence[EvaluationRecord]) -> tuple[str, ...]:
    """Write two to five sentences, the first of them the headline.

    The recommended model is the cheapest of those that the best one does not beat significantly: fewest milliseconds
    per query, then the shortest training, which is needed only once.

    Args:
        records: Records of one comparison, at least one.
    """
    name = deciding_measure(records)
    best, *others = best_first(records)
    called = short_names(records)
    low, high = best.intervals.get(name, (None, None))
    interval = (
        f" (95 % interval {_format_percent(low)} to {_format_percent(high)})"
        if low is not None and high is not None
        else ""
    )
    sentences = [f"{called[best.label]} ranks best: {name} {_format_percent(best.measures[name])} %{interval}."]
    if not others:
        return tuple(sentences)
    beaten = set(beaten_by(best, name))
    equals = [each for each in others if each.label not in beaten]
    sentences += [
        _state_significance([called[each.label] for each in others], [called[each.label] for each in equals]),
        *_name_other_winner(records, best, called),
        _recommend(name, best, equals, called),
    ]
    if best.queries < _FEW:
        sentences.append(f"With {best.queries} test questions, only large differences can be told from chance.")
    return tuple(sentences)


def _state_significance(others: Sequence[str], equals: Sequence[str]) -> str:
    if not equals:
        return f"It is significantly better than {others[0] if len(others) == 1 else f'all {len(others)} others'}."
    if len(equals) == len(others):
        return "No other model is significantly worse."
    beaten = len(others) - len(equals)
    return f"It is significantly better than {beaten} of {len(others)} others, but not than {_join_names(equals)}."


def _name_other_winner(
    records: Sequence[EvaluationRecord], best: EvaluationRecord, called: Mapping[str, str]
) -> list[str]:
    """Return a sentence on the best model by nDCG, which weights the order and grades of several answers."""
    name = next((each for each in best.measures if each.startswith("nDCG")), None)
    if name is None or name == deciding_measure(records):
        return []
    first = max(records, key=lambda each: each.measures.get(name, 0.0))
    if first.measures[name] <= best.measures[name]:
        return []
    figures = f"{_format_percent(first.measures[name])} % against {_format_percent(best.measures[name])} %"
    return [f"By {name}, {called[first.label]} is ahead of it ({figures})."]


def _recommend(name: str, best: EvaluationRecord, equals: Sequence[EvaluationRecord], called: Mapping[str, str]) -> str:
    choice = min([best, *equals], key=_cost)
    if choice is best:
        reason = "none of the models that may be as good is cheaper" if equals else "no other model is as good"
        return f"Take {called[best.label]}: {reason}."
    points = 100.0 * (best.measures[name] - choice.measures.get(name, 0.0))
    gain = f"{points:.1f} points of {name}, which may be chance,"
    costs = f"{_format_milliseconds(best)} instead of {_format_milliseconds(choice)} per query"
    unit, per = ("minutes", 1.0) if _minutes(best) >= 1.0 else ("seconds", 60.0)
    more, less = round(_minutes(best) * per), round(_minutes(choice) * per)
    if more > less:
        costs += f" and {more:,} instead of {less:,} {unit} of training"
    return f"Take {called[choice.label]} unless {gain} are worth {costs}."


def _cost(record: EvaluationRecord) -> tuple[float, float]:
    return record.ms_per_query, _minutes(record)


def _minutes(record: EvaluationRecord) -> float:
    return float(record.training.get("seconds") or 0.0) / 60.0


def _format_milliseconds(record: EvaluationRecord) -> str:
    value = record.ms_per_query
    return f"{value:,.0f} ms" if value >= 10 else f"{value:.2g} ms"


def _format_percent(fraction: float) -> str:
    return f"{100.0 * fraction:.1f}"


def _join_names(names: Sequence[str]) -> str:
    """Join up to three names; return the number of more names, to keep a headline short."""
    if len(names) > _NAMED:
        return f"{len(names)} of them"
    return " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])

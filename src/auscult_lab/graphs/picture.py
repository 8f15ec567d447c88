"""Draw a neighbourhood as a tree to both sides of its entity, with one colour per relation.

Names are long, so entities are arranged in columns, one per step, and not in circles. The triangle beside an entity
points from the subject of the triple to its object. Triples outside the tree are dotted arcs.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auscult.drawing import blank_figure, check_target, drawing_style, write_figure
from auscult_lab.graphs.neighbourhood import Neighbourhood

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _GREY, _FAINT = "#22272e", "#6b7280", "#d5d9de"
# Distinguishable for the colour-blind, too (Okabe and Ito, yellow darkened); further relations are grey.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b38600", "#56b4e9", "#7f4fc9", "#8c564b")
_STYLE = {"font.family": "DejaVu Sans", "font.size": 9, "text.parse_math": False}
#: Inches: between rows, from the centre to the first column and between columns, title, a row of the key.
_ROW, _REACH, _TITLE, _KEY, _MARGIN = 0.27, 1.0, 0.82, 0.24, 0.25
_LONGEST = 48


@dataclass(frozen=True, slots=True)
class _Node:
    """Position of an entity, in inches from the centre; `side` is 1 to the right and -1 to the left of it."""

    x: float
    y: float
    side: int
    label: str
    #: Where the edges to its own children begin.
    end: float


def save_picture(around: Neighbourhood, path: Path | str) -> None:
    """Draw a neighbourhood to a .svg, .png or .pdf file, which is written atomically.

    Raises:
        ConfigError: The path has no suffix of a picture.
        DataError: The file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    path = Path(path)
    check_target(path)
    with drawing_style(_STYLE):
        figure = blank_figure()
        draw_picture(around, figure)
        write_figure(figure, path)


def draw_picture(around: Neighbourhood, figure: Any) -> None:
    """Draw into an empty matplotlib figure, and set its size to fit."""
    centre = textwrap.wrap(around.graph.names[0][0], 20, max_lines=4, placeholder=" …")
    # Names, with the id where several entities have one name.
    called = [_label(names[0]) for names in around.graph.names]
    counts = Counter(called)
    both = list(zip(called, around.graph.entities, strict=True))[1:]
    labels = ["\n".join(centre), *(name if counts[name] == 1 else f"{name} ({id_})" for name, id_ in both)]
    sizes = [_measure(figure, label, fontweight="normal" if place else "bold") for place, label in enumerate(labels)]
    nodes = _place(around, labels, sizes)
    left, right = min(-1.5, *(node.end for node in nodes)), max(1.5, *(node.end for node in nodes))
    # The title begins at the left edge and may be longer than the tree is wide.
    title = _measure(figure, _title(around)[0], fontsize=13, fontweight="bold")
    width = max(right - left, title, 5.0) + 2 * _MARGIN
    rows = _key(around, figure, width - 2 * _MARGIN)
    top = max(node.y for node in nodes) + 0.3 + _TITLE
    bottom = min(node.y for node in nodes) - 0.45 - _KEY * len(rows)
    figure.set_size_inches(width, top - bottom)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    middle = (left + right) / 2
    axes.set(xlim=(middle - width / 2, middle + width / 2), ylim=(bottom, top))
    axes.axis("off")
    _draw_edges(around, nodes, axes)
    _draw_nodes(around, nodes, axes)
    start = middle - width / 2 + _MARGIN
    for text, size, weight, colour, drop in zip(
        _title(around), (13, 9), ("bold", "normal"), (_INK, _GREY), (0.22, 0.52), strict=True
    ):
        axes.text(start, top - drop, text, fontsize=size, fontweight=weight, color=colour, va="top")
    _draw_key(rows, start, bottom + _KEY * len(rows), axes)


def _title(around: Neighbourhood) -> tuple[str, str]:
    name, identifier = around.graph.names[0][0], around.graph.entities[0]
    shown = len(around.distances) - 1
    of_all = f"all {shown}" if shown == around.within else f"the closest {shown} of {around.within:,}"
    return _label(name, 70), f"{identifier} · {of_all} entities within {around.steps} step{'s' * (around.steps > 1)}"


def _label(text: str, letters: int = _LONGEST) -> str:
    return textwrap.shorten(text, letters, placeholder=" …") if " " in text else text[:letters]


def _measure(figure: Any, text: str, **style: Any) -> float:
    """Return the width of a text in inches."""
    drawn = figure.text(0, 0, text, **style)
    width = float(drawn.get_window_extent().width) / float(figure.dpi)
    drawn.remove()
    return width


def _place(around: Neighbourhood, labels: Sequence[str], sizes: Sequence[float]) -> list[_Node]:
    """Return the nodes of a tree to both sides, in the order of the entities."""
    children: list[list[int]] = [[] for _ in labels]
    for child, link in enumerate(around.links, 1):
        children[link.parent].append(child)
    for siblings in children:
        siblings.sort(key=lambda child: (around.links[child - 1].relation, around.links[child - 1].outward, child))
    places = {0: _Node(0.0, 0.0, 1, labels[0], sizes[0] / 2)}
    for side, first in zip((1, -1), _sides(around, children), strict=True):
        rows: dict[int, float] = {}
        count = 0.0
        for child in first:
            count = _rows(child, children, rows, count)
        # A column begins after the longest name of the one before.
        begins = [0.0, sizes[0] / 2 + 0.15 + _REACH]
        for step in range(1, max(around.distances) + 1):
            widest = max((sizes[entity] for entity in rows if around.distances[entity] == step), default=0.0)
            begins.append(begins[-1] + widest + _REACH)
        for entity, row in rows.items():
            x = begins[around.distances[entity]]
            y = ((count - 1) / 2 - row) * _ROW
            places[entity] = _Node(side * x, y, side, labels[entity], side * (x + 0.12 + sizes[entity]))
    return [places[entity] for entity in range(len(labels))]


def _sides(around: Neighbourhood, children: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return the centre's children on the right and left: objects and subjects, or halves if one side is far longer."""

    def leaves(entity: int) -> int:
        return sum(map(leaves, children[entity])) or 1

    right = [child for child in children[0] if around.links[child - 1].outward]
    left = [child for child in children[0] if not around.links[child - 1].outward]
    heights = sorted(sum(map(leaves, side)) for side in (right, left))
    if heights[1] <= 2 * heights[0] + 3:
        return right, left
    ordered, height = [*right, *left], 0
    for place, child in enumerate(ordered):
        height += leaves(child)
        if 2 * height >= sum(heights):
            return ordered[: place + 1], ordered[place + 1 :]
    return ordered, []


def _rows(entity: int, children: Sequence[Sequence[int]], rows: dict[int, float], count: float) -> float:
    """Set the rows of an entity and its descendants from `count` on; an entity is in the middle of its children."""
    if not children[entity]:
        rows[entity] = count
        return count + 1
    for child in children[entity]:
        count = _rows(child, children, rows, count)
    rows[entity] = (rows[children[entity][0]] + rows[children[entity][-1]]) / 2
    return count


def _colour(relation: int) -> str:
    return _COLOURS[relation] if relation < len(_COLOURS) else _GREY


def _draw_edges(around: Neighbourhood, nodes: Sequence[_Node], axes: Axes) -> None:
    along = np.linspace(0, 1, 40)
    bend = along**2 * (3 - 2 * along)
    tree = set()
    for child, link in enumerate(around.links, 1):
        parent, node = nodes[link.parent], nodes[child]
        start = node.side * (parent.end + 0.15) if link.parent == 0 else parent.end + node.side * 0.06
        end = node.x - node.side * 0.02
        axes.plot(
            start + (end - start) * along, parent.y + (node.y - parent.y) * bend,
            color=_colour(link.relation), linewidth=1.1, alpha=0.75, zorder=1,
        )  # fmt: skip
        ends = (link.parent, child) if link.outward else (child, link.parent)
        tree.add((ends[0], link.relation, ends[1]))
    for subject, relation, object_ in around.graph.triples.tolist():
        if subject != object_ and (subject, relation, object_) not in tree:
            a, b = nodes[subject], nodes[object_]
            axes.annotate(
                "", xy=(b.x, b.y), xytext=(a.x, a.y), zorder=0,
                arrowprops={"arrowstyle": "-|>,head_width=0.15,head_length=0.3", "color": _colour(relation),
                            "linestyle": (0, (1, 2)), "linewidth": 0.9, "alpha": 0.7, "shrinkA": 4, "shrinkB": 4,
                            "connectionstyle": "arc3,rad=0.22"},
            )  # fmt: skip


def _draw_nodes(around: Neighbourhood, nodes: Sequence[_Node], axes: Axes) -> None:
    for child, link in enumerate(around.links, 1):
        node = nodes[child]
        rightward = (node.side == 1) == link.outward
        marker, colour = ">" if rightward else "<", _colour(link.relation)
        axes.plot([node.x], [node.y], marker=marker, color=colour, markersize=5.5, markeredgewidth=0, zorder=3)
        axes.text(
            node.x + node.side * 0.1, node.y, node.label, color=_INK, va="center_baseline", zorder=4,
            ha="left" if node.side == 1 else "right", bbox={"fc": "white", "ec": "none", "pad": 0.8, "alpha": 0.85},
        )  # fmt: skip
    axes.text(
        0, 0, nodes[0].label, color="white", fontweight="bold", ha="center", va="center", zorder=5, linespacing=1.25,
        bbox={"boxstyle": "round,pad=0.6,rounding_size=0.6", "fc": _INK, "ec": "none"},
    )  # fmt: skip


def _key(around: Neighbourhood, figure: Any, width: float) -> list[list[tuple[str, str, float]]]:
    """Return (text, colour, width) of each relation, in rows of at most `width`."""
    counts = np.bincount(around.graph.triples[:, 1], minlength=len(around.graph.relations))
    rows: list[list[tuple[str, str, float]]] = [[]]
    for relation, name in enumerate(around.graph.relations):
        text = f"{_label(name.replace('_', ' '))} ({counts[relation]})"
        own = _measure(figure, text) + 0.65
        if rows[-1] and sum(each[2] for each in rows[-1]) + own > width:
            rows.append([])
        rows[-1].append((text, _colour(relation), own))
    return rows


def _draw_key(rows: Sequence[Sequence[tuple[str, str, float]]], left: float, top: float, axes: Axes) -> None:
    axes.axhline(top + 0.18, color=_FAINT, linewidth=0.8)
    for number, row in enumerate(rows):
        x, y = left, top - _KEY * number
        for text, colour, width in row:
            axes.plot([x, x + 0.24], [y, y], color=colour, linewidth=1.4)
            axes.plot([x + 0.26], [y], marker=">", color=colour, markersize=5.5, markeredgewidth=0)
            axes.text(x + 0.36, y, text, color=_GREY, va="center_baseline")
            x += width

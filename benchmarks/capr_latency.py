"""Milliseconds per query of bi-, poly- and cross-encoders, by number of passages (grundmann2021, 4.4).

    AUSCULT_DATA=... python benchmarks/capr_latency.py MODEL [MODEL ...] [--sizes 64 256 1024 2048 8192]

Each MODEL is a folder of `auscult train`. A query ranks passages of --tokens tokens (by default the paper's 512, also
for models trained with other lengths), whose vectors (bi), token states (poly) or texts (cross) are in memory. Only
--distinct passages are encoded, and repeated up to the size: the same work per query, without hours of encoding.
Measured on the processor, and on a GPU where there is one.

All are also measured in half precision, bi and cross also in cheaper forms (`encoders.export`): ONNX Runtime in single
precision and in 8-bit integers. `capr_forms.py` measures their loss in R@1.

Medians over repeats. Models take turns, so that a busy moment affects all of them, and ratios are within one run. A
point that would take longer than --longest seconds, judging by the one before, is left out and listed, not
extrapolated.

Writes benchmarks/results/capr_latency.json and docs/figures/capr_latency.png.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import json
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch

from auscult.documents import Document
from auscult.drawing import blank_figure
from auscult.encoders.contract import Precision
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.encoders.base import PassageRanker, PassageText, query_text
from auscult_lab.encoders.export import FORMS, convert
from auscult_lab.encoders.persistence import open_model
from auscult_lab.encoders.scorer import computing_in
from auscult_lab.evaluation.figures import INK, save_as

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "capr_latency.json"
FIGURE = HERE.parent / "docs" / "figures" / "capr_latency.png"
PLAIN: Precision = "float32"
HALF: Precision = "bf16"
CONVERTED = ("bi", "cross")
COLOURS = {"bi": "#1f5a82", "poly": "#d98c2b", "cross": "#8c2d3f"}
STYLES = {PLAIN: "-", HALF: "-.", "onnx": ":", "onnx-int8": "--"}


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A model in one form on one device."""

    kind: str
    form: str
    device: str
    ranker: PassageRanker
    precision: Precision = PLAIN

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        return f"{self.kind}, {self.form}, {self.device}"


def contestants(rankers: Sequence[PassageRanker], forms: Sequence[str], folder: Path) -> Iterator[Contestant]:
    """Yield every model unchanged on each device, and in its cheaper forms on the processor."""
    for ranker in rankers:
        yield Contestant(ranker.kind, PLAIN, "cpu", ranker)
        yield Contestant(ranker.kind, HALF, "cpu", ranker, HALF)
        for form in forms if ranker.kind in CONVERTED else ():
            yield Contestant(ranker.kind, form, "cpu", convert(ranker, form, folder / ranker.kind))
    if torch.cuda.is_available():
        for ranker in rankers:
            # A copy, so that the original stays on the processor.
            yield Contestant(ranker.kind, PLAIN, torch.cuda.get_device_name(), copy.deepcopy(ranker).to("cuda"))


def tokens_read(ranker: PassageRanker) -> int:
    """Return the number of tokens of a passage that a model reads, including marks."""
    return min(ranker.config.max_passage_tokens, *(backbone.limit for backbone in ranker.backbones().values()))


def long_passages(ranker: PassageRanker, texts: Sequence[str], count: int) -> list[PassageText]:
    """Return passages of the model's length, from words of real passages."""
    backbone = next(iter(ranker.backbones().values()))
    words = " ".join(texts)
    passages = []
    for _ in range(count):
        piece = backbone.cut(words[: 12 * backbone.limit], backbone.limit)
        words = words[len(piece) :]
        passages.append(PassageText(piece))
    return passages


def long_enough(documents: Iterable[Document], characters: int) -> Iterator[str]:
    """Yield texts of documents up to a number of characters."""
    for document in documents:
        yield document.text
        characters -= len(document.text)
        if characters <= 0:
            return


def repeated(kept: Any, size: int) -> Any:
    """Return results of `keep`, repeated up to `size` passages."""
    if isinstance(kept, torch.Tensor):
        return kept.repeat(-(-size // len(kept)), 1)[:size]
    return list(islice(cycle(kept), size))


def seconds_of(contestant: Contestant, query: str, kept: Any) -> float:
    """Return the seconds of one query."""
    began = time.perf_counter()
    with computing_in(contestant.precision, contestant.ranker):
        contestant.ranker.score_kept(query, kept)
    return time.perf_counter() - began


def latencies(
    field: Sequence[Contestant], queries: Sequence[str], texts: Sequence[str], arguments: argparse.Namespace
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return measured points, and those left out."""
    kept, rates = {}, {}
    reference = next((model for model in field if model.kind == "bi" and model.form == PLAIN), None)
    for model in field:
        passages = long_passages(field[0].ranker, texts, arguments.distinct)
        began = time.perf_counter()
        with computing_in(model.precision, model.ranker):
            kept[model.label] = model.ranker.keep(passages)
        rates[model.label] = len(passages) / (time.perf_counter() - began)
    points: list[dict[str, Any]] = []
    left_out: list[dict[str, Any]] = []
    last = dict.fromkeys(kept, 0.0)
    for before, size in zip([None, *arguments.sizes], arguments.sizes, strict=False):
        here = []
        for model in field:
            expected = last[model.label] * size / before if before else 0.0
            if expected > arguments.longest:
                left_out.append({"model": model.kind, "form": model.form, "device": model.device, "passages": size})
                last[model.label] = expected
            else:
                here.append(model)
        taken = one_size(here, queries, kept, size, arguments.repeats)
        for model in here:
            middle = last[model.label] = statistics.median(taken[model.label])
            points.append(
                {
                    "model": model.kind,
                    "form": model.form,
                    "device": model.device,
                    "passages": size,
                    "median_ms": 1e3 * middle,
                    "times_bi": ratio(taken, model, reference),
                    "passages_kept_per_second": rates[model.label] if model.kind != "cross" else None,
                }
            )
    return points, left_out


def one_size(
    field: Sequence[Contestant], queries: Sequence[str], kept: dict[str, Any], size: int, repeats: int
) -> dict[str, list[float]]:
    """Return the seconds of each repeat; the first query warms up and is not counted."""
    taken: dict[str, list[float]] = {contestant.label: [] for contestant in field}
    for number, query in enumerate(islice(cycle(queries), repeats + 1)):
        for contestant in field:
            seconds = seconds_of(contestant, query, repeated(kept[contestant.label], size))
            if number:
                taken[contestant.label].append(seconds)
    return taken


def ratio(taken: dict[str, list[float]], contestant: Contestant, reference: Contestant | None) -> float | None:
    """Return the median over repeats of a model's time divided by the plain bi-encoder's in the same repeat."""
    if reference is None or reference.label not in taken:
        return None
    pairs = zip(taken[contestant.label], taken[reference.label], strict=True)
    return statistics.median(own / other for own, other in pairs)


def draw(path: Path, points: Sequence[dict[str, Any]], tokens: int) -> None:
    """Draw milliseconds per query by number of passages, on logarithmic axes (grundmann2021, section 4.4)."""
    devices = list(dict.fromkeys(point["device"] for point in points))
    figure = blank_figure(figsize=(7.5, 1.2 + 3.4 * len(devices)), layout="constrained")
    panels = figure.subplots(len(devices), squeeze=False, sharex=True)[:, 0]
    for axes, device in zip(panels, devices, strict=True):
        lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
        for point in points:
            if point["device"] == device:
                lines.setdefault((point["model"], point["form"]), []).append((point["passages"], point["median_ms"]))
        for (kind, form), line in lines.items():
            name = kind if form == PLAIN else f"{kind}, {form}"
            axes.plot(*zip(*line, strict=True), STYLES[form], color=COLOURS[kind], marker="o", markersize=3, label=name)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_title(
            f"Milliseconds a query, passages of {tokens} tokens: {device}", loc="left", fontsize=11, color=INK
        )
        axes.set_ylabel("ms", color=INK)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    sizes = sorted({point["passages"] for point in points})
    panels[-1].set_xticks(sizes, [f"{size:,}" for size in sizes])
    panels[-1].set_xlabel("passages", color=INK)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_as(figure, path)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure everything."""
    rankers = sorted((open_model(folder).ranker for folder in arguments.models), key=lambda each: each.kind)
    for ranker in rankers:
        ranker.config = dataclasses.replace(ranker.config, max_passage_tokens=arguments.tokens)
    texts = list(long_enough(open_corpus("medquad").documents("train"), 8 * 512 * arguments.distinct))
    queries = [query_text(query) for query in open_corpus("medquad").queries("test")[: arguments.repeats + 1]]
    with tempfile.TemporaryDirectory() as folder:
        field = list(contestants(rankers, arguments.forms, Path(folder)))
        points, left_out = latencies(field, queries, texts, arguments)
    return {
        "kind": "capr-latency",
        "title": "Bi-, poly- and cross-encoder: milliseconds a query",
        "tokens_of_a_passage": min(tokens_read(ranker) for ranker in rankers),
        "distinct_passages": arguments.distinct,
        "repeats": arguments.repeats,
        "longest_seconds": arguments.longest,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "points": points,
        "left_out_as_too_long": left_out,
        **stamp(),
    }


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Milliseconds a query of bi-, poly- and cross-encoder.")
    parser.add_argument("models", type=Path, nargs="+", help="model folders; one of each architecture at most")
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 256, 1024, 2048, 8192])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--distinct", type=int, default=64, help="passages that are read, and repeated")
    parser.add_argument("--longest", type=float, default=60.0, help="seconds of a point that is still measured")
    parser.add_argument("--forms", nargs="*", choices=FORMS, default=list(FORMS))
    parser.add_argument("--tokens", type=int, default=512, help="read of a passage")
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--figure", type=Path, default=FIGURE)
    return parser.parse_args()


def main() -> None:
    """Measure, write the record, draw the figure."""
    arguments = parse()
    record = run(arguments)
    write_json(arguments.out, record)
    draw(arguments.figure, record["points"], record["tokens_of_a_passage"])
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()

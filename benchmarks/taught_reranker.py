"""Gain of a re-ranker trained on people's questions and on the sum of three readers.

    AUSCULT_DATA=... python benchmarks/taught_reranker.py FOLDER [--seed 0] [--steps 230]

It learns from 1,500 questions of BioASQ 7b to 11b and 350 of MedQuAD's training questions: from the answering passages,
and from the sum of three packaged readers' scores (`packaged_readers.py`). 900 questions of BioASQ have answers only,
among the first hits of BM25. The model is that of `encoders.reranker`, and begins with three layers of
all-MiniLM-L6-v2.

Then it re-ranks the first 16 hits of `fast` and `best` on collections that it has not seen: the development questions,
and training questions of cpgQA and PubMedQA. Its log odds of an answer, times a weight, are added to the scores. The
weight for a collection is the best one on the other two. The record also has the gain with the collection's own best
weight, and the same figures for the sum of the readers instead, which a re-ranker can at best imitate.

Everything is saved in FOLDER (training lists, checkpoints, model, scores), so that an interrupted run resumes. Writes
benchmarks/results/taught_reranker.json: means, and gains with 95 % bootstrap intervals over questions, in percent.
Needs: pip install 'auscult[lab,benchmarks]'
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, kl_div, log_softmax, softmax

from auscult.documents.analysis import Analyzer
from auscult.encoders import load_model
from auscult.encoders.contract import FloatArray
from auscult.encoders.reranker import Pair, Reranker, load, pair, save
from auscult.files.json_text import parse_json
from auscult.files.writing import whole_or_nothing, write_json
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.search.reranking import FIRST
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.encoders.scorer import CaprScorer
from auscult_lab.evaluation.statistics import bootstrap_intervals
from auscult_lab.evaluation.task import build_task
from auscult_lab.general.bert_onnx import bert_as_onnx
from auscult_lab.general.student import begin_student
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.modules.encoder_identity import digest_of_weights
from auscult_lab.opening import load_scorer
from auscult_lab.reranker.data import RerankerBatch
from auscult_lab.reranker.objective import RerankerNetwork
from auscult_lab.scorers.lexical import Bm25Config, Bm25Index
from auscult_lab.training.schedule import parameter_groups
from kept_vectors import KeptVectors
from open_models import Collection, kept_index
from packaged_readers import added, e5_scores, splade_scores
from unseen_documents import find_encoder, kept_vectors

RESULT = Path(__file__).resolve().parent / "results" / "taught_reranker.json"
UNSEEN = {"consumer-questions": ("development", 100), "cpgqa": ("train", 300), "pubmedqa": ("train", 250)}
MODELS = ("fast", "best")
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
LAYERS, WINDOW, READ = (0, 1, 2), 112, 192
BATCH, STEPS, CHARACTERS = 8, 230, 900
_DISCOUNTS = 1 / np.log2(np.arange(2, 12))


class Asked(NamedTuple):
    """Questions on a collection.

    Attributes:
        collection: The collection.
        questions: Questions in words.
        relevant: Grades of each question's answers, by their places in the collection.
    """

    collection: Collection
    questions: list[str]
    relevant: list[dict[int, int]]


class Lesson(NamedTuple):
    """A question, some passages, whether each answers, and the readers' scores where they exist."""

    question: str
    passages: list[str]
    right: list[bool]
    read: list[float] | None


def asked_of(name: str, split: str, most: int, seed: int = 0) -> Asked:
    """Return random questions of a split, with their answers."""
    task = build_task(open_corpus(name), "end-to-end", split=split)
    collection = Collection(task)
    places = {passage.passage_id: place for place, (_, passage) in enumerate(collection.passages)}
    relevant: dict[str, dict[int, int]] = {}
    for each in task.judgements:
        if each.relevance > 0 and each.passage_id in places:
            relevant.setdefault(each.query_id, {})[places[each.passage_id]] = each.relevance
    queries = [query for query in task.queries if query.query_id in relevant and query.text]
    random.Random(seed).shuffle(queries)
    drawn = queries[:most]
    return Asked(collection, [query.text for query in drawn], [relevant[query.query_id] for query in drawn])


def sum_of_readers(texts: Sequence[str], questions: Sequence[str], vectors: KeptVectors) -> FloatArray:
    """Return the sum of three readers' standardised scores, (questions, passages)."""
    dense: FloatArray = vectors.of(questions) @ vectors.of(texts).T
    return added(dense, e5_scores(texts, questions), splade_scores(texts, questions))


def lessons(folder: Path, vectors: KeptVectors) -> list[Lesson]:
    """Return the re-ranker's training data, saved in the folder or made there."""
    file = folder / "lessons.json"
    if not file.exists():
        chance = random.Random(0)
        made = [*_lessons_of_bioasq(chance, vectors), *_lessons_of_medquad(chance, vectors)]
        write_json(file, [each._asdict() for each in made])
    return [Lesson(**each) for each in parse_json(file.read_text(encoding="utf-8"))]


def _lessons_of_bioasq(chance: random.Random, vectors: KeptVectors) -> list[Lesson]:
    questions = asked_of("bioasq-7b-11b", "train", 1500, seed=1)
    texts = questions.collection.texts
    part = Asked(questions.collection, questions.questions[:600], questions.relevant[:600])
    kept = sorted({place for each in part.relevant for place in each})
    read = _read(part, kept, [texts[place] for place in kept], vectors)
    analyzer, config = Analyzer(), Bm25Config()
    words = Bm25Index([analyzer(text) for text in texts], config.k1, config.b)
    others = np.stack([words.score_all(analyzer(question)) for question in questions.questions[600:]])
    return [
        *_drawn(read, 12, 4, chance, read=True),
        *_drawn((texts, questions.questions[600:], questions.relevant[600:], others), 10, 3, chance, read=False),
    ]


def _lessons_of_medquad(chance: random.Random, vectors: KeptVectors) -> list[Lesson]:
    questions = asked_of("medquad", "train", 20_000, seed=2)
    by_document: dict[str, list[int]] = {}
    for place, (document, _) in enumerate(questions.collection.passages):
        by_document.setdefault(document.doc_id, []).append(place)
    # The answers of GARD begin with their questions.
    documents = [name for name in by_document if not name.startswith("GARD")]
    chance.shuffle(documents)
    kept = sorted(place for name in documents[:200] for place in by_document[name])
    inside = {*kept}
    rows = [row for row, each in enumerate(questions.relevant) if each.keys() <= inside][:350]
    passages = [questions.collection.passages[place] for place in kept]
    texts = [document.slice(passage)[:CHARACTERS] for document, passage in passages]
    some = Asked(
        questions.collection, [questions.questions[row] for row in rows], [questions.relevant[row] for row in rows]
    )
    return _drawn(_read(some, kept, texts, vectors), 8, 2, chance, read=True)


Scored = tuple[Sequence[str], Sequence[str], Sequence[Mapping[int, int]], FloatArray]


def _read(questions: Asked, kept: Sequence[int], texts: Sequence[str], vectors: KeptVectors) -> Scored:
    """Return some passages of a collection, the questions, their answers, and the readers' scores."""
    places = {place: row for row, place in enumerate(kept)}
    relevant = [{places[place]: grade for place, grade in each.items()} for each in questions.relevant]
    return texts, questions.questions, relevant, sum_of_readers(texts, questions.questions, vectors)


def _drawn(scored: Scored, size: int, most: int, chance: random.Random, *, read: bool) -> list[Lesson]:
    """Return one lesson per question: some answers, two passages of low rank, and others among the first 24."""
    texts, questions, relevant, scores = scored
    lessons = []
    for question, answers, row in zip(questions, relevant, scores, strict=True):
        order = np.argsort(-row).tolist()
        right = sorted(answers, key=lambda place: -row[place])[:12]
        near = [place for place in order[:24] if place not in answers]
        far = [place for place in order[24:100] if place not in answers]
        for places in (right, near, far):
            chance.shuffle(places)
        chosen = right[:most]
        chosen += near[: size - len(chosen) - 2]
        chosen += far[: size - len(chosen)]
        known = row[chosen].round(4).tolist() if read else None
        lessons.append(Lesson(question, [texts[p] for p in chosen], [p in answers for p in chosen], known))
    return lessons


class Student:
    """A re-ranker in training.

    Args:
        folder: Folder of all-MiniLM-L6-v2.
    """

    def __init__(self, folder: Path) -> None:
        backbone = open_backbone(str(folder))
        self.tokenizer = backbone.tokenizer.backend_tokenizer
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self._marks: tuple[int, int] = tuple(self.tokenizer.encode("").ids)
        self.network = RerankerNetwork(begin_student(backbone, LAYERS), frozen=1)

    def learn(self, taught: Sequence[Lesson], seed: int, steps: int, place: Path) -> None:
        """Train, from the checkpoint where there is one."""
        chance, rate, rows = random.Random(seed), 1.5e-4, range(len(taught))
        torch.manual_seed(seed)
        order = [row for _ in range(steps * BATCH // len(rows) + 1) for row in chance.sample(rows, len(rows))]
        top = [*self.network.head.parameters(), self.network.scale]
        body = (each for each in self.network.backbone.parameters() if each.requires_grad)
        groups = [*parameter_groups(body, decay=0.01, rate=rate), *parameter_groups(top, decay=0.01, rate=30 * rate)]
        optimizer = torch.optim.AdamW(groups, lr=rate)
        rates = [group["lr"] for group in optimizer.param_groups]
        first = 0
        if place.exists():
            checkpoint = torch.load(place)
            self.network.load_state_dict(checkpoint["network"])
            optimizer.load_state_dict(checkpoint["optimizer"])
            first = checkpoint["step"]
        self.network.train()
        lost = []
        for step in range(first, steps):
            for group, most in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = most * min(1, (step + 1) / 30) * (1 - step / steps)
            loss = self._loss([taught[row] for row in order[step * BATCH : (step + 1) * BATCH]])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            optimizer.step()
            lost.append(loss.item())
            if step % 10 == 9:
                print(f"step {step + 1} of {steps}, loss {np.mean(lost[-10:]):.4f}", flush=True)
                checkpoint = {
                    "network": self.network.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "step": step + 1,
                }
                with whole_or_nothing(place) as partial:
                    torch.save(checkpoint, partial)
        self.network.eval()

    def _loss(self, some: Sequence[Lesson]) -> Tensor:
        pairs = [each for lesson in some for each in self._pairs(lesson)]
        scores = self._scores(pairs).split([len(lesson.passages) for lesson in some])
        total = torch.zeros(())
        for lesson, found in zip(some, scores, strict=True):
            shares, right = log_softmax(found, 0), torch.tensor(lesson.right)
            total = total - shares[right].logsumexp(0) + 0.3 * binary_cross_entropy_with_logits(found, right.float())
            if lesson.read is not None:
                readers = softmax(torch.tensor(lesson.read) / 1.5, 0)
                total = total + 0.3 * kl_div(shares, readers, reduction="sum")
        return total / len(some)

    def _pairs(self, lesson: Lesson) -> list[Pair]:
        texts = [lesson.question, *lesson.passages]
        read = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        question, *passages = (each.ids for each in read)
        return [pair(self._marks, question, [], passage, WINDOW) for passage in passages]

    def _scores(self, pairs: Sequence[Pair], size: int = 32) -> Tensor:
        """Return scores of pairs, in batches of similar length to reduce padding."""
        order = sorted(range(len(pairs)), key=lambda row: len(pairs[row].ids))
        scores = []
        for first in range(0, len(order), size):
            some = [pairs[row] for row in order[first : first + size]]
            ids = torch.zeros((len(some), len(some[-1].ids)), dtype=torch.long)
            mask, question_mask = torch.zeros_like(ids), torch.zeros_like(ids)
            for row, tokens in enumerate(some):
                ids[row, : len(tokens.ids)] = torch.tensor(tokens.ids)
                mask[row, : len(tokens.ids)] = 1
                question_mask[row, 1 : 1 + tokens.asked] = 1
            shape = torch.zeros((len(some), 1), dtype=torch.bool)
            scores.append(self.network(RerankerBatch(ids, mask, question_mask, shape, shape)).squeeze(1))
        return torch.cat(scores)[torch.tensor(order).argsort()]

    def save(self, folder: Path) -> None:
        """Write it in the format of `encoders.reranker`."""
        model = self.network.backbone.model
        weights = {name: array.detach().float().numpy() for name, array in model.state_dict().items()}
        save(
            folder,
            self.network.arrays(),
            name="Re-ranker, taught",
            window=READ,
            tokenizer=self.tokenizer.to_str().encode(),
            transformer=bert_as_onnx(weights, model.config.to_dict(), READ),
        )


def scores_of(questions: Asked, folder: Path, name: str, vectors: KeptVectors, cache: Path) -> dict[str, FloatArray]:
    """Return scores of all passages by `fast`, `best` and the readers, saved in the folder or computed now."""
    file = folder / f"scores-{name}.npz"
    if not file.exists():
        scores = {"readers": sum_of_readers(questions.collection.texts, questions.questions, vectors)}
        for model in MODELS:
            encoder = load_model(model)
            searcher = Searcher.open(kept_index(questions.collection, encoder, cache / "indexes"), encoder)
            understood = [searcher.understand(Query("", "", text=question)).query for question in questions.questions]
            scores[model] = np.stack([searcher.fusion.scores(each, searcher.gather(each)[1]) for each in understood])
        with whole_or_nothing(file) as partial, partial.open("wb") as stream:
            np.savez(stream, **scores)  # type: ignore[arg-type]
    with np.load(file) as kept:
        return dict(kept)


def read_again(reranker: Reranker, questions: Asked, scores: Mapping[str, FloatArray]) -> tuple[FloatArray, int]:
    """Return log odds of the models' first hits, (questions, passages), 0 for others; and the number of pairs."""
    odds, count = np.zeros_like(scores[MODELS[0]]), 0
    for row, question in enumerate(questions.questions):
        first = np.unique([np.argsort(-scores[model][row], kind="stable")[:FIRST] for model in MODELS])
        odds[row, first] = reranker.score(question, [("", questions.collection.texts[place]) for place in first])
        count += len(first)
    return odds, count


def measures(asked: Asked, scores: FloatArray, more: FloatArray) -> npt.NDArray[np.float64]:
    """Return nDCG@10 and P@1 in percent, with additions to the scores of the first hits, (questions, 2)."""
    rows = []
    for relevant, before, added_to in zip(asked.relevant, scores, more, strict=True):
        order = np.argsort(-before, kind="stable")[: max(FIRST, 10)]
        order = order[np.argsort(-(before + added_to)[order], kind="stable")]
        grades = np.array([relevant.get(place, 0) for place in order[:10].tolist()])
        ideal = np.sort([*relevant.values()])[::-1][:10]
        gain = grades @ _DISCOUNTS[: len(grades)] / (ideal @ _DISCOUNTS[: len(ideal)])
        rows.append((100 * gain, 100 * (grades[0] > 0)))
    return np.array(rows)


def gains(asked: Asked, scores: FloatArray, more: FloatArray) -> dict[float, npt.NDArray[np.float64]]:
    """Return the gain with each weight, (questions, 2)."""
    before = measures(asked, scores, 0 * more)
    return {weight: measures(asked, scores, weight * more) - before for weight in WEIGHTS}


def best_weight(some: Sequence[Mapping[float, npt.NDArray[np.float64]]]) -> float:
    """Return the smallest weight with the largest mean gain of nDCG@10 over collections."""
    return max(WEIGHTS, key=lambda weight: float(np.mean([each[weight][:, 0].mean() for each in some])))


def gain_fields(by_weight: Mapping[float, npt.NDArray[np.float64]], weight: float) -> dict[str, Any]:
    """Return a record's fields of gains with a weight: mean and 95 % interval."""
    means, ends = by_weight[weight].mean(axis=0), bootstrap_intervals(by_weight[weight])
    figures = {name: [round(float(value), 2) for value in (mean, *end)]
             for name, mean, end in zip(("nDCG@10", "P@1"), means, ends, strict=True)}  # fmt: skip
    return {**figures, "weight": weight}


def main() -> None:
    """Train, measure, and write the record."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("folder", type=Path, help="where all is kept")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--steps", type=int, default=STEPS, help=f"of {BATCH} questions")
    options.add_argument("--cache", type=Path, help="kept vectors and indexes, as of `unseen_documents.py`")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    folder, cache = chosen.folder, chosen.cache or chosen.folder
    torch.set_num_threads(1)
    encoder = load_scorer(str(find_encoder(None)))
    if not isinstance(encoder, CaprScorer):
        raise SystemExit("no sentence encoder")
    encoder.ranker.eval()
    vectors = kept_vectors(encoder, digest_of_weights(find_encoder(None)), cache)

    taught, folder_of_model = lessons(folder, vectors), folder / f"model-{chosen.seed}"
    if not folder_of_model.exists():
        student = Student(find_encoder(None))
        student.learn(taught, chosen.seed, chosen.steps, folder / f"checkpoint-{chosen.seed}.pt")
        student.save(folder_of_model)
    reranker = load(folder_of_model)

    unseen = {name: asked_of(name, *choice) for name, choice in UNSEEN.items()}
    scores = {name: scores_of(some, folder, name, vectors, cache) for name, some in unseen.items()}
    began = time.process_time()
    again = {name: read_again(reranker, some, scores[name]) for name, some in unseen.items()}
    seconds_per_pair = (time.process_time() - began) / sum(count for _, count in again.values())
    rows = []
    for model in MODELS:
        added_by: dict[str, dict[str, dict[float, npt.NDArray[np.float64]]]] = {"reranker": {}, "readers": {}}
        for name, some in unseen.items():
            added_by["reranker"][name] = gains(some, scores[name][model], again[name][0])
            added_by["readers"][name] = gains(some, scores[name][model], scores[name]["readers"])
        for name, some in unseen.items():
            before = measures(some, scores[name][model], 0 * scores[name][model]).mean(axis=0).round(2).tolist()
            row: dict[str, Any] = {"corpus": name, "model": model, "nDCG@10": before[0]}
            for kind, by_corpus in added_by.items():
                own = by_corpus[name]
                others = [by_corpus[other] for other in by_corpus if other != name]
                row[f"gain_by_{kind}"] = gain_fields(own, best_weight(others))
                row[f"gain_by_{kind}_with_its_best_weight"] = gain_fields(own, best_weight([own]))
            row |= {"P@1": before[1], "questions": len(some.questions)}
            rows.append(row)
            print(row)
    record = {
        "kind": "taught-reranker",
        "title": "A re-ranker taught by people's questions and the sum of three readers",
        "learned_from": {"bioasq-7b-11b": 1500, "medquad": len(taught) - 1500},
        "pairs": sum(len(lesson.passages) for lesson in taught),
        "layers": [*LAYERS],
        "first": FIRST,
        "milliseconds_of_a_core": round(1000 * FIRST * seconds_per_pair, 1),
        "seed": chosen.seed,
        "steps": chosen.steps,
        "gains": rows,
        **stamp(),
    }
    write_json(chosen.out, record)


if __name__ == "__main__":
    main()

"""Train a re-ranker on written questions and the first hits that `fast` finds for them.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/train_reranker.py FOLDER [--collection NAME ...] [--begin FILE]
        [--epochs 2]

It begins with the first layers of all-MiniLM-L6-v2. A twelfth of the documents is held out (`study.shipped.written`):
questions about them are not learned from, and measure it at the end. The hits, and indexes to find them, are kept in
FOLDER, which takes an hour of a core. An epoch of the training takes 40 minutes of a core with instructions for half
precision; an interrupted one goes on.

Writes FOLDER/reranker. Then `fit_rereading.py` fits how much it counts. None is shipped.
Needs: pip install 'auscult[lab,benchmarks]'
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import torch

from auscult.concepts.opening import open_for_questions
from auscult.encoders import RERANKER, load_model
from auscult.files.writing import whole_or_nothing
from auscult.index.manifest import CURRENT
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult_lab.general.student import begin_student
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.modules.encoder_identity import digest_of_weights
from auscult_lab.training.batches import row_loader
from auscult_lab.training.loop import fit
from auscult_lab.training.schedule import Schedule, native_precision
from study.shipped.reranker.lessons import Lesson, Pairs, by_collection, lessons
from study.shipped.reranker.network import RerankerNetwork
from study.shipped.reranker.saving import save_network
from study.shipped.reranker.training import MONITOR, LessonExamples, RerankerObjective, RerankerSettings
from study.shipped.written import COLLECTIONS, read_documents, read_questions
from unseen_documents import find_encoder

QUESTIONS = Path(__file__).resolve().parents[1] / "data" / "questions"
LAYERS = (0, 1, 2, 3)
MOST = 96
DOCUMENTS = {"labels": 420, "wikipedia": 700}
"""How many documents are asked about of collections whose documents are long; of others all."""
OTHERS = 1_500
"""Documents that no question is about, among which hits are found as well."""
_CHECKPOINT_MINUTES = 5


def read_lessons(collection: str, folder: Path) -> list[Lesson]:
    """Return the lessons of a collection, kept in a folder."""
    place = folder / f"{collection}.pickle"
    if place.is_file():
        found: list[Lesson] = pickle.loads(place.read_bytes())  # noqa: S301
        return found
    documents = read_documents(collection)
    asked = {each.doc_id for each in read_questions(QUESTIONS) if each.collection == collection}
    present = sorted(asked & {each.doc_id for each in documents})
    others = [each.doc_id for each in documents if each.doc_id not in asked]
    if (most := DOCUMENTS.get(collection)) is not None:
        present, others = random.Random(1).sample(present, min(most, len(present))), []
    taken = {*present, *random.Random(0).sample(others, min(len(others), OTHERS))}
    documents = [each for each in documents if each.doc_id in taken]
    encoder, index = load_model("fast"), folder / "indexes" / collection
    if not (index / CURRENT).is_file():
        build_index(documents, encoder, index, knowledge_base=open_for_questions(), corpus=collection)
    searcher = Searcher.open(index, encoder)
    # The hits as the search finds them without a re-ranker.
    searcher.fusion = replace(searcher.fusion, rereading=None)
    found = [*lessons(searcher, collection, documents, QUESTIONS)]
    with whole_or_nothing(place) as partial:
        partial.write_bytes(pickle.dumps(found))
    return found


def main() -> None:
    """Gather, train, measure, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("folder", type=Path, help="keeps hits, indexes and the model")
    options.add_argument("--collection", nargs="+", choices=COLLECTIONS, default=[*COLLECTIONS])
    options.add_argument("--encoder", type=Path, help="folder of all-MiniLM-L6-v2")
    options.add_argument("--begin", type=Path, help="file with the `state_dict` of a network to begin with")
    options.add_argument("--epochs", type=int, default=2)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    every = [each for name in chosen.collection for each in read_lessons(name, chosen.folder)]
    training, held_out = ([each for each in every if each.held_out is kind] for kind in (False, True))
    _say(f"{len(training):,} questions to learn from, {len(held_out):,} held out")

    torch.manual_seed(chosen.seed)
    place = find_encoder(chosen.encoder)
    network = RerankerNetwork(begin_student(open_backbone(str(place)), LAYERS))
    if chosen.begin:
        network.load_state_dict(torch.load(chosen.begin, weights_only=True))
    tokenizer = network.backbone.tokenizer.backend_tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pairs = Pairs(tokenizer, MOST)
    settings = RerankerSettings(epochs=chosen.epochs, seed=chosen.seed)
    examples = LessonExamples(training, pairs, settings)
    loader = row_loader(examples, per_epoch=len(examples), size=settings.batch_questions, seed=settings.seed)
    schedule = Schedule(
        epochs=settings.epochs,
        seed=settings.seed,
        warm_up=settings.warm_up,
        precision=native_precision(),
        checkpoint_minutes=_CHECKPOINT_MINUTES,
        monitor=MONITOR,
        gradient_clip=settings.gradient_clip,
    )
    network.train()
    objective = RerankerObjective(network, settings, pairs, held_out)
    history = fit(objective, loader, schedule, folder=chosen.folder / "checkpoints", say=_say, progress=True)
    record = {
        "learned_from": {name: len(own) for name, own in by_collection(training).items()},
        "held_out": {name: len(own) for name, own in by_collection(held_out).items()},
        "begins_with": {
            "name": place.name,
            "digest": digest_of_weights(place),
            "layers": [*LAYERS],
            "weights": str(chosen.begin.name) if chosen.begin else "",
        },
        "settings": asdict(settings),
        "history": history.epochs,
        "seconds": history.seconds,
        **stamp(),
    }
    save_network(chosen.folder / RERANKER, network, texts_of(every), MOST, record)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def texts_of(every: Sequence[Lesson]) -> list[str]:
    """Return the texts of lessons, each once."""
    seen = {(each.label, *each.sentences): None for lesson in every for each in (lesson.right, *lesson.wrong)}
    return [*(lesson.question for lesson in every), *(text for texts in seen for text in texts)]


if __name__ == "__main__":
    main()

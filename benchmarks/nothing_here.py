"""Test whether the probability of the first hit distinguishes questions with an answer from those without.

    AUSCULT_DATA=... python benchmarks/nothing_here.py [--model MODEL ...]

`auscult search` gets the 72 development questions (`consumer-questions`: for choosing, never for learning) over the
collection of their answers and, over the same collection, questions without an answer in it:

| kind             | questions                                                                       |
|------------------|---------------------------------------------------------------------------------|
| other language   | 40 in eight languages, three of five about health                               |
| off-topic        | 500 drawn from 60,415 general questions (some few are about health all the same) |
| invented disease | the development questions with a name in place of the one that was understood   |
| answer removed   | the development questions, each over the collection without its correct answers  |

Test questions of `bioasq`, `pubmedqa`, `cpgqa` and `covidqa` search their own collections twice: with the documents of
their answers, and without them. The record has the share with the verdict that nothing was found, of all questions and
of those whose first hit is right; the share of questions without an answer whose first hit is said to answer; and the
expected calibration error over both (guo2017): the mean difference of probability and share of right hits in ten bins
with equal numbers of hits. The weights were fitted on training questions of all of these but `covidqa`.

For each kind, the AUC of the probability of the first hit: how often a question with an answer has a higher one than a
question without, with ties counting half; 95 % intervals by bootstrap over the questions of both sides. `together` is
the mean over kinds. `told_nothing` is the share of questions with the verdict that nothing was found
(`certainty.DOUBTFUL`): 0 is best for the answerable, 1 for the others.

Writes benchmarks/results/nothing_here.json, one record per model. Takes minutes on one core if `unseen_documents.py`
has saved the indexes of these corpora, otherwise ten minutes or more.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.catalogue import data_dir
from auscult.concepts.opening import open_for_questions
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.files.reading import open_unpacked
from auscult.files.writing import write_json
from auscult.index import IndexUpdate
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.search.certainty import DOUBTFUL, LIKELY, shares_of_first
from auscult.search.evidence import asked_and_held
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.corpora.questions import DEVELOPMENT
from auscult_lab.fitting.fitting import Judged, judged_questions
from open_models import Collection, kept_index
from unseen_documents import CACHE, task_of

RESULT = Path(__file__).resolve().parent / "results" / "nothing_here.json"
KIND = "nothing_here"
COLLECTIONS = ("bioasq", "pubmedqa", "cpgqa", "covidqa")
BINS = 10
CORPUS = "consumer-questions"
GENERAL = Path("questions") / "general_questions.tsv.gz"
OFF_TOPIC, SEED, RESAMPLES = 500, 0, 2_000
Chances = npt.NDArray[np.float64]

OTHER_LANGUAGES: Final = """
Was hilft gegen starke Rückenschmerzen?
Wie wird eine Lungenentzündung behandelt?
Welche Nebenwirkungen hat diese Tablette?
Wie hoch ist der höchste Berg der Alpen?
Wann fährt der nächste Zug nach München?
¿Cuáles son los síntomas de la presión alta?
¿Cómo se trata una quemadura en la mano?
¿Es peligroso tomar este medicamento durante el embarazo?
¿Quién escribió Don Quijote de la Mancha?
¿Cuánto cuesta un billete de tren a Sevilla?
Quels sont les signes d'une crise cardiaque ?
Comment soigner un mal de gorge ?
Pourquoi ai-je des vertiges le matin ?
Quelle est la hauteur de la tour Eiffel ?
Comment faire une bonne pâte à crêpes ?
Quali sono le cause del mal di testa?
Come si cura la febbre alta nei bambini?
Quanto dura una gravidanza?
Qual è il fiume più lungo d'Italia?
Dove posso comprare un biglietto dell'autobus?
Quais são os sintomas da pedra nos rins?
Como tratar uma alergia na pele?
O que devo comer se tenho açúcar alto no sangue?
Quem descobriu o caminho marítimo para a Índia?
Que horas abre o museu no domingo?
Wat zijn de klachten bij een gebroken enkel?
Hoe kan ik beter slapen?
Helpt dit middel tegen hoofdpijn?
Hoeveel inwoners heeft Amsterdam?
Hoe maak ik een fietsband?
Jakie są objawy grypy?
Jak leczyć ból gardła?
Czy cukrzyca jest dziedziczna?
Kto był pierwszym królem Polski?
Ile kosztuje bilet do kina?
Yüksek tansiyonun belirtileri nelerdir?
Baş ağrısına ne iyi gelir?
Şeker hastaları ne yemeli?
Türkiye'nin başkenti neresidir?
Otobüs saat kaçta kalkıyor?
""".strip().splitlines()

_STARTS = ("bra", "cor", "del", "fen", "gly", "hul", "kra", "lo", "mer", "nu", "pla", "quo", "ster", "tri", "vol")
_MIDDLES = ("bi", "cta", "du", "fo", "go", "li", "mna", "no", "pre", "ru", "sto", "tu", "ve", "xi")
_ENDS = ("itis", "osis", "oma", "emia", "opathy", "algia", "s disease", "n syndrome", "l fever")


def invented_name(chance: random.Random) -> str:
    """Return an invented name of a disease."""
    middle = "".join(chance.sample(_MIDDLES, chance.choice((1, 2))))
    return chance.choice(_STARTS) + middle + chance.choice(_ENDS)


def off_topic(seed: int) -> list[str]:
    """Return random general questions."""
    with open_unpacked(data_dir() / GENERAL) as stream:
        rows = stream.read().decode().splitlines()[1:]
    return [row.split("\t")[0] for row in random.Random(seed).sample(rows, OFF_TOPIC)]


def with_invented_names(searcher: Searcher, questions: Sequence[str], seed: int) -> Iterator[str]:
    """Yield the questions that contain the understood entity literally, with an invented name in its place."""
    chance = random.Random(seed)
    for question in questions:
        asked = searcher.understand(Query("", "", text=question)).asked
        name = invented_name(chance)
        found = re.sub(re.escape(asked), name, question, flags=re.IGNORECASE) if asked else question
        if found != question:
            yield found


def chance_of_answer(searcher: Searcher, question: str) -> float:
    """Return the probability that the first hit answers."""
    (hit,) = searcher.search(searcher.understand(Query("", "", text=question)).query, 1)
    return hit.probability or 0.0


@contextmanager
def without(documents: Sequence[str], index: Path, encoder: DocumentEncoder) -> Iterator[Searcher]:
    """Yield the collection without some documents."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(shutil.copytree(index, Path(folder) / "index"))
        with IndexUpdate(place, encoder) as update:
            update.delete(documents)
            update.commit()
        yield Searcher.open(place, encoder)


def measured(encoder: DocumentEncoder, index: Path) -> dict[str, Any]:
    """Return a model's record, without provenance."""
    corpus = open_corpus(CORPUS)
    queries = corpus.queries(DEVELOPMENT)
    correct: dict[str, list[str]] = {}
    for each in corpus.judgements(DEVELOPMENT):
        if each.relevance > 0:
            # An answer is a document with one passage of the same id.
            correct.setdefault(each.query_id, []).append(each.passage_id)
    searcher = Searcher.open(index, encoder)
    texts = [query.text for query in queries]
    answerable = np.array([chance_of_answer(searcher, text) for text in texts])
    questions = {
        "other language": OTHER_LANGUAGES,
        "off-topic": off_topic(SEED),
        "invented disease": [*with_invented_names(searcher, texts, SEED)],
    }
    unanswerable = {
        kind: np.array([chance_of_answer(searcher, text) for text in texts_of]) for kind, texts_of in questions.items()
    }
    rest = []
    for query in queries:
        with without(correct[query.query_id], index, encoder) as smaller:
            rest.append(chance_of_answer(smaller, query.text))
    unanswerable["answer removed"] = np.array(rest)
    kinds, samples = [], []
    for kind, chances in unanswerable.items():
        above, drawn = areas(answerable, chances, SEED)
        samples.append(drawn)
        told = float(np.mean(chances < DOUBTFUL))
        kinds.append({"kind": kind, "questions": len(chances), "auc": above, **interval(drawn), "told_nothing": told})
    return {
        "collection": CORPUS,
        "passages": searcher.index.manifest.counts.passages,
        "threshold": DOUBTFUL,
        "answerable": {"questions": len(answerable), "told_nothing": float(np.mean(answerable < DOUBTFUL))},
        "kinds": kinds,
        "together": {"auc": float(np.mean([kind["auc"] for kind in kinds])), **interval(np.mean(samples, axis=0))},
    }


def over_collection(encoder: DocumentEncoder, name: str, cache: Path) -> dict[str, Any]:
    """Return the verdicts on test questions of a corpus, with their answers and without the answers' documents."""
    collection = Collection(task_of(name))
    searcher = Searcher.open(kept_index(collection, encoder, cache), encoder)
    task = collection.task
    probabilities, right = [], []
    for question in judged_questions(searcher, Judged(task.documents, task.queries, task.judgements)):
        _, evidence, background = searcher.gather(question.query)
        scores = searcher.fusion.scores(question.query, evidence)
        first = int(scores.argmax())
        share = shares_of_first(scores[[first]], scores)
        scores[question.related] = -np.inf
        rows = np.array([first, int(scores.argmax())])
        first_ten = np.append(share, shares_of_first(scores[rows[1:]], scores))
        coverage = asked_and_held(searcher.index, question.query, rows)
        undivided = evidence[rows] * (background.spread if question.query.text else 1)
        probabilities.append(
            searcher.fusion.probabilities(
                undivided, coverage, first_ten, background, in_words=bool(question.query.text)
            )
        )
        right.append(first in question.relevant)
    chances, answered = np.array(probabilities), np.array(right)
    above, drawn = areas(chances[:, 0], chances[:, 1], SEED)
    doubted = chances < DOUBTFUL
    return {
        "collection": name,
        "questions": len(chances),
        "first_hit_right": float(answered.mean()),
        "auc": above,
        **interval(drawn),
        "told_nothing": float(doubted[:, 0].mean()),
        "told_nothing_where_right": float(doubted[answered, 0].mean()),
        "told_nothing_without_answers": float(doubted[:, 1].mean()),
        "said_to_answer_without_answers": float((chances[:, 1] >= LIKELY).mean()),
        "said_to_answer_where_wrong": float((chances[~answered, 0] >= LIKELY).mean()) if not answered.all() else 0.0,
        "calibration_error": calibration_error(
            chances.ravel(), np.stack([answered, np.zeros_like(answered)], axis=1).ravel()
        ),
    }


def calibration_error(chances: Chances, right: npt.NDArray[np.bool_]) -> float:
    """Return the expected calibration error, over bins with equal numbers of hits."""
    bins = np.array_split(np.argsort(chances, kind="stable"), BINS)
    return float(
        sum(len(each) * abs(chances[each].mean() - right[each].mean()) for each in bins if len(each)) / len(right)
    )


def areas(answerable: Chances, unanswerable: Chances, seed: int) -> tuple[float, Chances]:
    """Return the AUC, and those of samples of both sides, (RESAMPLES,); a seed always draws the same answerable."""
    right = np.sign(answerable[:, None] - unanswerable[None, :]) / 2 + 0.5
    ours, theirs = (
        np.random.default_rng((seed, side)).multinomial(size, np.full(size, 1 / size), RESAMPLES)
        for side, size in enumerate(right.shape)
    )
    drawn: Chances = ((ours @ right) * theirs).sum(axis=1) / right.size
    return float(right.mean()), drawn


def interval(drawn: Chances) -> dict[str, float]:
    """Return the ends of a 95 % interval."""
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return {"low": low, "high": high}


def main() -> None:
    """Measure models, and write the records."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", nargs="+", default=["cdv"], help="what `auscult search` is measured with")
    options.add_argument("--cache", type=Path, default=CACHE, help=f"folder of kept indexes; by default {CACHE}")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    documents, known = list(open_corpus(CORPUS).documents()), open_for_questions()
    records = []
    for model in chosen.model:
        encoder = load_model(model)
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "index"
            build_index(documents, encoder, place, knowledge_base=known)
            told = {"kind": KIND, "title": encoder.name, "model": encoder.name}
            collections = [over_collection(encoder, name, chosen.cache) for name in COLLECTIONS]
            records.append({**told, **measured(encoder, place), "collections": collections, **stamp()})
        print(json.dumps(records[-1], indent=1), file=sys.stderr, flush=True)
    write_json(chosen.out, records)


if __name__ == "__main__":
    main()

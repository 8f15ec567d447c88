"""Rankers trained on the queries that a corpus brings with it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from auscult.encoders import load_model
from auscult.errors import ConfigError, ModelError
from auscult.understanding import Query
from auscult_lab.cdv.encoder import CdvEncoder
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.tracks import track_on
from auscult_lab.families.table import read_experiment, train
from auscult_lab.modules.word_vectors import AveragedWords
from auscult_lab.opening import load_ranker
from auscult_lab.rankers.data import QueryPool, RankingExamples, TrainingQuery, among_all, gather_asked
from auscult_lab.rankers.experiment import NegativeChoice, RankingExperiment
from auscult_lab.rankers.registry import RANKERS
from auscult_lab.rankers.scorer import Lexicon
from auscult_lab.training.asked import read_asked
from auscult_lab.training.experiment_files import experiments_in
from needs import Needs
from places import ROOT
from rankers import WORDS, make_ranker, small_vocabulary

TOPICS = ["asthma", "gout", "measles", "mumps", "rubella", "scurvy", "rickets", "croup"]
FULL = {torch.float32, torch.int64, torch.uint8}
SHARED = "Rest and water help with nearly everything."


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    """Eight training questions with two snippets each, and two test questions, one of them asked in training too.

    One snippet answers a training question and a test question.
    """

    def question(number: int, body: str, *texts: str) -> dict[str, object]:
        snippets = [{"document": f"http://pubmed/{number}", "text": text} for text in texts]
        return {"id": f"q{number}", "body": body, "snippets": snippets}

    training = [
        question(n, f"What causes {topic}?", f"A germ causes {topic}.", f"The signs of {topic} come slowly.")
        for n, topic in enumerate(TOPICS)
    ]
    training.append(question(9, "Which things help?", SHARED))
    tested = [question(20, "what causes CROUP", "A virus swells the throat."), question(21, "What helps?", SHARED)]
    folder = tmp_path / "questions"
    folder.mkdir()
    for name, rows in (("training.json", training), ("12B1_golden.json", tested)):
        (folder / name).write_text(json.dumps({"questions": rows}))
    return str(folder)


def experiment(corpus: str, **changes: object) -> RankingExperiment:
    fields = {
        "name": "asked", "track": "adapted", "queries": "corpus", "model": "knrm", "knowledge": None, "min_count": 1,
        "corpora": [{"name": corpus, "split": "train"}], "never_learn": [{"name": corpus}],
        "validation": {"corpora": [corpus], "documents": 3},
        "word_vectors": {"dim": 8, "epochs": 2, "buckets": 300, "min_count": 1},
        "negatives": {"random": 2, "bm25": 1, "same_entity": 1}, "training": {"epochs": 2, "accelerator": "cpu"},
    }  # fmt: skip
    return RankingExperiment.model_validate(fields | changes)


def silent(_: str) -> None:
    """Says nothing."""


def test_questions_and_answers_are_held_out_together(corpus: str):
    pools = gather_asked(experiment(corpus), silent)
    for pool in (pools.training, pools.held_out):
        for query in pool.queries:
            topic = query.words[-1]
            answers = {" ".join(word for sentence in pool.passages[row] for word in sentence) for row in query.answers}
            assert answers == {f"a germ causes {topic}", f"the signs of {topic} come slowly"}
    texts = [set(pool.passages) for pool in (pools.training, pools.held_out)]
    assert texts[0].isdisjoint(texts[1])
    words = [{query.words for query in pool.queries} for pool in (pools.training, pools.held_out)]
    assert words[0].isdisjoint(words[1])
    # Two snippets a question: two questions hold three or more.
    assert (len(words[0]), len(words[1])) == (5, 2)


def test_held_out_questions_rank_passages_without_copied_answers(corpus: str):
    pools = gather_asked(experiment(corpus), silent)
    pool = among_all(pools)
    own = pools.held_out.passages
    assert pool.queries == pools.held_out.queries
    assert pool.passages == own + pools.training.passages
    copied = replace(pools, training=replace(pools.training, passages=(*pools.training.passages, own[0])))
    assert among_all(copied).passages == pool.passages
    # Row numbers still name the answers.
    for query in pool.queries:
        assert all(query.words[-1] in chain.from_iterable(pool.passages[row]) for row in query.answers)


def test_repeated_questions_are_never_in_both_pools(tmp_path: Path):
    """Each is asked again in other letters, and answered by other documents."""
    rows = [
        {
            "id": f"{again}{n}",
            "body": body.format(topic),
            "snippets": [{"document": f"http://pubmed/{again}{n}", "text": f"{again} germ causes {topic}."}],
        }
        for n, topic in enumerate(TOPICS)
        for again, body in (("One", "What causes {}?"), ("Another", "what causes {}"))
    ]
    (tmp_path / "training.json").write_text(json.dumps({"questions": rows}))
    pools = read_asked(experiment(str(tmp_path), never_learn=[]), silent)
    held_out = [question.words for question in pools.held_out.questions]
    assert len(held_out) == 3
    left = [question.words for question in pools.training.questions]
    assert sorted(left) == sorted(
        2 * [("what", "causes", topic) for topic in TOPICS if ("what", "causes", topic) not in held_out]
    )


def test_texts_never_to_learn_are_in_no_pool(corpus: str):
    """A test question that training asks too, and a snippet that answers questions of both splits."""
    found = gather_asked(experiment(corpus), silent)
    assert SHARED not in {document.text for document in found.documents}
    assert ("what", "causes", "croup") not in {
        query.words for pool in (found.training, found.held_out) for query in pool.queries
    }
    loose = gather_asked(experiment(corpus, never_learn=[]), silent)
    assert SHARED in {document.text for document in loose.documents}
    assert len(loose.training.queries) + len(loose.held_out.queries) == len(TOPICS) + 1


@pytest.mark.parametrize("own", [0, 1])
def test_answers_are_never_negatives_in_a_batch(own: int):
    """The first question's answers are those of the next two as well; passages are of one word each."""
    known = small_vocabulary()
    ranker = make_ranker("knrm", known)
    queries = [TrainingQuery((WORDS[row],), answers, ()) for row, answers in enumerate([(0, 1, 2), (1,), (2,), (3,)])]
    pool = QueryPool(tuple(queries), tuple(((word,),) for word in WORDS[:6]))
    choice = NegativeChoice(random=own, bm25=0, in_batch=2)
    lexicon = Lexicon(ranker, known)
    examples = RankingExamples(pool, ranker, lexicon, choice, seed=0)
    rows = {id_: row for row, id_ in enumerate(lexicon.ids(WORDS[:6]))}
    borrowed = set()
    for epoch in range(20):
        batch = examples.collate([examples[epoch, row] for row in range(len(queries))])
        shown = [rows[word] for word in batch.passage.ids[:, 0].tolist()]
        for query, first in zip(queries, range(0, len(shown), 3 + own), strict=True):
            right, *wrong = shown[first : first + 3 + own]
            assert right in query.answers
            assert not set(wrong) & set(query.answers)
        borrowed |= set(shown[1 + own : 3 + own])
    assert 3 in borrowed, "the first query's only negative in the batch"


def test_ranker_trains_on_questions_and_scores_new_ones(corpus: str, tmp_path: Path):
    outcome = train(experiment(corpus), tmp_path / "run")
    assert outcome.record["queries"] == 5
    assert outcome.record["experiment"]["queries"] == "corpus"
    ranker = load_ranker(str(outcome.model))
    documents = list(open_corpus(corpus).documents())
    ranker.prepare(documents)
    scores = ranker.score(Query("q", "", text="What helps?"), [each.doc_id for each in documents])
    assert len(set(scores.tolist())) > 1


@pytest.mark.parametrize("model", sorted(RANKERS))
def test_half_precision_trains_much_alike(model: str, corpus: str, tmp_path: Path, needs: Needs):
    needs.half_precision()
    losses = []
    for precision in ("float32", "bf16"):
        training = {"epochs": 2, "accelerator": "cpu", "precision": precision}
        outcome = train(experiment(corpus, model=model, training=training), tmp_path / precision)
        losses.append([epoch["loss"] for epoch in outcome.record["history"]])
    assert losses[1] == pytest.approx(losses[0], rel=0.1)
    assert losses[1] != losses[0]
    assert {tensor.dtype for tensor in load_file(outcome.model / "model.safetensors").values()} <= FULL


def test_a_ranker_inherits_word_vectors_and_their_corpora(corpus: str, tmp_path: Path):
    outcome = train(experiment(corpus, word_vectors={"model": "cdv", "min_count": 1}), tmp_path / "run")
    shipped = load_model("cdv")
    assert isinstance(shipped, CdvEncoder)
    assert isinstance(shipped.sentences, AveragedWords)
    lent = load_ranker(str(outcome.model)).vocabulary.source
    np.testing.assert_array_equal(lent.lookup(["germ", "croup"]), shipped.sentences.vectors.lookup(["germ", "croup"]))
    assert not list((tmp_path / "run").parent.glob("words-*/vectors.npz"))
    assert track_on("asked", outcome.record, "medquad", "test") == "adapted"
    assert track_on("asked", outcome.record, "healthqa", "test") == "zero-shot"


def test_word_vectors_need_one_source_that_has_them(corpus: str, tmp_path: Path):
    with pytest.raises(ValueError, match="of a 'file' or of a 'model', not of both"):
        experiment(corpus, word_vectors={"model": "cdv", "file": "glove.txt"})
    with pytest.raises(ValueError, match="'limit' is of the words of a 'file'"):
        experiment(corpus, word_vectors={"limit": 3})
    ranker = train(experiment(corpus), tmp_path / "ranker").model
    for given, said in ((str(ranker), "a model of kind"), (str(tmp_path), "a folder with a model.json")):
        with pytest.raises(ModelError, match=said):
            train(experiment(corpus, word_vectors={"model": given}), tmp_path / "run")


def test_a_question_that_everything_answers_is_refused(tmp_path: Path):
    """No wrong passage could be drawn for it."""
    rows = [
        {"id": f"q{n}", "body": f"What causes {topic}?", "snippets": [{"document": f"{n}", "text": f"Germs: {topic}."}]}
        for n, topic in enumerate(TOPICS[:2])
    ]
    (tmp_path / "training.json").write_text(json.dumps({"questions": rows}))
    validation = {"corpora": [str(tmp_path)], "documents": 1}
    two = experiment(str(tmp_path), never_learn=[], validation=validation)
    with pytest.raises(ConfigError, match=r"with a wrong passage each .*that all 1 passages answer"):
        train(two, tmp_path / "run")


def test_a_split_is_needed_and_enough_answers(corpus: str):
    with pytest.raises(ConfigError, match="a split of"):
        gather_asked(experiment(corpus, corpora=[{"name": corpus}]), silent)
    many = experiment(corpus, validation={"corpora": [corpus], "documents": 100})
    with pytest.raises(ConfigError, match=r"validation\.documents"):
        gather_asked(many, silent)


SHIPPED = experiments_in(ROOT / "experiments" / "galko2017-bioasq.yaml")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_experiments_learn_from_no_test_question(path: Path):
    shipped = read_experiment(path)
    assert shipped.name.startswith("galko2017-")
    assert path.name.endswith(f":{shipped.name}")
    assert [(corpus.name, corpus.split) for corpus in shipped.corpora] == [("bioasq", "train")]
    assert [(corpus.name, corpus.split) for corpus in shipped.never_learn] == [("bioasq", "test")]

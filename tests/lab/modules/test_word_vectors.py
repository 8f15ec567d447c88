"""Word vectors: parity with floret itself, GloVe/word2vec/fastText text files, and files that are none."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
from pathlib import Path

import floret
import numpy as np
import pytest

from auscult.concepts import KnowledgeBase
from auscult.errors import DataError
from auscult_lab.cdv.word_vectors import knowledge_lines, train_word_vectors, word_shares, write_lines
from auscult_lab.modules.word_vectors import PlainTable, SubwordTable, from_state, read_word_vectors
from auscult_lab.training.experiment import WordVectorChoice
from served_index import wait_until

WORDS = ["nephropathy", "a", "of", "xx", "zsjögren", "type", "2", "naïve", "日本", "heart"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    line = "kidney disease and heart disease are not one disease of the heart zsjögren type 2"
    path.write_text("\n".join([line] * 40) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("min_n", "max_n", "hash_count"), [(4, 5, 2), (2, 6, 1), (3, 3, 4)])
def test_vectors_equal_florets_own(text: Path, tmp_path: Path, min_n: int, max_n: int, hash_count: int):
    model = floret.train_unsupervised(
        str(text), model="skipgram", mode="floret", dim=8, minn=min_n, maxn=max_n, hashCount=hash_count, bucket=300,
        minCount=1, epoch=1, thread=1, verbose=0,
    )  # fmt: skip
    model.save_floret_vectors(str(tmp_path / "v.floret"))
    table = read_word_vectors(tmp_path / "v.floret")
    assert isinstance(table, SubwordTable)
    for word in WORDS:
        np.testing.assert_allclose(table.lookup([word])[0], model.get_word_vector(word), atol=1e-5)


def test_training_covers_most_words_even_on_little_text(text: Path):
    """Among the words are some that the text lacks."""
    vectors = train_word_vectors(text, WordVectorChoice(dim=8, epochs=2, buckets=2000, min_count=1))
    words = ["kidney", "disease", "zsjogren", "kidneys", "diseased", "heartless", "diseases"]
    assert vectors.lookup(words).any(axis=1).mean() >= 0.5
    assert not vectors.lookup([""]).any()


def test_too_little_text_is_refused(tmp_path: Path):
    (tmp_path / "t.txt").write_text("once\n", encoding="utf-8")
    with pytest.raises(DataError, match="at least 3 times"):
        train_word_vectors(tmp_path / "t.txt", WordVectorChoice())


def test_cache_growth_never_changes_a_vector(monkeypatch: pytest.MonkeyPatch):
    table = SubwordTable(
        np.random.default_rng(0).normal(size=(97, 5)).astype(np.float32), min_n=3, max_n=4, hash_count=2
    )
    words = [f"word{n}" for n in range(3000)]
    alone = np.stack([table.lookup([word])[0] for word in words])
    monkeypatch.setattr("auscult_lab.modules.word_vectors._CACHE_WORDS", 50)
    np.testing.assert_array_equal(table.lookup(words), alone)
    np.testing.assert_array_equal(table.lookup(words[::-1]), alone[::-1])


@pytest.mark.parametrize("header", [None, "3 2"])
@pytest.mark.parametrize("packed", [False, True])
def test_glove_and_fasttext_text_files_are_read(header: str | None, packed: bool, tmp_path: Path):
    content = "\n".join([*([header] if header else []), "the 0.5 1", "heart -1 2e-1", ". 3 4", ""])
    path = tmp_path / ("v.txt.gz" if packed else "v.txt")
    (gzip.open if packed else open)(path, "wt", encoding="utf-8").write(content)
    table = read_word_vectors(path)
    assert isinstance(table, PlainTable)
    assert len(table) == 3
    assert "heart" in table
    np.testing.assert_allclose(table.lookup(["heart", "kidney", "the"]), [[-1, 0.2], [0, 0], [0.5, 1]])
    assert len(read_word_vectors(path, limit=2)) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the 1 2\nheart 1 x\n", r"2 numbers.*:2"),
        ("the 1 2\nheart 1\n", r"2 numbers.*:2"),
        ("", "some numbers|none in"),
    ],
)
def test_broken_files_are_named_with_their_line(content: str, message: str, tmp_path: Path):
    path = tmp_path / "v.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_word_vectors(path)


def test_files_that_are_no_text_are_named(tmp_path: Path):
    (tmp_path / "v.bin").write_bytes(b"\xff\xfe\x00\x81" * 50)
    with pytest.raises(DataError, match=r"v\.bin"):
        read_word_vectors(tmp_path / "v.bin")
    with pytest.raises(DataError, match="absent"):
        read_word_vectors(tmp_path / "absent.txt")


@pytest.mark.parametrize("kind", ["floret", "plain"])
def test_state_makes_the_same_vectors_again(kind: str):
    rows = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    given = SubwordTable(rows, min_n=3, max_n=4, hash_count=2) if kind == "floret" else PlainTable(list("abcd"), rows)
    again = from_state(*given.state())
    np.testing.assert_array_equal(given.lookup(["a", "zebra"]), again.lookup(["a", "zebra"]))
    with pytest.raises(DataError, match="kind"):
        from_state({"table": rows}, {"kind": "mystery"})


def test_word_shares_are_relative_and_omit_rare_words(tmp_path: Path):
    assert write_lines([["a", "b"], [], ["a", "c"]], tmp_path / "t.txt") == 4
    assert word_shares(tmp_path / "t.txt", min_count=1) == {"a": 0.5, "b": 0.25, "c": 0.25}
    assert word_shares(tmp_path / "t.txt", min_count=2) == {"a": 0.5}


def test_the_knowledge_bases_texts_are_read(tmp_path: Path):
    (tmp_path / "k.obo").write_text(
        'format-version: 1.2\n\n[Term]\nid: DOID:1\nname: gout\nsynonym: "Podagra" EXACT []\ndef: "Sore toes." []\n',
        encoding="utf-8",
    )
    assert sorted(knowledge_lines(KnowledgeBase.from_files([tmp_path / "k.obo"]))) == [
        ["gout"], ["podagra"], ["sore", "toes"],
    ]  # fmt: skip


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_the_training_of_vectors(tmp_path: Path, sign: signal.Signals):
    text, table = tmp_path / "text.txt", tmp_path / "table"
    text.write_text("gout is treated with rest and water\n" * 100)
    settings = {"minCount": 1, "epoch": 1_000_000_000, "thread": 1, "verbose": 0, "mode": "floret", "bucket": 100}
    begins = (
        "import signal, sys; from pathlib import Path; from auscult_lab.cdv.floret_process import train_table;"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143));"
        # Processes in the background of a shell ignore this signal.
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        f"train_table(Path({str(text)!r}), Path({str(table)!r}), {settings})"
    )
    waiting = subprocess.Popen([sys.executable, "-c", begins], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: training_processes(table))
        waiting.send_signal(sign)
        assert waiting.wait(60) != 0
        wait_until(lambda: not training_processes(table))
    finally:
        waiting.kill()
        waiting.wait()


def training_processes(table: Path) -> list[Path]:
    """Processes that were started to write a table."""
    lines = [(place, place / "cmdline") for place in Path("/proc").glob("[0-9]*")]
    return [place for place, line in lines if is_in(line, b"floret_process\0", str(table).encode() + b"\0")]


def is_in(path: Path, *words: bytes) -> bool:
    """Whether a file can be read and contains all words."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return all(word in content for word in words)

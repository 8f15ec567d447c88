"""Options that several commands share, and texts as a user gives them: typed, in a file, or of a corpus."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from auscult.documents import Document, Passage, Section, build_document
from auscult.errors import ConfigError, DataError
from auscult.index import Between, Where
from auscult.interfaces import Precision

IndexArgument = Annotated[Path, typer.Argument(help="An index folder, made by `auscult index`.")]
SearchedArgument = Annotated[
    str,
    typer.Argument(
        metavar="INDEX",
        help="An index folder, made by `auscult index`; or the address that one was published to (`auscult publish`).",
    ),
]
IndexModelOption = Annotated[
    str, typer.Option("--model", "-m", help="Where the index' own model is now; default: where it was.")
]
PrecisionOption = Annotated[
    Precision,
    typer.Option(
        help="What transformers compute in. `bf16` is about twice as fast on processors that have instructions for it."
    ),
]

WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=VALUE",
        help="Only documents whose field (`source`, or of metadata) has this value, or one between two "
        "(`date=2019..2021-06`); repeatable.",
    ),
]


def pairs_of(option: str, given: Sequence[str] | None) -> list[tuple[str, str]]:
    """Split the values of a repeatable option `NAME=VALUE`.

    Raises:
        ConfigError: One is not of that form.
    """
    pairs = []
    for each in given or ():
        key, found, value = each.partition("=")
        if not (found and key.strip() and value.strip()):
            raise ConfigError(f"{option} KEY=VALUE", repr(each), "put the value behind an equals sign")
        pairs.append((key.strip(), value.strip()))
    return pairs


def conditions(given: Sequence[str] | None) -> Where:
    """Return the filters that `--where` names; several values of one field are each allowed."""
    values: dict[str, list[str]] = {}
    for field, value in pairs_of("--where", given):
        values.setdefault(field, []).append(value)
    where: dict[str, Between | list[str]] = {}
    for field, several in values.items():
        is_range = any(".." in value for value in several)
        if is_range and len(several) > 1:
            raise ConfigError(
                f"one range, or values, for --where {field}=", f"{len(several)} of them", "name one range"
            )
        first, _, last = several[0].partition("..")
        where[field] = Between(first, last) if is_range else several
    return where


STANDARD_INPUT = "-"
TextArgument = Annotated[str, typer.Argument(help="The text itself, a file that holds it, or - for standard input.")]
#: Letters that no file's name has.
_LONG = 250
# What the system says of a text that is no file's name, or the name of none.
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)


def read_text(given: str) -> str:
    """Read a file, or standard input where "-" is given; or return the text itself.

    Raises:
        DataError: A file that cannot be read, or no UTF-8.
    """
    where = "standard input" if given == STANDARD_INPUT else given
    try:
        content = sys.stdin.buffer.read() if given == STANDARD_INPUT else Path(given).read_bytes()
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"UTF-8 text in {where}", str(error), "convert it to UTF-8") from error
    except ValueError:
        # Characters that no name has.
        return given
    except OSError as error:
        # The path of no text at all is the current folder's.
        if given and error.errno not in _NO_FILE:
            expected, got = "a text file that can be read", f"{where}: {error.strerror}"
            raise DataError(expected, got, "correct its permissions, or give another file") from error
        return given


def check_named(text: str, corpus: str, passage_id: str) -> None:
    """Whether one passage is named: by a text, or as a passage of a corpus.

    Raises:
        ConfigError: Neither is given, or both are.
    """
    if bool(passage_id) == bool(text) or bool(passage_id) != bool(corpus):
        options = (("--corpus", corpus), ("--passage", passage_id), ("--text", text))
        got = ", ".join(name for name, given in options if given)
        raise ConfigError("--corpus with --passage, or --text alone", got or "none of them", "name one passage")


def read_words(text: str) -> str:
    """Read a text as `read_text` does, but take one word that is no file for a misspelt name.

    Raises:
        DataError: It is one word, or cannot be read.
    """
    content = read_text(text)
    if content == text and len(text.split()) < 2 and len(text) < _LONG:
        raise DataError("a text file, or a text of several words", repr(text), "correct the path")
    return content


def as_document(content: str, name: str) -> tuple[Document, Passage]:
    """Make a document of one passage of a text."""
    document = build_document(doc_id=name, title="", sections=[Section("", content, name)])
    return document, document.passages[0]


def find_passage(corpus: str, passage_id: str) -> tuple[Document, Passage]:
    """Find a passage of a corpus, with its document.

    Raises:
        DataError: The corpus has none of this id.
    """
    # Only here: what reads corpora takes a sixth of the time that a command takes to start.
    from auscult.sources.opening import open_corpus

    for document in open_corpus(corpus).documents():
        for passage in document.passages:
            if passage.passage_id == passage_id:
                return document, passage
    raise DataError(f"a passage id of {corpus}", f"'{passage_id}'", "take one from a run or from 'auscult search'")

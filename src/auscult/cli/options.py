"""Options that several commands share, and texts of users: typed, in a file, or from a corpus."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from auscult.documents import Document, Passage, Section, build_document
from auscult.encoders.contract import Precision
from auscult.errors import ConfigError, DataError
from auscult.index import Between, Where

IndexArgument = Annotated[Path, typer.Argument(help="An index folder.")]
ServedArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="INDEX...",
        help="Index folders, or addresses of published indexes; `NAME=INDEX` names one.",
    ),
]
SearchedArgument = Annotated[
    str,
    typer.Argument(
        metavar="INDEX",
        help="An index folder, or the address of a published index.",
    ),
]
IndexModelOption = Annotated[str, typer.Option("--model", "-m", help="Folder of the index's model, if it has moved.")]
PrecisionOption = Annotated[
    Precision,
    typer.Option(help="Number format of transformers. `bf16` is about twice as fast where the processor supports it."),
]

WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=VALUE",
        help="Only documents with this value of `source` or of a metadata field; `date=2019..2021-06` is a range. "
        "Repeatable.",
    ),
]


def pairs_of(option: str, texts: Sequence[str] | None) -> list[tuple[str, str]]:
    """Split the values of a repeatable option `NAME=VALUE`.

    Raises:
        ConfigError: A value does not have that form.
    """
    pairs = []
    for text in texts or ():
        key, separator, value = text.partition("=")
        if not (separator and key.strip() and value.strip()):
            raise ConfigError(f"{option} KEY=VALUE", repr(text), "put the value behind an equals sign")
        pairs.append((key.strip(), value.strip()))
    return pairs


def conditions(filters: Sequence[str] | None) -> Where:
    """Parse the filters of `--where`. A document may have any of several values of one field."""
    values: dict[str, list[str]] = {}
    for field, value in pairs_of("--where", filters):
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
TextArgument = Annotated[str, typer.Argument(help="The text, a file of it, or - for standard input.")]
#: A file's name is shorter than this.
_LONG = 250
# Errors of the system for a text that is not the name of a file.
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)


def read_text(argument: str) -> str:
    """Read a file, or standard input for "-". Return any other argument itself.

    Raises:
        DataError: The file cannot be read, or is not UTF-8.
    """
    where = "standard input" if argument == STANDARD_INPUT else argument
    try:
        content = sys.stdin.buffer.read() if argument == STANDARD_INPUT else Path(argument).read_bytes()
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"UTF-8 text in {where}", str(error), "convert it to UTF-8") from error
    except ValueError:
        # The argument has characters that no file name has.
        return argument
    except OSError as error:
        # An empty argument is the path of the current folder.
        if argument and error.errno not in _NO_FILE:
            expected, got = "a text file that can be read", f"{where}: {error.strerror}"
            raise DataError(expected, got, "correct its permissions, or give another file") from error
        return argument


def check_named(text: str, corpus: str, passage_id: str) -> None:
    """Check that the options name one passage: by a text, or as a passage of a corpus.

    Raises:
        ConfigError: Neither is given, or both are.
    """
    if bool(passage_id) == bool(text) or bool(passage_id) != bool(corpus):
        options = (("--corpus", corpus), ("--passage", passage_id), ("--text", text))
        got = ", ".join(name for name, value in options if value)
        raise ConfigError("--corpus with --passage, or --text alone", got or "none of them", "name one passage")


def read_words(text: str) -> str:
    """Read a text as `read_text` does, but reject a single word that is no file: it is a misspelt name.

    Raises:
        DataError: It is one word, or cannot be read.
    """
    content = read_text(text)
    if content == text and len(text.split()) < 2 and len(text) < _LONG:
        raise DataError("a text file, or a text of several words", repr(text), "correct the path")
    return content


def as_document(content: str, name: str) -> tuple[Document, Passage]:
    """Build a document with one passage from a text."""
    document = build_document(doc_id=name, title="", sections=[Section("", content, name)])
    return document, document.passages[0]


def find_passage(corpus: str, passage_id: str) -> tuple[Document, Passage]:
    """Find a passage of a corpus, with its document.

    Raises:
        DataError: The corpus has no passage of this id.
    """
    # Imported here, as it takes a sixth of a command's start.
    from auscult.ingest.opening import open_corpus

    for document in open_corpus(corpus).documents():
        for passage in document.passages:
            if passage.passage_id == passage_id:
                return document, passage
    raise DataError(f"a passage id of {corpus}", f"'{passage_id}'", "take one from a run or from 'auscult search'")

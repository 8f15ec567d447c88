"""Limit the size of input. Larger input is a mistake or an attack, and gives an error message of one sentence.

The environment variable `AUSCULT_LIMITS` changes the defaults of `Limits`: "line=1GB, word=1MB".
"""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache

from auscult.errors import ConfigError, DataError

VARIABLE = "AUSCULT_LIMITS"
_SIZES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_SET = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<size>[KMG]?)B?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper limits of input size.

    Attributes:
        line: Bytes of a line.
        file: Bytes of a file, unpacked.
        document: Characters of a document.
        sentences: Sentences of a document, which are encoded together: 100,000 take 1.2 to 1.8 GB.
        word: Characters of a word; the cost of a model may grow with the square of its length.
        memory: Bytes of memory for indexing, checked before and after each batch; 0 for no limit.
        source: Bytes of a file that is read as a whole (PDF, HTML, a note ...), unpacked.
        seconds: Seconds for reading such a file.
        scan: Seconds for recognising the text of a scanned page. After a page that takes longer, the rest of the file
            is not recognised. 0 turns recognition off.
        reading: Bytes of memory for the process that reads the file.
        drafts: Bytes of the documents made from one file.
        archive: Bytes of all files in an archive, unpacked.
        ratio: Compression ratio of a file in an archive; small files are not checked.
        members: Files in an archive.
    """

    line: int = 256 * 10**6
    file: int = 32 * 10**9
    document: int = 10**8
    sentences: int = 100_000
    word: int = 10**5
    memory: int = 0
    source: int = 256 * 10**6
    seconds: int = 60
    scan: int = 20
    reading: int = 2 * 10**9
    drafts: int = 10**9
    archive: int = 8 * 10**9
    ratio: int = 300
    members: int = 10**5


class TooLargeError(DataError):
    """The input is larger than a limit.

    Args:
        name: Name of the limit.
        what: The thing that is limited, as a noun phrase: "a line of".
        unit: Unit of the limit.
        where: Place of the input, for the message.
    """

    def __init__(self, name: str, what: str, unit: str, where: str) -> None:
        self.name = name
        most = getattr(limits(), name)
        remedy = f"correct it, or raise the limit ({VARIABLE}='{name}={most * 10}')"
        super().__init__(f"{what} at most {most:,} {unit}", f"a larger one ({where})", remedy)


def limits() -> Limits:
    """Return the limits in force.

    Raises:
        ConfigError: The environment variable has an invalid value.
    """
    return _read(os.environ.get(VARIABLE, ""))


@cache
def _read(setting: str) -> Limits:
    changed = Limits()
    known = [field.name for field in fields(Limits)]
    for part in filter(str.strip, setting.split(",")):
        match = _SET.fullmatch(part)
        if match is None or match["name"] not in known:
            expected = f"limits such as 'line=1GB, word=1MB' in {VARIABLE} ({', '.join(known)})"
            raise ConfigError(expected, f"'{part.strip()}'", "correct the variable")
        number = int(float(match["number"]) * _SIZES[match["size"].upper()])
        changed = replace(changed, **{match["name"]: number})
    return changed


def check_texts(texts: Iterable[str], where: str) -> None:
    """Check that a document and its words are not too long.

    Args:
        texts: The texts of the document.
        where: Its place, for the error message.

    Raises:
        TooLargeError: The document or a word is too long.
    """
    most = limits()
    parts = [*texts]
    if sum(map(len, parts)) > most.document:
        raise TooLargeError("document", "a document of", "characters", where)
    for text in parts:
        # Most texts are shorter than the limit for a word.
        if len(text) > most.word and max(map(len, text.split()), default=0) > most.word:
            raise TooLargeError("word", "words of", "characters", where)


def check_memory(documents: Sequence[str] = ()) -> None:
    """Check that this process has not used more memory than allowed.

    Args:
        documents: Ids of the documents that were read last.

    Raises:
        DataError: It has used more.
    """
    most = limits().memory
    if most and (taken := peak_memory()) > most:
        last = f" ('{documents[0]}' to '{documents[-1]}')" if documents else ""
        remedy = f"choose a smaller --batch-size, or raise the limit ({VARIABLE}='memory={2 * most}')"
        raise DataError(f"at most {most:,} bytes of memory", f"{taken:,} taken{last}", remedy)


def peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    # ru_maxrss is in KiB on Linux and in bytes on macOS.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

"""Articles from a Wikipedia dump: a training set such as CDV's (arnold2020 section 5.1) from today's Wikipedia.

Reads `<wiki>-<date>-pages-articles.xml` (plain, .bz2 or .gz) as a stream, one page in memory at a time, takes the
articles of a list and writes them as JSON lines in the public schema (docs/reference/jsonl-format.md), so that they
open like any documents of your own:

    {"id": "enwiki:12345", "title": "Gout", "url": ..., "source": "enwiki", "entity_ids": ["Q133087"],
     "sections": [{"heading": "Treatment | Diet", "text": ..., "links": [{"target", "start", "end"}]}],
     "metadata": {"page_id", "revision"}}

The lead's heading is "Abstract"; nested headings are joined by " | ", as in WikiSection. Templates (infoboxes and, with
them, the few words that inline templates such as unit conversions print), tables, references, formulas, files,
categories, comments and galleries are left out. Links keep their target, and where in the section's text they stand.

A conversion can be interrupted. Articles are written to `OUT.part`. Every few thousand pages, after the articles,
`OUT.state.json` records how far the dump has been read. A second call with the same dump and list resumes there. At the
end `OUT.part` becomes `OUT`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from html import unescape
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, unquote

from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult.files.reading import open_unpacked
from auscult.files.writing import partial_of, put_file, write_text
from auscult.ingest.rows import numbered_lines
from study.wikipedia.wikitext import read_wikitext, require_parser

Report = Callable[["Progress"], None]

_CHUNK = 1 << 20
_CHECKPOINT_PAGES = 2000
_OPEN, _CLOSE = b"<page>", b"</page>"
_TITLE = re.compile(rb"<title>(.*?)</title>", re.DOTALL)
_ID = re.compile(rb"<id>(\d+)</id>")
_SITE = re.compile(rb"<dbname>([\w-]+)</dbname>")
_BASE = re.compile(rb"<base>(https?://[^/<]+)/")


@dataclass(slots=True)
class Progress:
    """How far a dump has been read.

    Attributes:
        offset: Bytes read of the uncompressed dump.
        pages: Pages seen.
        written: Articles written.
        wanted: Entries of the list.
        redirects: Listed titles that the dump only forwards, with their targets.
        found: The list's entries that were written.
    """

    offset: int = 0
    pages: int = 0
    written: int = 0
    wanted: int = 0
    redirects: dict[str, str] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ArticleList:
    """The articles to extract.

    Attributes:
        titles: Identifier of each article's entity, or "", by normalised title.
        page_ids: The same by page id.
        digest: Digest of both. A conversion resumes only with the same list.
    """

    titles: dict[str, str]
    page_ids: dict[str, str]
    digest: str


def normal_title(title: str) -> str:
    """Return a title as MediaWiki stores it: spaces for underscores, first letter upper case, Unicode form C."""
    plain = unicodedata.normalize("NFC", " ".join(title.replace("_", " ").split()))
    return plain[:1].upper() + plain[1:]


def read_list(path: Path) -> ArticleList:
    """Read a list of articles.

    A line is a title, a page id (digits only), or an article's address ("https://en.wikipedia.org/wiki/Gout"). A tab
    and an identifier for the article's documents ("Q133087") may follow. Lines that begin with "#" are comments.

    Raises:
        CorpusMissingError: There is no such file.
        DataError: It names no article.
    """
    titles: dict[str, str] = {}
    page_ids: dict[str, str] = {}
    for _, line in numbered_lines(path):
        name, _, identifier = (part.strip() for part in line.partition("\t"))
        if name.startswith("#") or not name:
            continue
        if name.isdecimal():
            page_ids[name] = identifier
        else:
            _, address, page = name.partition("/wiki/")
            titles[normal_title(unquote(page) if address and name.startswith("http") else name)] = identifier
    if not titles and not page_ids:
        raise DataError(f"titles or page ids in {path}", "none", "write one a line")
    content = json.dumps([sorted(titles.items()), sorted(page_ids.items())])
    return ArticleList(titles, page_ids, hashlib.sha256(content.encode()).hexdigest())


def convert_dump(dump: Path, articles: ArticleList, out: Path, *, report: Report | None = None) -> Progress:
    """Write the listed articles of a dump as JSON lines, or resume where an earlier call stopped.

    Args:
        dump: pages-articles, as .xml, .xml.bz2 or .xml.gz.
        articles: The articles to extract.
        out: The file to write; must not exist yet.
        report: Called after every few thousand pages and at the end.

    Returns:
        The progress at the end. Entries of the list that are not in its `found` are not in the dump.

    Raises:
        CorpusMissingError: There is no such dump.
        ConfigError: `out` exists, or its conversion was begun with another dump or list.
        DataError: The dump is damaged or cut short. A later call can resume.
        MissingExtraError: mwparserfromhell is not installed.
    """
    require_parser()
    if not dump.is_file():
        raise CorpusMissingError(f"a dump at {dump}", "no such file", "correct the path")
    if out.exists():
        raise ConfigError(f"a new file at {out}", "one that is there already", "remove it, or name another")
    out.parent.mkdir(parents=True, exist_ok=True)
    job = {"dump": dump.name, "bytes": dump.stat().st_size, "list": articles.digest}
    progress, size = _resume(out, job)
    progress.wanted = len(articles.titles) + len(articles.page_ids)
    part = partial_of(out)
    with part.open("r+b" if part.exists() else "w+b") as target:
        target.truncate(size)
        target.seek(size)
        site, base = _site(dump)
        for offset, page in _pages(dump, progress.offset):
            progress.offset, progress.pages = offset, progress.pages + 1
            record = _article(page, articles, progress, site, base)
            if record is not None:
                target.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
                progress.written += 1
            if progress.pages % _CHECKPOINT_PAGES == 0:
                _checkpoint(out, job, progress, target)
                if report is not None:
                    report(progress)
        _checkpoint(out, job, progress, target)
    if report is not None:
        report(progress)
    put_file(part, out)
    _beside(out, ".state.json").unlink()
    return progress


def _beside(out: Path, ending: str) -> Path:
    return out.with_name(out.name + ending)


def _resume(out: Path, job: dict[str, Any]) -> tuple[Progress, int]:
    """Return the progress of an earlier call, and how many bytes of OUT.part are valid."""
    path = _beside(out, ".state.json")
    if not path.is_file():
        return Progress(), 0
    try:
        state = json.loads(path.read_bytes())
        begun, progress, size = state["job"], Progress(**state["progress"]), int(state["kept"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"the state of a conversion in {path}", str(error), "remove it to begin anew") from error
    part = partial_of(out)
    if begun != job or not part.is_file() or part.stat().st_size < size:
        raise ConfigError(
            f"the dump and list that {out} was begun with", "others", f"name another file, or remove {path}"
        )
    return progress, size


def _checkpoint(out: Path, job: dict[str, Any], progress: Progress, target: IO[bytes]) -> None:
    """Write the articles, then the state that counts them. A kill between the two only repeats work."""
    target.flush()
    os.fsync(target.fileno())
    state = {"job": job, "kept": target.tell(), "progress": asdict(progress)}
    write_text(_beside(out, ".state.json"), json.dumps(state))


def _site(dump: Path) -> tuple[str, str]:
    """Return the wiki's name and address, from the head of the dump."""
    with _reading(dump), open_unpacked(dump, bzip2=True) as stream:
        head = stream.read(_CHUNK).partition(_OPEN)[0]
    if b"<mediawiki" not in head:
        raise DataError(f"a dump of pages-articles at {dump}", "another kind of file", "name an .xml(.bz2, .gz) dump")
    site, base = _SITE.search(head), _BASE.search(head)
    return site[1].decode() if site else "wiki", base[1].decode() if base else "https://en.wikipedia.org"


@contextmanager
def _reading(dump: Path) -> Iterator[None]:
    """Name the dump in errors of its compression."""
    try:
        yield
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"a whole dump at {dump}", str(error), "fetch it again, then go on") from error


def _pages(dump: Path, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield each page as XML, with the offset of its end in the uncompressed dump."""
    with _reading(dump), open_unpacked(dump, bzip2=True) as stream:
        stream.seek(offset)
        buffer, at = b"", 0
        while True:
            begin = buffer.find(_OPEN, at)
            end = buffer.find(_CLOSE, begin) if begin >= 0 else -1
            if end >= 0:
                end += len(_CLOSE)
                offset, at = offset + end - at, end
                yield offset, buffer[begin:end]
                continue
            chunk = stream.read(_CHUNK)
            if not chunk:
                break
            buffer, at = buffer[at:] + chunk, 0
        if b"</mediawiki>" not in buffer[at:]:
            raise DataError(f"a whole dump at {dump}", "one that is cut short", "fetch it again, then go on")


def _article(page: bytes, articles: ArticleList, progress: Progress, site: str, base: str) -> dict[str, Any] | None:
    """Return a listed page as a record; None for other pages, redirects (noted) and pages without words."""
    title, page_id = _TITLE.search(page), _ID.search(page)
    if title is None or page_id is None:
        return None
    # Nearly all pages end here, before their XML is parsed.
    name, number = normal_title(unescape(title[1].decode("utf-8"))), page_id[1].decode()
    if name not in articles.titles and number not in articles.page_ids:
        return None
    entry = number if number in articles.page_ids else name
    try:
        tree = ET.fromstring(page)  # noqa: S314 - without declarations there is nothing to expand
    except ET.ParseError as error:
        raise DataError("a well-formed page", f"'{name}' with {error}", "fetch the dump again") from error
    if tree.findtext("ns", "0") != "0":
        return None
    redirect = tree.find("redirect")
    if redirect is not None:
        progress.redirects[entry] = redirect.get("title", "")
        return None
    sections = [asdict(section) for section in read_wikitext(tree.findtext("revision/text") or "")]
    if not sections:
        return None
    progress.found.append(entry)
    identifier = articles.page_ids.get(number) or articles.titles.get(name, "")
    return {
        "id": f"{site}:{number}",
        "title": name,
        "url": f"{base}/wiki/{quote(name.replace(' ', '_'), safe='/:(),')}",
        "source": site,
        "entity_ids": [identifier] if identifier else [],
        "sections": sections,
        "metadata": {"page_id": number, "revision": tree.findtext("revision/id") or ""},
    }


__all__ = ["ArticleList", "Progress", "convert_dump", "normal_title", "read_list"]

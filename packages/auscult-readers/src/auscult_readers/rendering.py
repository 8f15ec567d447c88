"""Let LibreOffice or a browser show a file, to see what a person sees: pages as PDF, the cells of a sheet as HTML.

Both run as separate processes without a network, with limits of time, in a folder that is deleted afterwards. A page
runs no scripts, opens no frames of other files and loads nothing (Content Security Policy). Where a program is missing,
or cannot be kept from the network, nothing is rendered.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from auscult.files.limits import limits
from auscult.readers.contract import UnreadableError
from auscult.readers.decoding import decode_text
from auscult_readers.old_office import APART, is_apart_possible, office_program, prepare_profile, run_apart, run_office

_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ODF: Final = "application/vnd.oasis.opendocument."
_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
PAGE: Final = "text/html"
AS_PAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        f"{_OFFICE}wordprocessingml.document": ".docx",
        f"{_OFFICE}presentationml.presentation": ".pptx",
        f"{_ODF}text": ".odt",
        f"{_ODF}presentation": ".odp",
        "application/rtf": ".rtf",
        "text/rtf": ".rtf",
    }
)
"""Ending by media type of files that LibreOffice prints."""
AS_CELLS: Final[Mapping[str, str]] = MappingProxyType(
    {f"{_OFFICE}spreadsheetml.sheet": ".xlsx", f"{_ODF}spreadsheet": ".ods", "application/vnd.ms-excel": ".xls"}
)
"""Ending by media type of files whose cells LibreOffice shows. A printed sheet has "###" for a narrow column."""
# The policy stands before the page, where nothing can come earlier.
_POLICY: Final = (
    b"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    b"img-src data:; frame-src 'none'; form-action 'none'\">"
)
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


@cache
def browser_program() -> tuple[str, ...]:
    """Return the command that runs a browser without a network; empty if that is not possible."""
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    return (*APART, program) if program and shutil.which("prlimit") and is_apart_possible() else ()


def can_render(media_type: str) -> bool:
    """Return whether this machine can show files with a media type."""
    if media_type in AS_PAGES or media_type in AS_CELLS:
        return bool(office_program())
    return media_type == PAGE and bool(browser_program())


def rendered(files: Sequence[tuple[str, bytes]]) -> list[bytes | None]:
    """Return each file as a person sees it: a PDF, or HTML for sheets; None for one that no program shows.

    Args:
        files: Media type and content of each file. Files of one kind are shown by one process.
    """
    shown: list[bytes | None] = [None] * len(files)
    for kinds, form in ((AS_PAGES, "pdf"), (AS_CELLS, "html")):
        chosen = [number for number, (media_type, _) in enumerate(files) if media_type in kinds]
        if chosen and office_program():
            named = [(f"{number}{kinds[files[number][0]]}", files[number][1]) for number in chosen]
            for number, content in zip(chosen, convert_files(named, form), strict=True):
                shown[number] = content
    for number, (media_type, content) in enumerate(files):
        if media_type == PAGE and browser_program():
            shown[number] = _by_browser(content)
    return shown


def convert_files(files: Sequence[tuple[str, bytes]], form: str) -> list[bytes | None]:
    """Return files in another form of LibreOffice ("pdf"), by one process; None for one that it does not read.

    Args:
        files: Name and content of each file. The names are ours, with the ending of their kind.
        form: The form, which is its ending, too.
    """
    made: dict[str, bytes | None] = {}
    left = list(files)
    while left:
        done = _convert_together(left, form)
        # LibreOffice may end at a file that it does not read: the others are tried without it.
        made |= done or {left[0][0]: None}
        left = [each for each in left if each[0] not in made]
    return [made[name] for name, _ in files]


def _convert_together(files: Sequence[tuple[str, bytes]], form: str) -> dict[str, bytes | None]:
    """Return the files that one process of LibreOffice has converted."""
    with tempfile.TemporaryDirectory(prefix="auscult-") as place:
        folder = Path(place)
        prepare_profile(folder)
        for name, content in files:
            (folder / name).write_bytes(content)
        # Files that were written within the time limit count.
        with suppress(UnreadableError):
            run_office(folder, [name for name, _ in files], form)
        made = {name: _made(folder / f"{name.partition('.')[0]}.{form}") for name, _ in files}
        return {name: content for name, content in made.items() if content is not None}


# A page that sends the browser elsewhere could send it to another file of this machine.
_SENT_ON: Final = re.compile("<meta[^>]*refresh", re.IGNORECASE)


def _by_browser(content: bytes) -> bytes | None:
    if _SENT_ON.search(html.unescape(decode_text(content).text)):
        return None
    with tempfile.TemporaryDirectory(prefix="auscult-") as place:
        folder = Path(place)
        mark = next((each for each in _UTF_16 if content.startswith(each)), b"")
        policy = _POLICY.decode().encode("utf-16-le" if mark == _UTF_16[0] else "utf-16-be") if mark else _POLICY
        (folder / "page.html").write_bytes(mark + policy + content.removeprefix(mark))
        # The name space of the process is its sandbox.
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--disable-extensions"]
        places = [f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={folder / 'page.pdf'}"]
        limited = ["prlimit", f"--fsize={limits().source}", "--core=0"]
        command = [*limited, *browser_program(), *options, *places, (folder / "page.html").as_uri()]
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": place, "TMPDIR": place}
        if not run_apart(command, folder, environment, limits().seconds):
            return None
        return _made(folder / "page.pdf")


def _made(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None

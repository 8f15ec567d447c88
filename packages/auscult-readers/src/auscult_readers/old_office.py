"""Reader of Word and PowerPoint files of before 2007 (.doc, .ppt). LibreOffice, if installed, converts them.

LibreOffice runs as a separate process without a network, with limits of time and output, in a folder that is deleted
afterwards. It does not run on systems without network namespaces, which only Linux has. The process that reads files
runs no programs: there `OldOfficeReader` yields a draft that names the file, also one in an archive or mail, and
`process.reading` calls `rewritten`, which converts it and has it read.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from auscult.files.limits import limits
from auscult.readers.archives import streams_in
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.registry import problem_of

_REWRITTEN: Final = {
    "WordDocument": (".doc", ".docx", "application/msword"),
    "PowerPoint Document": (".ppt", ".pptx", "application/vnd.ms-powerpoint"),
}
_PROGRAMS: Final = ("soffice", "libreoffice")
# A separate user without rights, and a separate network without connections.
APART: Final = ("unshare", "--user", "--map-root-user", "--net")
"""Command that runs another one without a network."""

# Run no macros and follow no links: they may name other files of this machine.
_SETTINGS: Final = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">{}</oor:items>"""
_SETTING: Final = (
    '<item oor:path="/org.openoffice.Office.{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>'
)
_SAFE: Final = (
    ("Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Common/Security/Scripting", "DisableActiveContent", "true"),
    ("Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Writer/Content/Update", "Link", "2"),
)


@cache
def office_program() -> tuple[str, ...]:
    """Return the command that runs LibreOffice without a network; empty if that is not possible."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    return (*APART, program) if program and shutil.which("prlimit") and is_apart_possible() else ()


class OldOfficeReader:
    """Marks files of before 2007 for conversion."""

    name = "old Office"
    suffixes: tuple[str, ...] = (".doc", ".ppt")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file is an old Word or PowerPoint file without a password."""
        return _kind_of(file.content) is not None

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield a draft without text, whose `to_rewrite` names the file."""
        if (kind := _kind_of(file.content)) is not None:
            yield DraftDocument(text="", sections=(), media_type=kind[2], to_rewrite=file.name)


def _kind_of(content: bytes) -> tuple[str, str, str] | None:
    """Return the endings of the old and the newer form, and the media type; None for a file of another kind."""
    streams = streams_in(content)
    kind = next((kind for stream, kind in _REWRITTEN.items() if stream in streams), None)
    return None if "EncryptedPackage" in streams else kind


def rewritten(
    drafts: list[tuple[str, DraftDocument]],
    file: SourceFile,
    read: Callable[[SourceFile], Iterable[tuple[str, DraftDocument]]],
) -> list[tuple[str, DraftDocument]]:
    """Replace drafts that LibreOffice must rewrite by the documents of the rewritten files.

    Args:
        drafts: Drafts of a file, each with the name of its format.
        file: The file.
        read: Reads a rewritten file under the limits of the reading process.

    Raises:
        UnreadableError: The file itself cannot be rewritten and read, or it encloses nothing that can.
    """
    kept: list[tuple[str, DraftDocument]] = []
    remarks: list[str] = []
    begun, most = time.monotonic(), limits().seconds
    for name, draft in drafts:
        if not draft.to_rewrite:
            kept.append((name, draft))
            continue
        inner = SourceFile(draft.to_rewrite, file.content if draft.content is None else draft.content)
        try:
            if time.monotonic() - begun > most:
                expected, remedy = f"files that are rewritten in {most} s", "name it alone"
                raise UnreadableError("timed out", expected, "too many in one file", remedy)
            newer = rewrite_file(inner)
            if newer is None:
                raise problem_of(inner) or UnreadableError("unknown kind", "a file to rewrite", "another", "report it")
            kept += [(form, _in_place_of(draft, made)) for form, made in read(newer) if not made.to_rewrite]
        except UnreadableError as problem:
            remarks.append(f"attachment {inner.name}: {problem.kind} ({problem.got})")
            if len(drafts) == 1:
                raise
    if remarks and kept:
        # The text of a message comes after its attachments.
        name, last = kept[-1]
        kept[-1] = name, replace(last, remarks=[*last.remarks, *remarks])
    return kept


def _in_place_of(draft: DraftDocument, made: DraftDocument) -> DraftDocument:
    """Return the document of a rewritten file, with the facts of the file that encloses it."""
    key = "#".join(filter(None, (draft.key, made.key)))
    return replace(
        made,
        key=key,
        media_type=draft.media_type,
        content=draft.content,
        title=draft.title or made.title or (draft.to_rewrite if draft.key else ""),
        source=draft.source or made.source,
        url=draft.url or made.url,
        entity_ids=tuple(draft.entity_ids) or made.entity_ids,
        metadata={**made.metadata, **draft.metadata},
    )


def rewrite_file(file: SourceFile) -> SourceFile | None:
    """Return a file in its newer form; None for other files, or if LibreOffice cannot run.

    Raises:
        UnreadableError: LibreOffice cannot read the file, or takes longer than the limit.
    """
    kind = _kind_of(file.content)
    if kind is None or not office_program():
        return None
    old, new, _ = kind
    with tempfile.TemporaryDirectory(prefix="auscult-") as place:
        folder = Path(place)
        prepare_profile(folder)
        (folder / f"file{old}").write_bytes(file.content)
        run_office(folder, [f"file{old}"], new.removeprefix("."))
        made = folder / f"file{new}"
        if not made.is_file() or made.is_symlink():
            got = "one that LibreOffice does not read"
            raise UnreadableError("broken Office file", f"a whole file ({old})", got, f"save it as {new} in Office")
        with made.open("rb") as opened:
            content = opened.read(limits().source + 1)
    return SourceFile(f"{file.name.removesuffix(old)}{new}", content)


def prepare_profile(folder: Path) -> None:
    """Write the settings of LibreOffice into a folder: no macros, no links."""
    settings = folder / "profile" / "user" / "registrymodifications.xcu"
    settings.parent.mkdir(parents=True)
    settings.write_text(_SETTINGS.format("".join(_SETTING.format(*each) for each in _SAFE)), encoding="utf-8")


def run_office(folder: Path, names: Sequence[str], form: str) -> None:
    """Write files in another form into their folder, which has a profile.

    Raises:
        UnreadableError: LibreOffice takes longer than the limit of one file allows for all of them.
    """
    most = limits()
    seconds = most.seconds * len(names)
    limited = ["prlimit", f"--cpu={seconds}", f"--fsize={most.source}", "--core=0", *office_program()]
    given = ["--headless", "--norestore", "--nolockcheck", "--nodefault", "--convert-to", form, "--outdir", str(folder)]
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [*limited, profile, *given, *(str(folder / name) for name in names)]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "TMPDIR": str(folder)}
    if not run_apart(command, folder, environment, seconds):
        remedy = "leave it out, or save it in the newer form"
        expected = f"a file that LibreOffice reads in {most.seconds} s"
        raise UnreadableError("timed out", expected, "one that takes longer", remedy)


def run_apart(command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float) -> bool:
    """Run a command in its own session, and end all that it started. Return False if it takes too long."""
    process = subprocess.Popen(  # noqa: S603 - a fixed command, and names of ours
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    finally:
        # This also ends the processes that the command started: they are in its session.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return True


@cache
def is_apart_possible() -> bool:
    """Return whether this machine can run a process without a network."""
    if shutil.which(APART[0]) is None:
        return False
    return subprocess.run([*APART, "true"], check=False, capture_output=True).returncode == 0  # noqa: S603

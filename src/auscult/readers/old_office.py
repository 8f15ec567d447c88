"""Word and PowerPoint files of before 2007 (.doc, .ppt): rewritten by LibreOffice where it is on the machine.

LibreOffice runs in a namespace without a network, as a process of its own with limits of time and of the size of what
it writes, in a folder that is deleted afterwards. Where there is no such namespace (it is Linux's), it is not run.
The process that reads files runs no programs: `OldOfficeReader` says there what is to be rewritten, wherever it is
enclosed, and `process.reading` has it rewritten and read.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from auscult.files.limits import limits
from auscult.readers.archives import streams_in
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError

_REWRITTEN: Final = {
    "WordDocument": (".doc", ".docx", "application/msword"),
    "PowerPoint Document": (".ppt", ".pptx", "application/vnd.ms-powerpoint"),
}
_PROGRAMS: Final = ("soffice", "libreoffice")
# A user of its own, which has no rights, and a network of its own, which leads nowhere.
_APART: Final = ("unshare", "--user", "--map-root-user", "--net")

# Macros and links of a file, which may name other files of this machine, are neither run nor followed.
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
    """The command that runs LibreOffice without a network; empty where there is none."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None or not all(map(shutil.which, (_APART[0], "prlimit"))):
        return ()
    apart = subprocess.run([*_APART, "true"], check=False, capture_output=True)  # noqa: S603 - a fixed command
    return (*_APART, program) if apart.returncode == 0 else ()


class OldOfficeReader:
    """Hands out files of before 2007 as what is to be rewritten."""

    name = "old Office"
    suffixes: tuple[str, ...] = (".doc", ".ppt")

    def recognises(self, file: SourceFile) -> bool:
        """Whether it is an old Word or PowerPoint file without a password."""
        return _kind_of(file.content) is not None

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """One draft without text, which names the file."""
        if (kind := _kind_of(file.content)) is not None:
            yield DraftDocument(text="", sections=(), media_type=kind[2], to_rewrite=file.name)


def _kind_of(content: bytes) -> tuple[str, str, str] | None:
    """Return the endings of the old and the newer form, and the media type; None for a file of another kind."""
    streams = streams_in(content)
    found = next((told for stream, told in _REWRITTEN.items() if stream in streams), None)
    return None if "EncryptedPackage" in streams else found


def rewritten(file: SourceFile) -> SourceFile | None:
    """Return a file in its newer form; None where it is of no such kind, or LibreOffice is not on the machine.

    Raises:
        UnreadableError: LibreOffice does not read it, or not within the limits.
    """
    found = _kind_of(file.content)
    if found is None or not office_program():
        return None
    old, new, _ = found
    with tempfile.TemporaryDirectory(prefix="auscult-") as place:
        folder = Path(place)
        settings = folder / "profile" / "user" / "registrymodifications.xcu"
        settings.parent.mkdir(parents=True)
        settings.write_text(_SETTINGS.format("".join(_SETTING.format(*each) for each in _SAFE)), encoding="utf-8")
        (folder / f"file{old}").write_bytes(file.content)
        _run(folder, f"file{old}", new.removeprefix("."))
        made = folder / f"file{new}"
        if not made.is_file() or made.is_symlink():
            got = "one that LibreOffice does not read"
            raise UnreadableError("broken Office file", f"a whole file ({old})", got, f"save it as {new} in Office")
        with made.open("rb") as opened:
            content = opened.read(limits().source + 1)
    return SourceFile(f"{file.name.removesuffix(old)}{new}", content)


def _run(folder: Path, name: str, form: str) -> None:
    """Write the newer form beside a file."""
    most = limits()

    limited = ["prlimit", f"--cpu={most.seconds}", f"--fsize={most.source}", "--core=0", *office_program()]
    given = ["--headless", "--norestore", "--nolockcheck", "--nodefault", "--convert-to", form, "--outdir", str(folder)]
    command = [*limited, f"-env:UserInstallation={(folder / 'profile').as_uri()}", *given, str(folder / name)]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "TMPDIR": str(folder)}
    process = subprocess.Popen(  # noqa: S603 - a fixed command, and a name of ours
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    try:
        process.wait(most.seconds)
    except subprocess.TimeoutExpired:
        remedy = "leave it out, or save it in the newer form"
        expected = f"a file that LibreOffice reads in {most.seconds} s"
        raise UnreadableError("timed out", expected, "one that takes longer", remedy) from None
    finally:
        # Its helpers are of its session.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

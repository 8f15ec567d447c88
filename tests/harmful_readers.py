"""Readers that do what a parser of a harmful file may be brought to do; a file's name says which."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from auscult.documents import Section
from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.notes import NoteReader

READERS = {"harm": "harmful_readers:HarmfulReader", "note": "auscult.readers.notes:NoteReader"}
DEEDS = ("exit", "signal", "sleep", "eat", "flood", "raise", "connect", "run", "write", "outside", "overlap", "garble")


class HarmfulReader:
    name = "harm"
    suffixes = tuple(f".{deed}" for deed in DEEDS)

    def recognises(self, file: SourceFile) -> bool:
        return file.suffix in self.suffixes

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        (draft,) = NoteReader().read(file)
        deed = file.suffix[1:]
        if deed == "exit":
            os._exit(7)
        elif deed == "signal":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif deed == "sleep":
            time.sleep(600)
        elif deed == "eat":
            held = []
            while True:
                held.append(bytearray(10**7))
        elif deed == "flood":
            while True:
                yield draft
        elif deed == "raise":
            raise ValueError(draft.text)
        elif deed == "connect":
            socket.create_connection(("127.0.0.1", int(draft.text)))
        elif deed == "run":
            subprocess.run(["touch", draft.text.strip()], check=True)
        elif deed == "write":
            Path(draft.text.strip()).write_text("x" * 10)
        elif deed == "outside":
            draft = replace(draft, sections=[Section("", draft.text + "!", start=0)])
        elif deed == "overlap":
            draft = replace(draft, sections=[Section("", draft.text, start=0)] * 2)
        elif deed == "garble":
            # What was the way of the answers is none any more.
            print("D" * 100, flush=True)
            os.write(1, b"R" * 100)
        yield draft

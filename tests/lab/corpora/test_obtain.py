"""Getting data sets: from public repositories (served on the loopback interface), a mirror, or a folder."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from auscult.catalogue import Access, DataFile, Entry, Source, entry
from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult_lab.corpora.download import unpack
from auscult_lab.corpora.medquad import MedQuadCorpus
from auscult_lab.corpora.medquad_build import rebuild
from auscult_lab.corpora.obtain import GitHub, obtain
from file_server import FileServer, serving
from places import DATA

TINY = DATA / "medquad_tiny"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TARBALL = f"/someone/MedQuAD/tar.gz/{COMMIT}"
ANNOTATIONS = f"/someone/cdv/{COMMIT}/data/MedQuAD"


def git_tree(folder: Path, store: Path) -> str:
    """What git itself calls the tree of a folder."""
    git = [shutil.which("git") or "git", f"--git-dir={store}", f"--work-tree={folder}"]
    for command in (["init", "-q"], ["-c", "core.autocrlf=false", "-c", "core.fileMode=true", "add", "-A"]):
        subprocess.run([*git, *command], check=True, cwd=folder)
    return subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()


def tarball(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(folder, arcname=f"MedQuAD-{COMMIT}")
    return packed.getvalue()


def data_file(path: Path, name: str) -> DataFile:
    content = path.read_bytes()
    inside = hashlib.sha256(gzip.decompress(content)).hexdigest()
    return DataFile(name, len(content), hashlib.sha256(content).hexdigest(), inside)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny tree as a repository would have it: other files, a link and an executable beside the XML."""
    folder = tmp_path_factory.mktemp("repository") / "MedQuAD"
    shutil.copytree(TINY / "MedQuAD", folder)
    (folder / "readme.txt").write_text("Not unpacked.\n")
    (folder / "readme").symlink_to("readme.txt")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def tiny_entry(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Entry:
    made = rebuild(repository, TINY / "cdv", tmp_path_factory.mktemp("made"))
    digests = {
        f"data/MedQuAD/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in (TINY / "cdv").iterdir()
    }
    return dataclasses.replace(
        entry("medquad"),
        files=tuple(data_file(path, f"medquad/{path.name}") for path in made),
        sources=(
            Source(
                "someone/MedQuAD",
                COMMIT,
                tree=git_tree(repository, tmp_path_factory.mktemp("store") / "git"),
            ),
            Source("someone/cdv", COMMIT, sha256=digests),
        ),
    )


@pytest.fixture
def server(repository: Path) -> Iterator[FileServer]:
    files = {f"{ANNOTATIONS}/{path.name}": path.read_bytes() for path in (TINY / "cdv").iterdir()}
    with serving({TARBALL: tarball(repository)} | files) as running:
        yield running


def test_medquad_is_rebuilt_from_the_two_repositories(tiny_entry: Entry, server: FileServer, tmp_path: Path) -> None:
    reported: dict[str, int] = {}
    files = obtain(
        tiny_entry,
        tmp_path,
        github=GitHub(server.url, server.url),
        report=lambda label, done, total: reported.update({label: done}),
    )
    assert [path.relative_to(tmp_path).as_posix() for path in files] == [f.path for f in tiny_entry.files]
    assert len(list(MedQuadCorpus(tmp_path / "medquad").documents())) == 9
    assert reported["MedQuAD-0123456789ab.tar.gz"] == len(server.files[TARBALL])
    assert [path.name for path in tmp_path.iterdir()] == ["medquad"]


def test_complete_files_cause_no_request(tiny_entry: Entry, server: FileServer, tmp_path: Path) -> None:
    github = GitHub(server.url, server.url)
    obtain(tiny_entry, tmp_path, github=github)
    asked = len(server.requests)
    obtain(tiny_entry, tmp_path, github=github)
    assert len(server.requests) == asked


def test_a_damaged_file_is_made_again(tiny_entry: Entry, server: FileServer, tmp_path: Path) -> None:
    github = GitHub(server.url, server.url)
    damaged = obtain(tiny_entry, tmp_path, github=github)[0]
    damaged.write_bytes(damaged.read_bytes()[:-20])
    obtain(tiny_entry, tmp_path, github=github)
    assert gzip.decompress(damaged.read_bytes()).count(b"\n") == 9


def test_another_tree_than_the_pinned_one_is_refused(
    tiny_entry: Entry, server: FileServer, repository: Path, tmp_path: Path
) -> None:
    changed = shutil.copytree(repository, tmp_path / "changed", symlinks=True)
    (changed / "readme.txt").write_text("Changed.\n")
    server.files[TARBALL] = tarball(changed)
    with pytest.raises(DataError, match=r"the git tree .* got tree"):
        obtain(tiny_entry, tmp_path / "data", github=GitHub(server.url, server.url))
    assert not (tmp_path / "data" / "medquad").exists()
    assert not list((tmp_path / "data").rglob("*.tar.gz"))
    assert not list((tmp_path / "data").rglob("*.xml"))


def test_a_failed_transfer_keeps_the_received_bytes(tiny_entry: Entry, server: FileServer, tmp_path: Path) -> None:
    missing = f"{ANNOTATIONS}/MedQuAD_test_sources.tsv"
    content = server.files.pop(missing)
    with pytest.raises(CorpusMissingError, match="HTTP 404"):
        obtain(tiny_entry, tmp_path, github=GitHub(server.url, server.url))
    assert not (tmp_path / "medquad").exists()
    server.files[missing] = content
    obtain(tiny_entry, tmp_path, github=GitHub(server.url, server.url))
    assert len(list(MedQuadCorpus(tmp_path / "medquad").documents())) == 9
    assert [path for path, _ in server.requests].count(TARBALL) == 1


def test_a_local_tree_needs_no_network(tiny_entry: Entry, repository: Path, tmp_path: Path) -> None:
    nowhere = GitHub("http://127.0.0.1:9", "http://127.0.0.1:9")
    obtain(tiny_entry, tmp_path, tree=repository, annotations=TINY / "cdv", github=nowhere)
    assert len(list(MedQuadCorpus(tmp_path / "medquad").documents())) == 9


def test_a_local_tree_of_another_state_is_refused(tiny_entry: Entry, repository: Path, tmp_path: Path) -> None:
    changed = shutil.copytree(repository, tmp_path / "changed", symlinks=True)
    path = changed / "3_GHR_QA" / "0000003.xml"
    path.write_text(path.read_text(encoding="utf-8").replace("made-up", "invented"), encoding="utf-8")
    with pytest.raises(DataError, match="take tree and annotations at the commits"):
        obtain(tiny_entry, tmp_path / "data", tree=changed, annotations=TINY / "cdv")
    assert not (tmp_path / "data" / "medquad").exists()


def test_tree_and_annotations_belong_together(tiny_entry: Entry, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="both or neither"):
        obtain(tiny_entry, tmp_path, tree=TINY)
    with pytest.raises(ConfigError, match="something else for nhs"):
        obtain(entry("nhs"), tmp_path, tree=TINY, annotations=TINY)


@pytest.fixture
def prepared(tmp_path: Path) -> tuple[Entry, Path]:
    """A prepared data set of one file, and the folder that has it."""
    folder = tmp_path / "mirror"
    path = folder / "pages" / "pages.jsonl.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(b'{"doc_id": "1"}\n', mtime=0))
    made = Entry(
        name="pages",
        title="Pages",
        access=Access.PREPARED,
        licence="CC0 1.0",
        licence_class="open",
        description="One page.",
        files=(data_file(path, "pages/pages.jsonl.gz"),),
    )
    return made, folder


def test_prepared_files_come_from_folders_or_addresses(prepared: tuple[Entry, Path], tmp_path: Path) -> None:
    made, folder = prepared
    (copied,) = obtain(made, tmp_path / "a", origin=str(folder))
    (flat,) = obtain(made, tmp_path / "b", origin=str(folder / "pages"))
    with serving({"/data/pages/pages.jsonl.gz": copied.read_bytes()}) as server:
        (fetched,) = obtain(made, tmp_path / "c", origin=f"{server.url}/data/")
    assert copied.read_bytes() == flat.read_bytes() == fetched.read_bytes()


def test_different_file_is_refused_keeping_the_old_one(prepared: tuple[Entry, Path], tmp_path: Path) -> None:
    made, folder = prepared
    target = tmp_path / "data" / "pages" / "pages.jsonl.gz"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"old")
    (folder / "pages" / "pages.jsonl.gz").write_bytes(gzip.compress(b"other\n"))
    with pytest.raises(DataError, match="with the catalogue's checksum, got a different file"):
        obtain(made, tmp_path / "data", origin=str(folder))
    assert [path.name for path in target.parent.iterdir()] == ["pages.jsonl.gz"]
    assert target.read_bytes() == b"old"


def test_prepared_files_need_a_folder_or_an_address(prepared: tuple[Entry, Path], tmp_path: Path) -> None:
    made, folder = prepared
    with pytest.raises(CorpusMissingError, match="auscult data get pages --from FOLDER_OR_URL"):
        obtain(made, tmp_path / "data")
    shutil.rmtree(folder / "pages")
    with pytest.raises(CorpusMissingError, match="correct the folder after --from"):
        obtain(made, tmp_path / "data", origin=str(folder))


def test_a_public_file_is_downloaded_packed_and_checked(prepared: tuple[Entry, Path], tmp_path: Path) -> None:
    made, _ = prepared
    with serving({"/pages.jsonl": b'{"doc_id": "1"}\n', "/other": b"other\n"}) as server:
        file = dataclasses.replace(made.files[0], url=f"{server.url}/pages.jsonl")
        public = dataclasses.replace(made, access=Access.DOWNLOAD, files=(file,))
        (path,) = obtain(public, tmp_path / "data")
        assert gzip.decompress(path.read_bytes()) == b'{"doc_id": "1"}\n'
        assert [found.name for found in path.parent.iterdir()] == ["pages.jsonl.gz"]
        wrong = dataclasses.replace(public, files=(dataclasses.replace(file, url=f"{server.url}/other"),))
        with pytest.raises(DataError, match="SHA-256"):
            obtain(wrong, tmp_path / "more")


def test_restricted_data_are_never_fetched(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError, match=r"uts\.nlm\.nih\.gov.*put it in"):
        obtain(entry("umls"), tmp_path, origin=str(tmp_path))


def test_a_folder_that_cannot_be_written(prepared: tuple[Entry, Path], tmp_path: Path) -> None:
    made, folder = prepared
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError, match="set AUSCULT_DATA to another folder"):
        obtain(made, tmp_path / "file", origin=str(folder))


@pytest.mark.parametrize("name", ["top/../../escape.xml", "/absolute/escape.xml", "top/1_A/../../escape.xml"])
def test_a_path_that_climbs_out_is_not_unpacked(name: str, tmp_path: Path) -> None:
    packed = tmp_path / "bad.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = 4
        archive.addfile(member, io.BytesIO(b"evil"))
    with pytest.raises(DataError, match="git tree"):
        unpack(packed, tmp_path / "in" / "side", tree="0" * 40, wanted=re.compile(r"\d+_\w+/\w+\.xml"))
    assert not list(tmp_path.rglob("escape.xml"))


def test_a_truncated_tarball_is_named(repository: Path, tmp_path: Path) -> None:
    packed = tmp_path / "cut.tar.gz"
    packed.write_bytes(tarball(repository)[:-500])
    with pytest.raises(DataError, match="a whole tarball at"):
        unpack(packed, tmp_path / "tree", tree="0" * 40, wanted=re.compile(r"\d+_\w+/\w+\.xml"))

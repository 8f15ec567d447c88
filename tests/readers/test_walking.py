"""The files below what was named, and what archives that were packed to harm come to."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from auscult.errors import CorpusMissingError
from auscult.files.limits import VARIABLE
from auscult.readers.contract import UnreadableError
from auscult.readers.walking import is_pattern, walk


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def outcome(named: Path | str, **given: object) -> dict[str, bytes | str]:
    """Each file's bytes, or the kind of its problem."""
    contents: dict[str, bytes | str] = {}
    for file in walk(str(named), **given):  # type: ignore[arg-type]
        assert file.name not in contents
        try:
            contents[file.name] = file.content()
        except UnreadableError as problem:
            contents[file.name] = problem.kind
    return contents


def test_folders_list_visible_files_in_name_order(tmp_path: Path) -> None:
    names = ["b.txt", "a/z.txt", "a/b/c.txt", "A.txt", "é.txt", "a.txt"]
    hidden = [".git/x.txt", "a/.x.txt", "__MACOSX/y.txt", "~$open.docx", "Thumbs.db", "index/z.txt"]
    put(tmp_path, {name: name.encode() for name in names + hidden})
    found = outcome(tmp_path, without=[tmp_path / "index"])
    assert list(found) == sorted(names)
    assert all(content == name.encode() for name, content in found.items())


def test_single_files_and_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"x/a.txt": b"1", "x/y/b.txt": b"2", "x/c.pdf": b"3", "odd[1].txt": b"4"})
    assert outcome(tmp_path / "x/a.txt") == {"a.txt": b"1"}
    assert outcome(tmp_path / "x/**/*.txt") == {"a.txt": b"1", "y/b.txt": b"2"}
    assert outcome(tmp_path / "*/*") == {"x/a.txt": b"1", "x/c.pdf": b"3", "x/y/b.txt": b"2"}
    monkeypatch.chdir(tmp_path)
    assert outcome("x/?.*") == {"a.txt": b"1", "c.pdf": b"3"}
    # A file whose name looks like a pattern is a file.
    assert not is_pattern("odd[1].txt")
    assert outcome("odd[1].txt") == {"odd[1].txt": b"4"}
    for nothing in ("none.txt", "x/*.html", "n" * 300, "a\0b"):
        with pytest.raises(CorpusMissingError):
            outcome(nothing)


def test_links_stay_in_the_folder_that_was_named(tmp_path: Path) -> None:
    put(tmp_path, {"in/a.txt": b"a", "in/sub/b.txt": b"b", "out/secret.txt": b"s"})
    (tmp_path / "in/inner.txt").symlink_to(tmp_path / "in/a.txt")
    (tmp_path / "in/leak.txt").symlink_to(tmp_path / "out/secret.txt")
    (tmp_path / "in/leaks").symlink_to(tmp_path / "out")
    (tmp_path / "in/round").symlink_to(tmp_path / "in")
    (tmp_path / "in/dangling").symlink_to(tmp_path / "in/nowhere")
    os.mkfifo(tmp_path / "in/pipe")
    assert outcome(tmp_path / "in") == {
        "a.txt": b"a",
        "dangling": "unreadable file",
        "inner.txt": b"a",
        "leak.txt": "link out of the folder",
        "leaks": "link out of the folder",
        "pipe": "no file",
        "sub/b.txt": b"b",
    }
    assert outcome(tmp_path / "in" / "*" / "*.txt")["leaks/secret.txt"] == "link out of the folder"


def test_members_of_archives_have_names_below_theirs(tmp_path: Path) -> None:
    inner = zipped({"deep.txt": b"d", "deeper.zip": zipped({"x.txt": b"x"})})
    members = {"b/c.txt": b"c", "a.txt": b"a", "__MACOSX/._a.txt": b"m", ".DS_Store": b"m", "inner.zip": inner}
    put(tmp_path, {"n.zip": zipped(members), "t.txt.gz": gzip.compress(b"packed"), "z.ZIP": zipped({})})
    assert outcome(tmp_path) == {
        "n.zip/a.txt": b"a",
        "n.zip/b/c.txt": b"c",
        "n.zip/inner.zip/deep.txt": b"d",
        "n.zip/inner.zip/deeper.zip": "nested archive",
        "t.txt.gz": b"packed",
        "z.ZIP": zipped({}),
    }
    assert outcome(tmp_path / "n.zip")["n.zip/a.txt"] == b"a"


def test_office_files_are_not_opened_as_archives(tmp_path: Path) -> None:
    content = zipped({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<y/>"})
    put(tmp_path, {"a.docx": content, "broken.docx": b"PK\x03\x04 and no more"})
    assert outcome(tmp_path) == {"a.docx": content, "broken.docx": b"PK\x03\x04 and no more"}


@pytest.mark.parametrize(
    "name", ["../evil.txt", "/etc/evil.txt", "a/../../evil.txt", "..\\evil.txt", "C:\\evil.txt", "C:evil.txt"]
)
def test_archive_members_with_escaping_names_are_refused(tmp_path: Path, name: str) -> None:
    put(tmp_path, {"x/t.zip": zipped({name: b"evil", "good.txt": b"good"})})
    found = outcome(tmp_path / "x")
    assert found.pop("t.zip/good.txt") == b"good"
    assert list(found.values()) == ["path traversal"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["t.zip", "x"], "nothing is unpacked to the disk"


def linking() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    return packed.getvalue()


def encrypted() -> bytes:
    content = bytearray(zipped({"x.txt": b"secret"}, zipfile.ZIP_STORED))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    return bytes(content)


def damaged() -> bytes:
    content = bytearray(zipped({"x.txt": b"whole and sound"}, zipfile.ZIP_STORED))
    content[content.index(b"sound")] ^= 1
    return bytes(content)


def overlapping() -> bytes:
    """A member that says it is short, and is a bomb: no more than it says is unpacked."""
    content = zipped({"x.txt": bytes(50_000_000)})
    return content.replace((50_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (lambda: zipped({"x.txt": bytes(50_000_000)}), {"m.zip/x.txt": "zip bomb"}),
        (lambda: zipped({"in.zip": zipped({"x.txt": bytes(50_000_000)})}), {"m.zip/in.zip/x.txt": "zip bomb"}),
        (lambda: zipped({f"{n}.txt": bytes(900_000) for n in range(12)}), {"m.zip": "zip bomb"}),
        (overlapping, {"m.zip/x.txt": "broken archive"}),
        (lambda: zipped({f"{n}": b"" for n in range(51)}), {"m.zip": "too many members"}),
        (lambda: zipped({"big.txt": os.urandom(3_000_000)}), {"m.zip/big.txt": "too large"}),
        (lambda: zipped({"x.txt": b"y"}, zipfile.ZIP_LZMA), {"m.zip/x.txt": "unknown packing"}),
        (linking, {"m.zip/link.txt": "link in an archive"}),
        (encrypted, {"m.zip/x.txt": "encrypted"}),
        (damaged, {"m.zip/x.txt": "broken archive"}),
        (lambda: zipped({"x.txt": b"y"})[:-30], {"m.zip": "broken archive"}),
    ],
)
def test_hostile_archives_are_reported_and_others_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Callable[[], bytes], kinds: dict[str, str]
) -> None:
    put(tmp_path, {"m.zip": content(), "n.txt": b"good"})
    monkeypatch.setenv("AUSCULT_LIMITS", "archive=60M, source=2M, members=50")
    if "m.zip" in kinds and kinds["m.zip"] == "zip bomb":
        monkeypatch.setenv("AUSCULT_LIMITS", "archive=10M")
    assert outcome(tmp_path) == {**kinds, "n.txt": b"good"}


def test_gzip_bombs_and_damaged_files_are_reported(tmp_path: Path) -> None:
    put(
        tmp_path, {"bomb.txt.gz": gzip.compress(bytes(50_000_000)), "cut.txt.gz": gzip.compress(os.urandom(900))[:-300]}
    )
    assert outcome(tmp_path) == {"bomb.txt.gz": "zip bomb", "cut.txt.gz": "broken archive"}


def test_control_characters_in_names_are_replaced(tmp_path: Path) -> None:
    put(tmp_path, {"a\nb\x1b[31m.txt": b"1", "n.zip": zipped({"c\td.txt": b"2"})})
    (tmp_path / os.fsdecode(b"\xff.txt")).write_bytes(b"3")
    assert outcome(tmp_path) == {"a_b_[31m.txt": b"1", "n.zip/c_d.txt": b"2", "?.txt": b"3"}


def tarred(members: dict[str, bytes], mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize(("name", "mode"), [("n.tar", "w"), ("n.tar.gz", "w:gz"), ("n.tgz", "w:gz"), ("n.bin", "w")])
def test_members_of_tar_archives_are_files(tmp_path: Path, name: str, mode: str) -> None:
    members = {
        "./b/c.txt": b"c", "a.txt": b"old", ".hidden": b"h", "t.csv.gz": gzip.compress(b"packed"), "x.zip": b"PK",
        "../out.txt": b"evil", "/abs.txt": b"evil",
    }  # fmt: skip
    content = tarred({**members, "a.txt": b"a"}, mode)
    put(tmp_path, {name: content})
    assert outcome(tmp_path) == {
        f"{name}/a.txt": b"a",
        f"{name}/b/c.txt": b"c",
        f"{name}/t.csv.gz": b"packed",
        f"{name}/x.zip": "broken archive",
        f"{name}/../out.txt": "path traversal",
        f"{name}//abs.txt": "path traversal",
    }
    (tmp_path / name).write_bytes(content[: len(content) // 3])
    assert set(outcome(tmp_path).values()) <= {"broken archive", b"a", b"c", b"packed"}
    (tmp_path / name).write_bytes(tarred({"a.txt": b"changed"}, mode))
    assert outcome(tmp_path) == {f"{name}/a.txt": b"changed"}


@pytest.mark.parametrize("outer", ["zip", "tar", "tgz"])
def test_archives_in_archives_are_read_one_level_deep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outer: str
) -> None:
    deep = {"d.txt": b"d", "e.txt.gz": gzip.compress(b"e"), "deeper.tgz": tarred({"x.txt": b"x"}, "w:gz")}
    members = {"a.zip": zipped(deep), "b.tar": tarred(deep), "c.tar.gz": tarred(deep, "w:gz"), "z.tar": b"no archive"}
    members["f.tgz"] = tarred({"../out.txt": b"evil", "zeros.bin": b"0"}, "w:gz")
    pack = {"zip": zipped, "tar": tarred, "tgz": lambda held: tarred(held, "w:gz")}[outer]
    name = f"n.{outer}"
    put(tmp_path, {name: pack(members)})
    expected: dict[str, bytes | str] = {f"{name}/z.tar": "broken archive"}
    for inner in ("a.zip", "b.tar", "c.tar.gz"):
        expected |= {
            f"{name}/{inner}/d.txt": b"d",
            f"{name}/{inner}/e.txt.gz": b"e",
            f"{name}/{inner}/deeper.tgz": "nested archive",
        }
    expected |= {f"{name}/f.tgz/../out.txt": "path traversal", f"{name}/f.tgz/zeros.bin": b"0"}
    assert outcome(tmp_path) == expected
    # The limit is of all that the outer archive holds, and a bomb is one in an archive, too.
    put(tmp_path, {name: pack({"b.tar": tarred({"x.txt": bytes(9_000)}), "c.tar": tarred({"x.txt": bytes(9_000)})})})
    monkeypatch.setenv(VARIABLE, "archive=52000")
    found = outcome(tmp_path)
    assert found[f"{name}/b.tar/x.txt"] == bytes(9_000)
    assert found[f"{name}/c.tar"] == "zip bomb"


def test_hostile_tar_archives_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE):
            member = tarfile.TarInfo(f"{kind.decode()}.txt")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    put(tmp_path, {"l.tar": packed.getvalue(), "b.tgz": tarred({"x.txt": bytes(50_000_000)}, "w:gz")})
    contents = outcome(tmp_path)
    assert contents.pop("b.tgz") == "zip bomb"
    assert set(contents.values()) == {"link in an archive"}
    put(tmp_path, {"m.tar": tarred({f"{n}.txt": b"" for n in range(51)}), "s.tar": tarred({"x": bytes(20_000)})})
    monkeypatch.setenv(VARIABLE, "members=50,archive=15000")
    contents = outcome(tmp_path)
    assert (contents["m.tar"], contents["s.tar"]) == ("too many members", "zip bomb")

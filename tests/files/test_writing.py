"""What is written is there whole or not at all, whatever ends the writing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from auscult.errors import DataError
from auscult.files.writing import (
    check_file,
    check_folder,
    file_name,
    partial_of,
    put_file,
    put_folder,
    renewed_folder,
    whole_folder,
    whole_or_nothing,
    write_json,
    write_text,
)
from needs import Needs

Writer = Callable[[Path], AbstractContextManager[Path]]
WRITERS: dict[str, Writer] = {
    "file": whole_or_nothing,
    "folder": whole_folder,
    "into a folder": lambda path: renewed_folder(path, last="last"),
}


def _everything(folder: Path) -> dict[str, str | None]:
    """Files with their texts, and folders, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def _fill(place: Path, text: str) -> None:
    """Write to what a writer yields, a folder or a file to be."""
    if place.is_dir():
        (place / "part").mkdir()
        (place / "part" / "first").write_text(text)
        (place / "last").write_text(text)
    else:
        place.write_text(text)


def _write(kind: str, place: Path, text: str, end: BaseException | None = None) -> None:
    """Write with one of the writers, and end it with an error where one is given."""
    with WRITERS[kind](place) as fresh:
        _fill(fresh, text)
        if end is not None:
            raise end


@pytest.mark.parametrize("kind", WRITERS)
def test_writing_replaces_the_target_and_leaves_nothing_else(kind: str, tmp_path: Path):
    place = tmp_path / "deep" / "place"
    for text in ("one", "two"):
        with WRITERS[kind](place) as fresh:
            assert not fresh.is_file()
            _fill(fresh, text)
        contents = _everything(tmp_path / "deep")
        if kind == "file":
            assert contents == {"place": text}
        else:
            assert contents == {"place": None, "place/part": None, "place/part/first": text, "place/last": text}


@pytest.mark.parametrize("end", [ValueError("a mistake"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
@pytest.mark.parametrize("kind", WRITERS)
def test_errors_and_interrupts_keep_the_old_content(kind: str, end: BaseException, tmp_path: Path):
    _write(kind, tmp_path / "place", "old")
    before = _everything(tmp_path)
    with pytest.raises(type(end)) as caught:
        _write(kind, tmp_path / "place", "new", end)
    assert caught.value is end
    assert _everything(tmp_path) == before


@pytest.mark.parametrize("kind", WRITERS)
def test_a_failed_first_write_leaves_nothing(kind: str, tmp_path: Path):
    with pytest.raises(ValueError, match="a mistake"):
        _write(kind, tmp_path / "place", "new", ValueError("a mistake"))
    assert _everything(tmp_path) == ({"place": None} if kind == "into a folder" else {})


@pytest.mark.parametrize("kind", WRITERS)
def test_leftovers_of_a_killed_process_are_replaced(kind: str, tmp_path: Path):
    partial = partial_of(tmp_path / "place")
    assert partial == tmp_path / "place.part"
    if kind == "file":
        partial.write_text("half")
    elif kind == "folder":
        (partial / "half").mkdir(parents=True)
    _write(kind, tmp_path / "place", "whole")
    assert not partial.exists()
    assert "half" not in str(_everything(tmp_path))


@pytest.mark.parametrize("kind", WRITERS)
def test_unwritable_folders_are_named_with_the_cause(kind: str, tmp_path: Path, needs: Needs):
    needs.file_modes()
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    with pytest.raises(DataError, match=f"{closed / 'place'}: Permission denied; choose another path") as caught:
        _write(kind, closed / "place", "new")
    assert isinstance(caught.value.__cause__, PermissionError)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_place_below_a_file_is_refused(kind: str, tmp_path: Path):
    (tmp_path / "letter.txt").write_text("")
    with pytest.raises(DataError, match=r"a writable place, got .*letter.txt/place: (Not a directory|File exists)"):
        _write(kind, tmp_path / "letter.txt" / "place", "new")


def test_files_and_folders_do_not_replace_each_other(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("mine")
    before = _everything(tmp_path)
    with pytest.raises(DataError, match=r"folder: Is a directory"):
        write_text(tmp_path / "folder", "new")
    with pytest.raises(DataError, match=r"folder/file: Not a directory"):
        _write("folder", tmp_path / "folder" / "file", "new")
    with pytest.raises(DataError, match=r"folder/file: File exists"):
        _write("into a folder", tmp_path / "folder" / "file", "new")
    assert _everything(tmp_path) == before


def test_system_errors_without_a_number_are_reported(tmp_path: Path):
    with pytest.raises(DataError, match="file: no room on the tape"):
        _write("file", tmp_path / "file", "new", OSError("no room on the tape"))


def test_new_folders_contain_nothing_of_the_old(tmp_path: Path):
    (tmp_path / "place" / "old").mkdir(parents=True)
    with whole_folder(tmp_path / "place") as fresh:
        (fresh / "new").touch()
    assert _everything(tmp_path) == {"place": None, "place/new": ""}


def test_a_complete_file_replaces_an_old_one(tmp_path: Path):
    for place in (tmp_path / "new" / "file", tmp_path / "new" / "file"):
        (tmp_path / "whole").write_text("whole")
        put_file(tmp_path / "whole", place)
        assert _everything(tmp_path) == {"new": None, "new/file": "whole"}
    (tmp_path / "whole").write_text("again")
    with pytest.raises(DataError, match="new: Is a directory"):
        put_file(tmp_path / "whole", tmp_path / "new")
    assert _everything(tmp_path) == {"new": None, "new/file": "whole", "whole": "again"}


def test_a_failed_move_leaves_the_target_folder(tmp_path: Path):
    (tmp_path / "place").mkdir()
    with pytest.raises(DataError, match="place: No such file or directory"):
        put_folder(tmp_path / "nowhere", tmp_path / "place")
    assert _everything(tmp_path) == {"place": None}


def test_renewing_keeps_other_files_and_removes_named_ones(tmp_path: Path):
    for name in ("mine", "gone", "weights"):
        (tmp_path / name).write_text("old")
    with renewed_folder(tmp_path, last="a.json", without=["gone", "never there"]) as fresh:
        (fresh / "weights").write_text("new")
        (fresh / "a.json").write_text("new")
    assert _everything(tmp_path) == {"mine": "old", "weights": "new", "a.json": "new"}


def test_renewing_can_swap_files_and_folders(tmp_path: Path):
    (tmp_path / "one").mkdir()
    (tmp_path / "other").touch()
    with renewed_folder(tmp_path, last="a.json") as fresh:
        (fresh / "one").touch()
        (fresh / "other").mkdir()
    assert _everything(tmp_path) == {"one": "", "other": None}


def test_the_file_describing_the_others_is_moved_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    moved: list[str] = []
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda path, target: (moved.append(path.name), replace(path, target))[1])
    with renewed_folder(tmp_path, last="a.json") as fresh:
        for name in ("c", "a.json", "b"):
            (fresh / name).touch()
    assert moved == ["b", "c", "a.json"]


def test_json_is_indented_unescaped_and_ends_with_newline(tmp_path: Path):
    write_json(tmp_path / "record.json", {"b": ["Ménière"], "a": 1})
    assert (tmp_path / "record.json").read_bytes() == '{\n "b": [\n  "Ménière"\n ],\n "a": 1\n}\n'.encode()


def test_checking_first_creates_nothing(tmp_path: Path):
    (tmp_path / "letter.txt").touch()
    check_file(tmp_path / "letter.txt")
    check_file(tmp_path / "new" / "deep" / "file")
    check_folder(tmp_path / "new")
    with pytest.raises(DataError, match=r"a file to write, got .*, which is a folder"):
        check_file(tmp_path)
    with pytest.raises(DataError, match=r"a folder to write to, got .*letter.txt, which is a file"):
        check_folder(tmp_path / "letter.txt" / "deep")
    assert _everything(tmp_path) == {"letter.txt": ""}


def test_checking_first_names_unwritable_folders(tmp_path: Path, needs: Needs):
    needs.file_modes()
    (tmp_path / "closed").mkdir(mode=0o555)
    with pytest.raises(DataError, match="closed, which may not be written to"):
        check_file(tmp_path / "closed" / "new" / "file")


@pytest.mark.parametrize(
    ("label", "name"), [("CDV (ours)", "cdv_ours"), ("BM25+", "bm25+"), ("Größe / 2.5", "größe_2.5"), ("__a__b", "a_b")]
)
def test_labels_become_names_of_files(label: str, name: str):
    assert file_name(label) == name

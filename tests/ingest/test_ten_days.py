"""Ten days of a hospital's index: files come, change, move and go, and a writer is killed in the middle."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from auscult.documents import Document
from auscult.index import PassageIndex
from auscult.ingest.building import build_index
from auscult.ingest.files import FilesCorpus
from auscult.ingest.sources import Sources, describe_index, file_records
from auscult.ingest.updating import remove_documents, update_index
from encoders import HashedEncoder

ENCODER = HashedEncoder(64)
WORDS = (
    "joint",
    "rest",
    "fever",
    "cough",
    "water",
    "tablet",
    "doctor",
    "ward",
    "night",
    "plan",
    "dose",
    "blood",
    "skin",
)


class Hospital:
    """Folders of files, an index that follows them, and what was removed by hand."""

    def __init__(self, place: Path, seed: int) -> None:
        self.place, self.index, self.chance = place, place / "index", random.Random(seed)
        # Texts, and files: what stands in one later is a new version of what was removed.
        self.removed: set[str] = set()
        self.removed_files: set[Path] = set()
        self.number = 0
        for ward in ("north", "south"):
            for n in range(15):
                self.write(f"{ward}/{'' if n % 3 else 'sub/'}note{n}.txt")
        with FilesCorpus(place / "north").gather() as gathered:
            origins = gathered.origins
            build_index(
                gathered.documents(),
                ENCODER,
                self.index,
                origin=lambda document: origins[document.doc_id],
                files=gathered.files(),
            )

    def write(self, name: str, text: str = "") -> None:
        self.number += 1
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text or f"Note {self.number}. {' '.join(self.chance.choices(WORDS, k=120))}.")

    def files(self, folder: str) -> list[Path]:
        return sorted(path for path in (self.place / folder).rglob("*.txt"))

    def some(self, folder: str) -> Path:
        return self.chance.choice(self.files(folder))

    def add(self, *folders: str, crash: bool = False, prune: bool = True) -> None:
        """Do as `auscult add` does; or die after some documents."""
        sources = Sources({}, FilesCorpus(*(self.place / folder for folder in folders)))
        reader = PassageIndex.open(self.index).reader
        with sources.gather(describe_index(reader, sources.files), lambda report: None, prune=prune) as gathered:
            reader.close()

            def dying(documents: list[Document]) -> list[Document]:
                if crash:
                    raise KeyboardInterrupt
                return documents

            given = {origin: map_last(gathered.documents(origin), dying) for origin in gathered.records}
            update_index(
                given, ENCODER, self.index, prune=prune, gathered=gathered, files=gathered.files(), batch_size=2
            )

    def remove(self) -> None:
        reader = PassageIndex.open(self.index).reader
        row = self.chance.choice(reader.documents.tolist())
        record = reader.document_record(row)
        self.removed.add(" ".join(reader.document(row).text.split()))
        self.removed_files |= {
            Path(origin) / key
            for origin, records in file_records(reader.store).items()
            for key, each in records.items()
            if record.doc_id in {said.doc_id for said in each.said}
        }
        reader.close()
        remove_documents(self.index, [record.doc_id])

    def check(self, *folders: str) -> None:
        """No duplicate, no ghost, no loss: the index holds each text of these folders once, with all its places."""
        index = PassageIndex.open(self.index)
        index.verify()
        reader = index.reader
        texts = [" ".join(reader.document(row).text.split()) for row in reader.documents.tolist()]
        assert len(texts) == len(set(texts)), "a duplicate"
        places: dict[str, int] = {}
        for folder in folders:
            for path in {*self.files(folder)} - self.removed_files:
                text = " ".join(path.read_text().split())
                places[text] = places.get(text, 0) + 1
        expected = set(places) - self.removed
        assert not set(texts) - expected, "a ghost"
        assert not expected - set(texts), "a loss"
        for row, text in zip(reader.documents.tolist(), texts, strict=True):
            also = reader.document_record(row).metadata.get("also", "").splitlines()
            assert 1 + len(also) == places[text], (reader.document_record(row), places[text])
        reader.close()

    def size(self, folder: Path) -> int:
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def map_last(documents: object, change: Callable[[list[Document]], list[Document]]) -> list[Document]:
    """All documents but the last two, which a crash keeps from coming."""
    found = [*documents]  # type: ignore[misc]
    return [*found[:-2], *change(found[-2:])] if found else found


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_ten_days_leave_no_duplicate_ghost_or_loss(tmp_path: Path, seed: int) -> None:
    hospital = Hospital(tmp_path, seed)
    hospital.check("north")
    hospital.add("south")
    known = ["north", "south"]
    hospital.check(*known)
    for day in range(1, 11):
        for _ in range(4):
            ward = hospital.chance.choice(("north", "south"))
            hospital.write(f"{ward}/day{day}-{hospital.number}.txt")
            hospital.some(ward).rename(tmp_path / ward / f"renamed{hospital.number}.txt")
            shutil.move(hospital.some(ward), tmp_path / "south" / f"moved{hospital.number}.txt")
            shutil.copy(hospital.some(ward), tmp_path / "north" / f"copy{hospital.number}.txt")
            hospital.some(ward).unlink()
            hospital.write(str(hospital.some(ward).relative_to(tmp_path)))
            hospital.number += 1
        if day == 3:
            shutil.copytree(tmp_path / "north", tmp_path / "mirror")
            known.append("mirror")
        if day in (4, 7):
            hospital.remove()
        if day == 5:
            (tmp_path / "link").symlink_to("south")
            hospital.add("link")
        if day in (2, 6, 9):
            before = PassageIndex.open(tmp_path / "index").manifest
            hospital.write(f"north/late{day}.txt")
            with pytest.raises(KeyboardInterrupt):
                hospital.add("north", crash=True)
            assert PassageIndex.open(tmp_path / "index").manifest == before
        order = hospital.chance.sample(known, len(known))
        for folder in order:
            hospital.add(folder)
        hospital.check(*known)
    fresh = tmp_path / "fresh"
    with FilesCorpus(*(tmp_path / folder for folder in known)).gather() as gathered:
        build_index(gathered.documents(), ENCODER, fresh, files=gathered.files())
    assert hospital.size(hospital.index) <= 1.5 * hospital.size(fresh)

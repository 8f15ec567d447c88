"""A segment: the derived data of some documents, for searches, in one file that never changes.

vectors                 float32 (passages, dim)
keys, firsts, starts    for each document: its key in the store, the key and the row of its first passage
sentences               for each passage: the number of its sentences
codes, words, titles, fields, languages, expansion   see these modules
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from auscult.documents import Passage
from auscult.documents.language_names import ENGLISH
from auscult.encoders.contract import Expansion, FloatArray
from auscult.errors import IndexFolderError
from auscult.index.blocks import REPAIR, BlockFile, BlockWriter
from auscult.index.codes import CodeWriter
from auscult.index.expansion import ExpansionWriter
from auscult.index.fields import ACCESS, Column, fields_of, is_open_to, write_fields
from auscult.index.languages import LANGUAGE, detect_languages, read_languages, write_languages
from auscult.index.manifest import PASSAGE_DTYPE, Counts, SegmentRecord
from auscult.index.store import DocumentRecord
from auscult.index.titles import Name, further_names, names_of, read_titles, write_titles
from auscult.index.words import ANALYSIS, Counted, WordCounter, WordSegment, merge_counts, write_words


class SegmentWriter:
    """Writes a segment. Its memory grows with the number of words, but not with that of vectors.

    Attributes:
        file: Its file.
    """

    def __init__(self, path: Path, dim: int) -> None:
        self.file = BlockWriter(path)
        self.file.begin("vectors", PASSAGE_DTYPE, dim)
        self._keys: list[int] = []
        self._firsts: list[int] = []
        self._starts = [0]
        self._sentences: list[int] = []
        self._codes = CodeWriter()
        self._counter = WordCounter()
        self._expansions = ExpansionWriter()
        self._counted: list[Counted] = []
        self._names: list[Name] = []
        self._fields: list[Mapping[str, str]] = []
        self._languages: list[str] = []

    def add(
        self,
        key: int,
        first: int,
        record: DocumentRecord,
        passages: Sequence[tuple[Passage, str]],
        vectors: Sequence[FloatArray] | FloatArray,
        expansion: Expansion | None,
    ) -> None:
        """Add a document.

        Args:
            key: Key of the document.
            first: Key of its first passage.
            record: Its title, source and further fields.
            passages: Its passages with their texts.
            vectors: Their vectors, (passages, dim).
            expansion: Their terms; None for a model without terms.
        """
        if expansion is not None:
            self._expansions.add(expansion, self._starts[-1])
        language, languages = detect_languages([text for _, text in passages])
        self._names += names_of(len(self._keys), record.title, record.entity_ids, language)
        fields = fields_of(record.source, {**({LANGUAGE: language} if language else {}), **record.metadata})
        self._languages += languages
        sentences = [len(passage.sentences) for passage, _ in passages]
        self._put(key, first, fields, sentences, np.asarray(vectors, PASSAGE_DTYPE))
        self._counter.add(
            record.title, further_names(record.metadata), passages, language=language or ENGLISH, languages=languages
        )

    def take(self, segment: Segment) -> None:
        """Add the documents of another segment that were not deleted. Cannot be mixed with `add`."""
        begin = len(self._keys)
        rows = np.flatnonzero(segment.living)
        living = np.repeat(segment.living, np.diff(segment.starts))
        self._expansions.take(segment.file, living, self._starts[-1])
        places = {row: begin + place for place, row in enumerate(rows.tolist())}
        columns = {name: Column(segment.file, name) for name in segment.file.notes["fields"]}
        sentences, vectors = segment.file.array("sentences"), segment.file.array("vectors")
        languages = read_languages(segment.file)
        for row in rows.tolist():
            fields = {
                name: column.values[column.rows[row]] for name, column in columns.items() if column.rows[row] >= 0
            }
            span = slice(*segment.starts[row : row + 2])
            key, first = int(segment.keys[row]), int(segment.firsts[row])
            self._put(key, first, fields, sentences[span].tolist(), vectors[span])
            self._languages += languages[span]
        self._names += [(name, places[row]) for name, row in read_titles(segment.file) if row in places]
        self._counted.append(segment.words.read_counts())

    def close(self) -> SegmentRecord:
        """Complete the segment."""
        file = self.file
        file.add("keys", np.array(self._keys, np.int64), "<i8")
        file.add("firsts", np.array(self._firsts, np.int64), "<i8")
        file.add("starts", np.array(self._starts, np.int64), "<i8")
        file.add("sentences", np.array(self._sentences, np.int64), "<i4")
        self._codes.write(file)
        write_words(file, merge_counts(self._counted or [self._counter.count()]))
        write_titles(file, self._names)
        self._expansions.write(file)
        notes = {
            "fields": write_fields(file, self._fields),
            "languages": write_languages(file, self._languages),
            "analysis": ANALYSIS,
        }
        end = file.close(notes)
        first, last = (self._keys[0], self._keys[-1]) if self._keys else (0, -1)
        return SegmentRecord(file.path.name, end, first, last, len(self._keys))

    def _put(
        self, key: int, first: int, fields: Mapping[str, str], sentences: Sequence[int], vectors: FloatArray
    ) -> None:
        self._keys.append(key)
        self._firsts.append(first)
        self._starts.append(self._starts[-1] + len(sentences))
        self._sentences += sentences
        self._fields.append(fields)
        self.file.append(vectors)
        if len(vectors):
            self._codes.add(vectors)


class Segment:
    """An opened segment.

    Args:
        removed: Keys of deleted documents.
        opens: Opens its file, by path and the checksum at its end.

    Attributes:
        living: Which documents were not deleted, (documents,).

    Raises:
        FileNotFoundError: The file does not exist.
        IndexFolderError: The file is damaged, or its words have another normal form (`words.ANALYSIS`).
    """

    def __init__(
        self,
        folder: Path,
        record: SegmentRecord,
        removed: Collection[int],
        opens: Callable[[Path, int], BlockFile] = BlockFile,
    ) -> None:
        self.record = record
        self.file = opens(folder / record.name, record.end)
        if self.file.notes.get("analysis") != ANALYSIS:
            got = f"those of another version of auscult in {self.file.path}"
            raise IndexFolderError("words in the normal form of this version", got, REPAIR)
        self.keys: npt.NDArray[np.int64] = self.file.array("keys")
        self.firsts: npt.NDArray[np.int64] = self.file.array("firsts")
        self.starts: npt.NDArray[np.int64] = self.file.array("starts")
        gone = [key for key in removed if record.first <= key <= record.last]
        self.living: npt.NDArray[np.bool_] = ~np.isin(self.keys, gone)

    def without(self, hidden: npt.NDArray[np.bool_]) -> Segment:
        """Return a view of the segment in which some documents, (documents,), look deleted."""
        view = copy(self)
        view.__dict__.pop("words", None)
        view.living = self.living & ~hidden
        return view

    @property
    def counts(self) -> Counts:
        """Numbers of documents, passages and sentences that were not deleted."""
        sizes = np.diff(self.starts)
        passages = np.repeat(self.living, sizes)
        sentences = int(self.file.array("sentences")[passages].sum(dtype=np.int64))
        return Counts(int(np.count_nonzero(self.living)), int(np.count_nonzero(passages)), sentences)

    @cached_property
    def words(self) -> WordSegment:
        """The words of the documents that were not deleted."""
        if self.living.all():
            return WordSegment(self.file, None, None)
        return WordSegment(self.file, self.living, np.repeat(self.living, np.diff(self.starts)))


#: A segment is merged with all segments after it unless it has more than this many times their documents. So there are
#: few segments, and a document is rewritten only a logarithmic number of times.
_JOINED = 3


def plan(segments: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return which neighbouring segments to merge, as groups of their numbers.

    Args:
        segments: For each segment in order: the number of its documents, and of those that were not deleted.

    Returns:
        Groups in order. A segment that is alone in its group is rewritten only if more than half of it was deleted.
    """
    groups: list[list[int]] = []
    tail: list[int] = []
    size = 0
    for number in reversed(range(len(segments))):
        living = segments[number][1]
        if not tail or living <= _JOINED * size:
            tail.insert(0, number)
            size += living
        else:
            groups.insert(0, [number])
    return [*groups, *([tail] if tail else [])]


def merge(segments: Sequence[Segment], path: Path, dim: int) -> SegmentRecord:
    """Merge segments into one, without deleted documents."""
    writer = SegmentWriter(path, dim)
    try:
        for segment in segments:
            writer.take(segment)
        return writer.close()
    except BaseException:
        writer.file.discard()
        raise


def restrict_to(segment: Segment, groups: Collection[str]) -> Segment:
    """Return a segment without the documents that these groups may not see; the same segment if there are none."""
    column = Column(segment.file, ACCESS)
    # The last one is for -1: documents without the field.
    is_open = np.array([*(is_open_to(value, groups) for value in column.values), True])
    visible: npt.NDArray[np.bool_] = is_open[column.rows]
    return segment if visible[segment.living].all() else segment.without(~visible)

"""Opening a knowledge base by catalogue name, folder or file."""

from __future__ import annotations

from pathlib import Path

from auscult.concepts import KnowledgeBase
from auscult.corpora.catalogue import data_dir, locate
from auscult.errors import CorpusMissingError

DEFAULT = "knowledge-base"
_SAVED = ".jsonl.gz"


def open_knowledge_base(spec: str | Path = DEFAULT) -> KnowledgeBase:
    """Open a knowledge base.

    Args:
        spec: "knowledge-base" (the catalogue's: Disease Ontology, Mondo, Symptom Ontology, ICD-10-CM), a folder of
            the same prepared files, a file that `KnowledgeBase.save` wrote, or one OBO or TSV taxonomy.

    Raises:
        CorpusMissingError: It is not on this machine; the remedy says where to get it.
        DataError: A file of it is malformed.
    """
    if spec == DEFAULT:
        locate(DEFAULT)
        return KnowledgeBase.from_folder(data_dir() / "kg")
    path = Path(spec)
    if not path.exists():
        remedy = f"give {DEFAULT!r}, a folder or a taxonomy file"
        raise CorpusMissingError(f"a knowledge base at {path}", "no such file or folder", remedy)
    if path.is_dir():
        return KnowledgeBase.from_folder(path)
    return KnowledgeBase.load(path) if path.name.endswith(_SAVED) else KnowledgeBase.from_files([path])

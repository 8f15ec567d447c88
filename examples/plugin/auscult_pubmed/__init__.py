"""Exports of PubMed (.nbib): a reader of the format, a corpus of two abstracts, and a command that lists titles."""

import re
from pathlib import Path

from auscult.documents.document import Section
from auscult.ingest.files import FilesCorpus
from auscult.readers.contract import DraftDocument, SourceFile

EXAMPLE = Path(__file__).with_name("example.nbib")


class NbibReader:
    """Reads each record of an export as one document: the title, and the abstract as its only section."""

    name, suffixes = "PubMed export", (".nbib",)

    def recognises(self, file):
        """Check for the first field of a record."""
        return file.head.lstrip().startswith(b"PMID- ")

    def read(self, file):
        """Yield the documents of an export."""
        for record in re.split(r"\n\s*\n", file.content.decode().strip()):
            lines = re.sub(r"\n {6}", " ", record).splitlines()
            fields = {line[:4].strip(): line[6:] for line in lines}
            text, key = fields["AB"], fields["PMID"]
            sections = [Section("Abstract", text, start=0)]
            yield DraftDocument(text=text, sections=sections, title=fields["TI"], key=key, media_type="text/plain")


class Corpora:
    """Opens the corpus `pubmed-example`."""

    def names(self, spec):
        """Check whether a text is the name of the corpus."""
        return spec == "pubmed-example"

    def open(self, spec, *, skip_bad):
        """Open the corpus by its name; return None for any path."""
        return FilesCorpus(str(EXAMPLE), skip_bad=skip_bad) if self.names(spec) else None


CORPORA = Corpora()


def titles(path: Path):
    """List the titles of an export.

    Example: `auscult titles export.nbib`
    """
    for draft in NbibReader().read(SourceFile(path.name, path.read_bytes())):
        print(draft.title)

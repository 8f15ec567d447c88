"""A typed client of a served index (`auscult serve`); it knows the HTTP API and its records alone.

from auscult.client import Client

with Client("http://127.0.0.1:8470") as client:
for hit in client.search("How is gout treated?").hits:
print(hit.title, hit.heading, hit.probability)
"""

from auscult.client.client import Client, ServiceError
from auscult.schema import Curves, DocumentList, Hit, Index, Sentence
from auscult.schema import DocumentWhole as Document
from auscult.schema import EntityCompletion as Completion
from auscult.schema import JobTold as Job
from auscult.schema import SearchAnswer as Answer

__all__ = [
    "Answer",
    "Client",
    "Completion",
    "Curves",
    "Document",
    "DocumentList",
    "Hit",
    "Index",
    "Job",
    "Sentence",
    "ServiceError",
]

"""A typed client of a served index (`auscult serve`); it knows the HTTP API alone, and nothing else of the package.

from auscult.client import Client

with Client("http://127.0.0.1:8470") as client:
for hit in client.search("How is gout treated?").hits:
print(hit.title, hit.heading, hit.probability)
"""

from auscult.client.client import Client, ServiceError
from auscult.client.records import Answer, Completion, Curves, Document, DocumentList, Hit, Index, Job, Sentence

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

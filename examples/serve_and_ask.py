"""Serve an index over HTTP, ask it through the client, and end it."""

import subprocess
import tempfile
from pathlib import Path

import auscult
from auscult.client import Client, ServiceError

LEAFLETS = Path(__file__).with_name("leaflets")

with tempfile.TemporaryDirectory() as folder:
    auscult.build_index(LEAFLETS, out=f"{folder}/leaflets")
    command = ["auscult", "serve", f"{folder}/leaflets", "--port", "0", "--processes", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as service:  # noqa: S603
        address = next(line for line in service.stdout or () if "http://" in line)
        with Client("http://" + address.partition("http://")[2].split()[0].rstrip("/")) as client:
            answer = client.search("What may cause gout?", k=2)
            for hit in answer.hits:
                print(f"{hit.title}, {hit.heading}: {hit.text}")
            try:
                client.document("no such leaflet")
            except ServiceError as error:
                print(f"{error.status} {error.code}: {error.message}")
        service.terminate()

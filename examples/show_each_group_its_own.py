"""Keep documents for some groups apart: whoever is not of them finds nothing of what they say."""

import tempfile
from pathlib import Path

import auscult

NOTES = {
    "ward-7.md": "---\naccess: ward 7\n---\n# Discharge of M. K.\n\n## Medicines\n\nShe goes home with allopurinol.\n",
    "ward-9.md": "---\naccess: ward 9, pharmacy\n---\n# Letter on A. R.\n\n## Medicines\n\nHe was given colchicine.\n",
    "leaflet.md": "# Gout\n\n## Treatment\n\nAn attack is treated with rest.\n",
}

with tempfile.TemporaryDirectory() as folder:
    for name, text in NOTES.items():
        (Path(folder) / name).write_text(text, encoding="utf-8")
    searcher = auscult.build_index(folder, out=f"{folder}/index").open()
    for groups in ((), ("ward 7",), ("ward 9",), ("pharmacy", "ward 7")):
        hits = searcher.seen_by(groups).search("Which medicines were given?", k=5)
        print(f"{', '.join(groups) or 'no group':18} {sorted(hit.file for hit in hits)}")

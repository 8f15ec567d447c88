"""The lab: study corpora, models and their training, evaluation, comparison. It builds on `auscult`."""

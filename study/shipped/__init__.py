"""Training of the encoders that Auscult ships, on questions written about passages.

The steps, in order: questions and their documents (`written`), passages as windows of tokens (`windows`), wrong
passages that are hard to tell from right ones (`candidates`), a cross-encoder that scores them (`teacher`), the
training of the reader (`tuning`), and that of the towers over it, one of which reads what a question asks (`towers`).
Scripts in `benchmarks/` fit the rest: what aspect a question asks for (`aspects`), weighted terms (`sparse`), and how
sure a hit is (`written_candidates`).

The shipped `fast` and `best` were trained by these steps, with questions of BioASQ and PubMedQA beside written ones.
No command joins the steps yet.
"""

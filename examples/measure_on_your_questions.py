"""Measure models on questions and judgements of your own, in BEIR's layout."""

import json
import subprocess
import tempfile
from pathlib import Path

PASSAGES = {
    "gout-1": "An attack of gout is treated with anti-inflammatory tablets or colchicine and rest.",
    "gout-2": "Too much uric acid in the blood lets crystals form in a joint.",
    "asthma-1": "A reliever inhaler opens the airways within minutes.",
    "asthma-2": "Wheezing, coughing at night and a tight chest are typical of asthma.",
}
QUESTIONS = {"q1": "what medicine helps a gout attack", "q2": "why do I wheeze at night", "q3": "gout crystals"}
ANSWERS = {"q1": "gout-1", "q2": "asthma-2", "q3": "gout-2"}

with tempfile.TemporaryDirectory() as work:
    corpus = Path(work) / "mine"
    (corpus / "qrels").mkdir(parents=True)
    for name, texts in (("corpus", PASSAGES), ("queries", QUESTIONS)):
        lines = [json.dumps({"_id": key, "title": "", "text": text}) for key, text in texts.items()]
        (corpus / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    judged = [f"{question}\t{passage}\t1" for question, passage in ANSWERS.items()]
    (corpus / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]) + "\n")
    command = ["auscult", "evaluate", "mine", "-m", "bm25", "-m", "fast", "--json", "record.json"]
    subprocess.run(command, cwd=work, check=True, capture_output=True)  # noqa: S603
    for record in json.loads((Path(work) / "record.json").read_text(encoding="utf-8")):
        print(f"{record['model']:22} nDCG@10 {record['measures']['nDCG@10']:.3f}  ({record['queries']} questions)")

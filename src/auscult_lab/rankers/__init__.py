"""Neural rankers of the literature, one paper a file, out of the bricks in `models/modules`.

`base.py` says what a ranker is, `registry.py` lists them, `vocabulary.py` holds the words they know, `scorer.py` makes
a `Scorer` of one, and `persistence.py` saves and opens them.
"""

"""Neural rankers of the literature, out of the bricks in `modules`.

`base.py` says what a ranker is, `registry.py` lists them, and `scorer.py` makes a `Scorer` of one, saves and opens it.
"""

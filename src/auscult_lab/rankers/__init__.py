"""Neural rankers of the literature, composed of `modules`.

`base.py` defines the interface, `registry.py` lists the rankers, and `scorer.py` scores with one, saves and opens it.
"""

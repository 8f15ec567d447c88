"""A dozen short health leaflets, written for this project, for a demonstration where no corpus can be had.

Plain texts of our own (Apache-2.0); no medical advice.
"""

from importlib.resources import files
from pathlib import Path

LEAFLETS = Path(str(files(__name__) / "leaflets.jsonl"))

"""Change files, and let the index follow: what is new, what has changed, what is removed and stays removed."""

import shutil
import subprocess
import tempfile
from pathlib import Path

LEAFLETS = Path(__file__).with_name("leaflets")


def auscult(*arguments: str) -> None:
    """Run a command as one would type it, and print what it did."""
    done = subprocess.run(["auscult", *arguments], cwd=work, check=True, capture_output=True, text=True)  # noqa: S603, S607
    print(f"$ auscult {' '.join(arguments)}\n  {done.stdout.splitlines()[0].partition(';')[0]}")


with tempfile.TemporaryDirectory() as work:
    folder = Path(work) / "leaflets"
    shutil.copytree(LEAFLETS, folder)
    subprocess.run(["auscult", "index", "leaflets", "--out", "my-index"], cwd=work, check=True, capture_output=True)  # noqa: S607
    (folder / "tetanus.md").write_text("# Tetanus\n\n## Prevention\n\nA booster every ten years.\n", encoding="utf-8")
    (folder / "gout.md").write_text("# Gout\n\n## Treatment\n\nRest the joint and cool it.\n", encoding="utf-8")
    auscult("add", "my-index", "leaflets")
    auscult("search", "my-index", "How is tetanus prevented?")
    auscult("remove", "my-index", "gout.md")
    auscult("add", "my-index", "leaflets")
    auscult("search", "my-index", "How is gout treated?")

"""Write docs/images/workbench-*.png, the screenshots of docs/workbench.md, from a page of `auscult try`.

    python docs/screenshots.py FOLDER/report.html

Needs playwright, and a Chromium of this machine.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def shoot(page: Page, report: Path) -> None:
    """Take the three pictures of a page: its results, its curves in the dark, and a question."""

    def show(part: str, name: str, width: int, height: int) -> None:
        page.set_viewport_size({"width": width, "height": height})
        page.locator(part).evaluate("part => part.scrollIntoView({ behavior: 'instant' })")
        page.screenshot(path=str(IMAGES / f"workbench-{name}.png"))

    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(report.resolve().as_uri())
    show("body", "results", 1200, 1400)
    page.locator("#shown").select_option(label="where A wins over B")
    show("#questions", "questions", 1280, 760)
    page.locator("#theme").click()
    show("#learning", "dark", 1280, 1000)


def main() -> None:
    """Find a browser, and take the pictures."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit("expected the page of a workbench; give FOLDER/report.html")
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        sys.exit(f"expected one of {', '.join(_BROWSERS)}, got none; install Chromium")
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        shoot(started.new_page(), Path(sys.argv[1]))
        started.close()


if __name__ == "__main__":
    main()

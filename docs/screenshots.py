"""Write the screenshots of the documentation into docs/images/.

    python docs/screenshots.py FOLDER/report.html          workbench-*.png, from a page of `auscult try`
    python docs/screenshots.py http://127.0.0.1:8470       page-*.png, from a service

The service is to have MedQuAD, a folder of one's own (`examples/make_mixed_folder.py`) and some notes as its indexes:

    auscult index medquad --out INDEXES/medquad
    python examples/make_mixed_folder.py DOCUMENTS && auscult index DOCUMENTS --out INDEXES/clinic
    auscult index examples/notes --out INDEXES/ward
    auscult serve INDEXES/medquad INDEXES/clinic INDEXES/ward

Needs playwright, and a Chromium of this machine.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_DRAWN = """Promise.all([...document.querySelectorAll(".sheet img")].slice(0, 3).map((each) => {
  each.loading = "eager";
  return each.decode();
}))"""


def shoot(page: Page, report: Path) -> None:
    """Take the three pictures of a report: its results, its curves in the dark, and a question."""

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


def shoot_service(page: Page, base: str) -> None:
    """Take the pictures of a service: hits, a document, a PDF, coverage, sources, patients, and a phone in the dark."""

    def show(name: str, path: str, width: int, height: int, **asked: str) -> None:
        page.set_viewport_size({"width": width, "height": height})
        anchor = asked.pop("anchor", "")
        page.goto(f"{base}{path}?{urlencode(asked)}{anchor}")
        page.evaluate(_DRAWN)
        page.wait_for_timeout(300)
        page.screenshot(path=str(IMAGES / f"page-{name}.png"))

    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    asked = {"q": "What are the symptoms of sarcoidosis?", "index": "medquad"}
    show("search", "/", 1280, 900, **asked)
    treated = {"q": "How is IgA nephropathy treated?", "index": "medquad"}
    page.goto(f"{base}/?{urlencode(treated)}")
    page.goto(
        base + (page.locator(".hit", has_text="headed treatment").first.locator("h2 a").get_attribute("href") or "")
    )
    page.screenshot(path=str(IMAGES / "page-document.png"))
    drug = {"q": "How is Lennox-Gastaut syndrome treated?", "index": "clinic"}
    show("pdf", "/d/clinic/guidelines/medicines.pdf", 1400, 900, anchor="#answer", **drug)
    show("coverage", "/coverage", 1280, 700, entity="gout; asthma; migraine", index="medquad")
    show("compare", "/compare", 1280, 900, q="symptoms and treatment of asthma", index="medquad")
    show("patients", "/patients", 1280, 820, q="asthma", index="ward")
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    show("phone", "/", 390, 844, **asked)


def main() -> None:
    """Find a browser, and take the pictures."""
    given = sys.argv[1] if len(sys.argv) == 2 else ""
    served = given.startswith(("http://", "https://"))
    if not (served or Path(given).is_file()):
        sys.exit(
            "expected a page of a workbench or a service's address; give FOLDER/report.html or http://127.0.0.1:8470"
        )
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        sys.exit(f"expected one of {', '.join(_BROWSERS)}, got none; install Chromium")
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        started: Any = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        if served:
            shoot_service(started.new_page(), given.rstrip("/"))
        else:
            shoot(started.new_page(), Path(given))
        started.close()


if __name__ == "__main__":
    main()

"""Files dropped on the page: sent, read, reported, found."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from page.conftest import Service
from page_service import Watched, follow

SCURVY = "# Scurvy\n\nScurvy comes from a lack of vitamin C.\n\n## Treatment\n\nScurvy is treated with vitamin C.\n"


def test_dropped_files_are_read_and_reported_and_found(watched: Watched, service: Service) -> None:
    page = watched.open("/add?index=ward")
    drop(page, {"scurvy.md": SCURVY.encode(), "broken.pdf": b"%PDF-1.7 nothing of the kind"})
    assert "scurvy.md" in page.locator("#chosen").inner_text()
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url("**/jobs/*")
    page.locator("h1", has_text="Added").wait_for(timeout=60_000)
    assert "broken.pdf" in page.locator("table").inner_text()
    assert page.locator(".counts div", has_text="new document").locator("dd").inner_text() == "1"
    follow(page.locator(".plain-list a").first)
    assert page.locator("h1").inner_text() == "Scurvy"
    page.goto(f"{service.base}/?q=How+is+scurvy+treated%3F&index=ward")
    assert page.locator(".hit h2").first.inner_text() == "Scurvy"
    page.goto(f"{service.base}/jobs")
    assert page.locator("tbody tr").count() >= 1


def test_a_file_is_chosen_and_sent_without_scripts(browser: Any, service: Service, tmp_path: Path) -> None:
    (tmp_path / "rickets.txt").write_text("Rickets\n\nRickets comes from a lack of vitamin D.\n")
    context = browser.new_context(java_script_enabled=False, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{service.base}/add?index=ward")
    page.get_by_label("choose files").set_input_files(tmp_path / "rickets.txt")
    follow(page.get_by_role("button", name="Add", exact=True))
    assert "/jobs/" in page.url
    # Without scripts, the page reloads itself every few seconds.
    page.get_by_role("heading", name="Added", exact=True).wait_for(timeout=60_000)
    context.close()


def drop(page: Any, files: dict[str, bytes]) -> None:
    """As a hand drops files from a folder."""
    packed = {name: base64.b64encode(content).decode() for name, content in files.items()}
    page.locator("#drop").evaluate(
        """(place, files) => {
          const dropped = new DataTransfer();
          for (const [name, content] of Object.entries(files)) {
            const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
            dropped.items.add(new File([bytes], name));
          }
          place.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
        }""",
        packed,
    )

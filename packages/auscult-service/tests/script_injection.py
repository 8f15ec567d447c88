"""Scripts put wherever the page shows what somebody wrote: titles, texts, headings, sources, addresses, metadata, names
of diseases and files, questions. None may run, and the browser may not even have had to stop one.

    PYTHONPATH=tests python packages/auscult-service/tests/script_injection.py 200
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from auscult.concepts import Concept, KnowledgeBase
from auscult.documents import Document, Section, build_document
from auscult.ingest.building import build_index
from auscult.ingest.files import FilesCorpus
from auscult_service.settings import Settings
from page_service import FAST, chromium, fast_encoder, listening

_RUN: Final = "window.hacked=1"
_BODIES: Final = (
    "<script>{run}</script>",
    "<img src=x onerror={run}>",
    "<svg onload={run}></svg>",
    "<svg><script>{run}</script></svg>",
    "<iframe srcdoc='<script>parent.{run}</script>'></iframe>",
    "<body onload={run}>",
    "<details open ontoggle={run}>x</details>",
    "<input autofocus onfocus={run}>",
    "<a href=javascript:{run}>gout</a>",
    "<style>*{{background:url(javascript:{run})}}</style><p style=animation-name:x onanimationstart={run}>",
    "<math><mi xlink:href=javascript:{run}>gout</mi></math>",
    "<object data=javascript:{run}></object>",
    "<base href=javascript:{run}//>",
    "<meta http-equiv=refresh content='0;url=javascript:{run}'>",
    "<form action=javascript:{run}><button autofocus>gout</button></form>",
    "javascript:{run}",
    "data:text/html,<script>{run}</script>",
    "{{{{ ''.__class__ }}}}<script>{run}</script>",
    "{{% raw %}}<script>{run}</script>{{% endraw %}}",
    "${{{run}}}`-{run}-`",
)
_BEFORE: Final = (
    "",
    "\"'>", "</title></script></style></textarea>", "--><!-- -->", "]]>", "' \" ` autofocus onfocus=" + _RUN, "\\u003c",
    "&lt;", "\u2028", "</option></select>",
)  # fmt: skip
_PROTOCOLS: Final = "all => all.map(each => new URL(each.getAttribute('href') ?? '', location).protocol)"
#: What filters of markup are led astray by: capitals, tabs and control characters inside.
_CHANGES: Final = ("", "upper", "tab", "null")


@dataclass(slots=True)
class Findings:
    """What came of it.

    Attributes:
        payloads: How many were tried.
        pages: How many pages were opened.
        executed: Where a script ran: addresses.
        violations: Of the content security policy: what, and where.
        elsewhere: Addresses of other services that were asked for.
        shown: Payloads that a page showed as text, as it should.
    """

    payloads: int = 0
    pages: int = 0
    shown: int = 0
    executed: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing ran, was stopped, or was asked for elsewhere."""
        return not (self.executed or self.violations or self.elsewhere)


def payloads(number: int) -> list[str]:
    """Different ones, at most 800."""
    return list(islice(_payloads(), number))


def _payloads() -> Iterator[str]:
    for change, before, body in product(_CHANGES, _BEFORE, _BODIES):
        text = before + body.format(run=_RUN)
        if change == "upper":
            text = text.replace("<s", "<S").replace("onload", "OnLoad").replace("onerror", "ONERROR")
        elif change == "tab":
            text = text.replace("<", "<\t", 1).replace("javascript:", "java\tscript:")
        elif change == "null":
            text = text.replace("=", "=\x0b", 1)
        yield text


def try_scripts(program: str, number: int) -> Findings:
    """Serve documents full of scripts and look at every view of them.

    Args:
        program: Of the browser.
        number: Of payloads.
    """
    tried = payloads(number)
    findings = Findings(payloads=len(tried))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        encoder = fast_encoder()
        build_index(
            documents(tried, folder), encoder, folder / "hostile", knowledge_base=_names(tried), model_path=str(FAST)
        )
        settings = Settings(indexes={"hostile": folder / "hostile"}, data=folder / "data")
        with listening(settings, encoder) as base, chromium(program) as browser:
            context = browser.new_context()
            context.add_init_script(
                "document.addEventListener('securitypolicyviolation', (event) => {"
                " (window.stopped ??= []).push(`${event.violatedDirective} ${event.sample}`); });"
            )
            page = context.new_page()
            page.on("request", lambda request: _note_elsewhere(findings, base, request.url))
            page.on("dialog", lambda dialog: (findings.executed.append(page.url), dialog.dismiss()))
            for path, expected in _paths(tried):
                _look(page, base + path, expected, findings)
            _save(page, base, tried, findings)
            _upload(page, base, tried, findings)
            context.close()
    return findings


def documents(tried: Sequence[str], folder: Path) -> list[Document]:
    """A document a payload, which has it everywhere; and a file a payload, which is called by it."""
    files = folder / "files"
    files.mkdir()
    for number, payload in enumerate(tried):
        if number % 4 == 0:
            name = payload.replace("/", "\u2215").replace("\0", "")[:80] or "file"
            (files / f"{number} {name}.md").write_text(f"# {payload}\n\n## {payload}\n\nGout and {payload}.\n")
    made = [
        build_document(
            doc_id=f"d{number} {payload}",
            title=payload,
            sections=[
                Section(
                    payload, f"Gout {number} is treated with {payload} every day.\n- {payload}", f"p{number} {payload}"
                ),
                Section("treatment", f"{payload} Colchicine treats gout.", f"q{number}"),
            ],
            source=payload if number % 2 else "Ward",
            url=payload if number % 3 else f"javascript:{_RUN}",
            entity_ids=(f"X:{number}",),
            metadata={"date": payload, "author": payload, "patient": payload, f"field {payload}": payload},
        )
        for number, payload in enumerate(tried)
    ]
    return [*made, *FilesCorpus(files).documents()]


def _names(tried: Sequence[str]) -> KnowledgeBase:
    return KnowledgeBase(
        [Concept("DOID:13189", "gout", tuple(tried[:5]))]
        + [Concept(f"X:{number}", payload, (f"gout {number}",)) for number, payload in enumerate(tried)]
    )


def _paths(tried: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Addresses of all views, each with a text that it is to show."""
    for number, payload in enumerate(tried):
        everywhere = {"q": payload, "f.source": payload, "from.date": payload}
        yield f"/?{urlencode({'q': f'gout {number}', 'e': f'X:{number}', 'a': payload})}", payload
        yield f"/d/hostile/{quote(f'd{number} {payload}', safe='')}?{urlencode({'q': payload})}", payload
        if number % 5 == 0:
            yield f"/?{urlencode(everywhere)}", ""
            yield f"/?{urlencode({'q': 'and its symptoms?', 'c': f'gout {payload}'})}", payload
            yield f"/patients?{urlencode({'q': f'gout {number}', 'c': payload})}", ""
            yield f"/compare?{urlencode({'q': payload, 'by': 'source', 'v': payload})}", ""
            yield f"/coverage?{urlencode({'entity': payload, 'a': payload})}", ""
            yield f"/?index={quote(payload, safe='')}&q=gout", ""
            yield f"/theme?to=dark&next={quote(payload, safe='')}", ""
            yield f"/language?to={quote(payload, safe='')}&next={quote(payload, safe='')}", ""
            yield f"/login?next={quote(payload, safe='')}", ""
    yield "/", ""
    yield "/jobs", ""


def _look(page: Any, address: str, expected: str, findings: Findings) -> None:
    page.goto(address, wait_until="load")
    findings.pages += 1
    if expected and " ".join(expected.split()) in " ".join(page.locator("body").text_content().split()):
        findings.shown += 1
    box = page.locator("#q")
    if box.count() and findings.pages % 10 == 0:
        box.fill("gout")
        page.wait_for_timeout(200)
    kinds = page.locator("a").evaluate_all(_PROTOCOLS)
    findings.executed += [f"a link to {kind} at {page.url}" for kind in kinds if kind not in ("http:", "https:")]
    _judge(page, findings)


def _judge(page: Any, findings: Findings) -> None:
    ran, stopped = page.evaluate("[window.hacked ?? 0, window.stopped ?? []]")
    if ran:
        findings.executed.append(page.url)
    findings.violations += [f"{each} at {page.url}" for each in stopped]


def _save(page: Any, base: str, tried: Sequence[str], findings: Findings) -> None:
    """Searches kept under payloads as names, listed and beside the box."""
    for payload in tried[:40]:
        address = f"/?{urlencode({'q': payload, 'f.source': payload})}"
        page.context.request.post(f"{base}/saved", form={"name": payload[:100], "address": address})
    for path in ("/saved", "/"):
        _look(page, base + path, "", findings)


def _upload(page: Any, base: str, tried: Sequence[str], findings: Findings) -> None:
    """Files called by payloads, of which some cannot be read: the report names them."""
    page.goto(f"{base}/add")
    files = [
        {
            "name": f"{payload[:60]}{'.pdf' if number % 2 else '.md'}",
            "mimeType": "text/html",
            "buffer": b"# Gout\n\nHot.",
        }
        for number, payload in enumerate(tried[:40])
    ]
    page.locator("#files").set_input_files(files)
    _judge(page, findings)
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url("**/jobs/*")
    page.locator("#job:not([data-follow])").wait_for(timeout=120_000)
    findings.pages += 2
    _judge(page, findings)


def _note_elsewhere(findings: Findings, base: str, address: str) -> None:
    if not address.startswith((base, "about:")):
        findings.elsewhere.append(address[:200])


if __name__ == "__main__":
    from needs import Needs

    told = try_scripts(Needs().chromium(), int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    print(
        f"{told.payloads} payloads on {told.pages} pages, shown as text {told.shown} times; ran {len(told.executed)}, "
        f"stopped by the policy {len(told.violations)}, asked elsewhere {len(told.elsewhere)}"
    )
    for each in (*told.executed, *told.violations, *told.elsewhere):
        print(f"  {each}")
    sys.exit(not told.is_clean)

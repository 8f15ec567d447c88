"""Documentation that cannot rot: everything is described, links resolve, snippets run, citations exist."""

from __future__ import annotations

import importlib
import importlib.util
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

import auscult
from auscult.cli.all_commands import app
from auscult.encoders import SHIPPED
from auscult_lab.demo import LEAFLETS
from auscult_lab.modules.encoder_identity import KNOWN
from auscult_service.settings import Settings
from places import ROOT, SOURCES
from study.__main__ import app as study
from tutorials import follow

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
DOCS = sorted({*(ROOT / "docs").rglob("*.md")} - {ROOT / "docs" / "figures" / "README.md"})
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# In a pip command, or in an error that gives one.
_EXTRAS = re.compile(r"""(?:auscult\[|'\.\[|naming_extra\("|MissingExtraError\("\w+", ")([a-z,]+)""")
_KEY = re.compile(r"\b[a-z]{3,}(?:19|20)\d\d[a-z]?\b")


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generator", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["commands", "data", "experiment-files", "python"])
def test_generated_pages_are_up_to_date(generator: ModuleType, page: str) -> None:
    """Commands, data sets, fields of experiments and public names: the pages are made of them."""
    path = ROOT / "docs" / "reference" / f"{page}.md"
    assert path.read_text(encoding="utf-8") == generator.wrapped(generator.PAGES[path]()), "run: make docs"


def test_generated_pages_are_these(generator: ModuleType) -> None:
    assert {path.stem for path in generator.PAGES} == {"commands", "data", "experiment-files", "python"}


def test_results_are_up_to_date_with_the_records() -> None:
    arguments = ["results", str(ROOT / "benchmarks" / "results"), "--docs", str(ROOT / "docs"), "--check"]
    done = CliRunner().invoke(study, arguments)
    assert done.exit_code == 0, done.exception


def test_results_are_short_and_each_heading_stands_once() -> None:
    pages = [ROOT / "docs" / "results.md", *(ROOT / "docs" / "results").glob("*.md")]
    words = {page.name: len(page.read_text(encoding="utf-8").split()) for page in pages}
    assert not [page for page, count in words.items() if count > (900 if page == "results.md" else 1100)]
    assert sum(words.values()) <= 8000
    for page in pages:
        text = page.read_text(encoding="utf-8")
        headings = re.findall(r"^#+ .+$", text, re.MULTILINE)
        assert len(headings) == len(set(headings)), page.name


def test_what_known_encoders_read_is_said() -> None:
    page = (ROOT / "docs" / "explanation" / "evaluation.md").read_text(encoding="utf-8")
    for encoder in KNOWN.values():
        figures = re.findall(r"\d[\d,]*", encoder.learned_from)
        assert encoder.name in page
        assert figures
        assert all(figure in page for figure in figures)


def test_every_figure_is_shown_and_differs_from_others() -> None:
    shown = [
        link
        for page in DOCS
        for link in re.findall(r"(?<!study/)figures/([^)\s]+)\)", page.read_text(encoding="utf-8"))
    ]
    figures = sorted((ROOT / "docs" / "figures").glob("*.png"))
    assert {path.name for path in figures} == set(shown)
    assert len(figures) <= 16
    assert len({path.read_bytes() for path in figures}) == len(figures)


def test_every_command_and_option_says_what_it_is(generator: ModuleType) -> None:
    silent = [" ".join(path) for path, command in generator.commands() if not (command.help or "").strip()]
    silent += [
        f"{' '.join(path)}: {param.name}"
        for path, command in generator.commands()
        for param in command.params
        if not (param.help or "").strip()
    ]
    assert not silent


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """And without a page that its menu leaves out: MkDocs is strict."""
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path)], cwd=ROOT, check=True)
    assert (tmp_path / "how-to" / "read-your-documents.html").is_file()


def _prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    broken = []
    for link in _LINK.findall(_prose(page)):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in _anchors(path)):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("page", [ROOT / "README.md", *DOCS], ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_is_wrapped_at_120_columns(page: Path) -> None:
    """Tables, pictures and long links cannot be; result pages are written by `make results`."""
    if "Generated by `make results`" in page.read_text(encoding="utf-8"):
        return
    written = re.sub(r"<!-- generated: begin -->.*?<!-- generated: end -->", "", _prose(page), flags=re.DOTALL)
    lines = [line for line in written.splitlines() if not line.startswith(("|", "!["))]
    assert not [line for line in lines if len(line) > 120 and max(map(len, line.split())) < 80]


def test_every_page_can_be_found_from_the_readme() -> None:
    reachable, new = set(), {ROOT / "README.md"}
    while new:
        page = new.pop()
        reachable.add(page)
        links = {link.partition("#")[0] for link in _LINK.findall(_prose(page)) if "://" not in link}
        targets = {(page.parent / link).resolve() for link in links if link.endswith(".md")}
        new |= {target for target in targets if target.is_file()} - reachable
    assert set(DOCS) <= reachable


def test_named_files_exist() -> None:
    """Paths in code quotes, such as `tests/test_x.py` or `corpora/opening.py`."""
    missing = []
    for page in PAGES:
        for path in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|yaml|toml|cff|bib|md))`", _prose(page)):
            folders = (ROOT, ROOT / "docs", *(each for source in SOURCES for each in (source, *source.iterdir())))
            placeholder = "NAME" in path
            if not placeholder and not any((folder / path).exists() for folder in folders):
                missing.append(f"{page.name}: {path}")
    assert not missing


def test_cited_works_are_in_the_bibliography() -> None:
    bibliography = set(re.findall(r"^@\w+\{([^,]+),$", (ROOT / "references.bib").read_text(), re.MULTILINE))
    assert "arnold2020" in bibliography
    folders = ("src", "packages", "docs", "experiments", "benchmarks")
    files = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md", ".yaml"}
    ]
    unknown: dict[str, set[str]] = {}
    for path in [*files, *PAGES]:
        for key in set(_KEY.findall(path.read_text(encoding="utf-8"))) - bibliography:
            # "\u2019" in source is a character, not a work.
            unknown.setdefault(key, set()).add(path.name)
    assert not unknown


#: Fields whose names say it.
_PLAIN = {"accelerator", "batch_size", "devices", "dropout", "epochs", "learning_rate", "model", "weight_decay"}


def test_every_public_python_name_is_on_its_page() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    names = [name for name in auscult.__all__ if name != "__version__"]
    assert not [name for name in names if f"## auscult.{name}\n" not in page and f"`{name}`" not in page]


def test_every_field_of_an_experiment_is_described(generator: ModuleType) -> None:
    for family in generator.FAMILIES.values():
        fields = generator.fields_of(family)
        bare = {path for path, field in fields.items() if not (field.description or field.choices)}
        assert {path.rpartition(".")[2] for path in bare} <= _PLAIN, family


def test_every_ranker_is_documented() -> None:
    from auscult_lab.rankers.registry import RANKERS

    page = (ROOT / "docs" / "explanation" / "rankers.md").read_text(encoding="utf-8")
    assert not [name for name in RANKERS if f"`{name}`" not in page]


def test_every_experiment_and_shipped_model_is_documented() -> None:
    page = (ROOT / "docs" / "explanation" / "models.md").read_text(encoding="utf-8")
    assert not [path.name for path in (ROOT / "experiments").glob("*.yaml") if f"`{path.name}`" not in page]
    assert not [name for name in SHIPPED if f"| `{name}` |" not in page]


def _blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in _FENCE.findall(page.read_text(encoding="utf-8")) if kind == language]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents, to run snippets in."""
    shutil.copy(LEAFLETS, tmp_path / "documents.jsonl")
    (tmp_path / "my-folder").mkdir()
    shutil.copy(LEAFLETS, tmp_path / "my-folder" / "documents.jsonl")
    # With the data folder elsewhere, names are taken as words: a second instead of ten.
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readmes_figures_are_those_of_the_records() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "readme_table.py"))
    table = made["table"]()
    assert table.count("\n") > 4
    assert table in (ROOT / "README.md").read_text(encoding="utf-8"), "run: make docs"
    assert made["readme"]() == (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readmes_python_runs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = _blocks(ROOT / "README.md", "python")
    exec(compile(snippet, "README.md", "exec"), {})  # noqa: S102
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "Gout" in lines[0]


def test_the_python_page_runs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = _blocks(ROOT / "docs" / "reference" / "python.md", "python")
    exec(compile(snippet, "python.md", "exec"), {})  # noqa: S102
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("Gout Treatment 0.")


def test_the_readmes_commands_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Settings] = []
    # It would go on for ever; that it serves is tested in packages/auscult-service/tests.
    monkeypatch.setattr("auscult_service.cli.serve.serve_until_stopped", lambda settings, say: served.append(settings))
    blocks = "\n".join(_blocks(ROOT / "README.md", "console"))
    commands = [shlex.split(line)[2:] for line in blocks.splitlines() if line.startswith("$ auscult")]
    assert len(commands) >= 4
    for command in commands:
        arguments = command[: command.index("#")] if "#" in command else command
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, (arguments, result.output)
    assert (project / "gout.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert [folder.name for each in served for folder in each.indexes.values()] == ["my-index"]


@pytest.mark.parametrize("page", [page for page in HOW_TO if _blocks(page, "python")], ids=lambda page: page.stem)
def test_the_python_of_a_how_to_page_runs(page: Path, project: Path) -> None:
    for snippet in _blocks(page, "python"):
        exec(compile(snippet, page.name, "exec"), {})  # noqa: S102


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path) -> None:
    follow(page, tmp_path)


def test_tutorials_are_short() -> None:
    """What is read counts: programs to copy do not."""
    long = {page.name for page in TUTORIALS if len(_prose(page).split()) > 700}
    assert len(TUTORIALS) == 4
    assert not long


def test_commands_in_the_docs_exist(generator: ModuleType) -> None:
    """Every `auscult ...` in a console block names a command, and options that it has."""
    known = {path[1:]: command for path, command in generator.commands()}
    checked, wrong = 0, []
    for page in PAGES:
        lines = [line for block in _blocks(page, "console") for line in block.splitlines()]
        for line in lines:
            if not line.startswith("$ auscult "):
                continue
            words = shlex.split(line.partition(" # ")[0])[2:]
            words = words[2:] if words[0] == "--with" else words
            path = next(tuple(words[:length]) for length in (3, 2, 1) if tuple(words[:length]) in known)
            options = {option for param in known[path].params for option in (*param.opts, *param.secondary_opts)}
            wrong += [f"{page.name}: {line}" for word in words if word.startswith("-") and word not in options]
            checked += 1
    assert checked > 20
    assert not wrong


def test_extras_named_anywhere_exist() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    folders = (*SOURCES, ROOT / "benchmarks", ROOT / "examples")
    sources = [path for folder in folders for path in folder.rglob("*.py")]
    named = {
        (extra, path.name)
        for path in (*PAGES, *sources)
        for extras in _EXTRAS.findall(path.read_text(encoding="utf-8"))
        for extra in filter(None, extras.split(","))
    }
    assert len(named) > 10
    assert not [(extra, page) for extra, page in named if extra not in declared]


def test_the_readme_opens_with_two_commands() -> None:
    first = _blocks(ROOT / "README.md", "console")[0]
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["$ make demo", "$ make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:`|\$ )make ([a-z]+)", "".join(page.read_text(encoding="utf-8") for page in PAGES)):
        assert f"\n{target}:" in makefile, target


def test_functions_of_the_ways_through_the_code_exist() -> None:
    """What `architecture.md` says that data passes: a module and a function in it, or a class and its method."""
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## What happens when")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:[a-z_]+\.)+(?:[A-Z]\w+\.)?[a-z_]+)`", section.replace("documents.jsonl", ""))
    assert len(named) > 25
    lost = []
    for path in named:
        module, _, function = path.rpartition(".")
        module, _, owner = module.rpartition(".") if module.rpartition(".")[2][0].isupper() else (module, "", "")
        package = "auscult" if (ROOT / "src" / "auscult" / module.partition(".")[0]).exists() else "auscult_lab"
        found = importlib.import_module(f"{package}.{module}")
        if not callable(getattr(getattr(found, owner) if owner else found, function, None)):
            lost.append(path)
    assert not lost

"""The rules of docs/explanation/architecture.md that a program can check."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp
import pytest

from places import ROOT, SOURCES, TESTS

PACKAGES = ("auscult", "auscult_lab", "auscult_readers", "auscult_engines", "auscult_service")
FILES = sorted(path for source in SOURCES for path in source.rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# What is imported in more than one file, and where it may be; docs/reference/dependencies.md says why.
WIDE = {
    "numpy": ("",),
    "typer": ("auscult/cli/", "auscult_lab/cli/", "auscult_service/cli/"),
    "rich": (
        "auscult/cli/",
        "auscult/search/terminal.py",
        "auscult_lab/cli/",
        "auscult_lab/evaluation/graph_tables.py",
        "auscult_lab/evaluation/tables.py",
    ),
    "mmh3": ("auscult_lab/modules/word_vectors.py", "auscult_lab/cdv/spaces.py"),
    "pydantic": (
        "auscult/mcp/",
        "auscult_service/models.py",
        "auscult_service/routes/",
        "auscult_lab/training/experiment.py",
        "auscult_lab/training/experiment_files.py",
        "auscult_lab/cdv/experiment.py",
        "auscult_lab/rankers/experiment.py",
        "auscult_lab/encoders/experiment.py",
        "auscult_lab/general/experiment.py",
        "auscult_lab/masked/experiment.py",
        "auscult_lab/graphs/",
        "auscult_lab/workbench/folder.py",
        "auscult_lab/evaluation/records.py",
        "auscult_lab/evaluation/tracks.py",
    ),
    "anyio": ("auscult_service/", "auscult/mcp/stdio.py"),
    "mcp": ("auscult/mcp/",),
    "fastapi": ("auscult_service/",),
    "starlette": ("auscult_service/",),
    "striprtf": ("auscult_readers/rtf.py", "auscult_readers/source_words/texts.py"),
    "rapidfuzz": ("auscult/concepts/fuzzy.py", "auscult/catalogue.py"),
    "scipy": (
        "auscult_lab/scorers/lexical.py",
        "auscult_lab/evaluation/statistics.py",
        "auscult_lab/graphs/graph.py",
        "auscult_lab/fitting/fitting.py",
    ),
    "torch": ("auscult_lab/",),
    "safetensors": ("auscult/encoders/folder.py", "auscult_lab/modules/arrays.py"),
}
HEAVY = ("torch", "lightning", "transformers", "safetensors", "onnxruntime", "tokenizers", "matplotlib", "ir_measures")


# Parsed on first use, because each process of a test run imports this module.
@cache
def trees(folder: str = "") -> dict[Path, ast.Module]:
    paths = sorted((ROOT / folder).rglob("*.py")) if folder else FILES
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def module_of(path: Path) -> Path:
    """Where a file of a package is imported from: "auscult/errors.py"."""
    return path.relative_to(next(source for source in SOURCES if path.is_relative_to(source)))


def test_import_and_help_load_no_heavy_package() -> None:
    program = (
        "import sys, auscult, auscult.cli.main\n"
        "try: auscult.cli.main.main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print('LOADED', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "LOADED []" in done.stdout


def test_importing_auscult_prints_and_leaves_nothing() -> None:
    program = (
        "import os, logging\n"
        "before = dict(os.environ), list(logging.getLogger().handlers)\n"
        "import auscult\n"
        "assert before == (dict(os.environ), list(logging.getLogger().handlers))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


# Extra -> packages of it that are missing, and what is asked for then.
WITHOUT = {
    "lab": (["torch"], "from auscult.encoders import load_model; load_model('.')"),
    "ner": (["spacy"], "from auscult_lab.recognition import SpacyRecognizer; SpacyRecognizer('x')"),
    "gliner": (["gliner"], "from auscult_lab.recognition import GlinerRecognizer; GlinerRecognizer('x')"),
    "serve": (
        ["httptools"],
        "from pathlib import Path; import auscult_service.serving as s; "
        "s.open_current = lambda folder: open('model.json'); s.serve(s.Settings(indexes={'a': Path()}))",
    ),
    "mcp": (["mcp"], "from auscult.cli.main import main; main(['mcp', '.'])"),
    "plot": (["matplotlib"], "from auscult.drawing import blank_figure; blank_figure()"),
    "deidentify": (["presidio_analyzer"], "from auscult_readers.presidio import PresidioDeidentifier as P; P()"),
    "watch": (["watchfiles"], "from auscult.cli.add import changes as c, Path; next(c('.', Path()))"),
}


@pytest.mark.parametrize("extra", WITHOUT)
def test_missing_extra_is_named_and_the_rest_works(extra: str, tmp_path: Path) -> None:
    packages, deed = WITHOUT[extra]
    (tmp_path / "model.json").write_text('{"kind": "cdv"}')
    program = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({packages!r}))\n"
        "import auscult.cli.all_commands\n"
        "from auscult.errors import MissingExtraError\n"
        f"try:\n    {deed}\n"
        "except MissingExtraError as error: sys.exit(str(error))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    # What pip takes in a checkout: of the package's name it knows nothing there.
    assert f"; run: pip install -e '{ROOT}[{extra}]'" in done.stderr


@pytest.mark.parametrize(
    ("direct_url", "requirement"),
    [
        (None, "auscult[plot]"),
        ({"url": "file:///a/auscult.whl"}, "auscult[plot] @ file:///a/auscult.whl"),
        ({"url": "https://git.x/auscult", "vcs_info": {"vcs": "git"}}, "auscult[plot] @ git+https://git.x/auscult"),
    ],
)
def test_extras_install_from_the_source_of_auscult(
    direct_url: dict[str, object] | None, requirement: str, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "src" / "auscult" / "errors.py", tmp_path)
    described = tmp_path / "auscult-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: auscult\nVersion: 1\n")
    if direct_url is not None:
        (described / "direct_url.json").write_text(json.dumps(direct_url))
    program = "import errors; print(errors.MissingExtraError('matplotlib', 'plot').remedy)"
    clean = {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=clean, capture_output=True, text=True, check=True)
    assert done.stdout == f"run: pip install '{requirement}'\n"


def test_imports_go_down() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_modules_import_each_other_in_circles() -> None:
    """Neither for types alone: what needs each other is one thing."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    # Raises an error that names the modules of a circle.
    TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()


def _imports(tree: ast.AST) -> Iterator[str]:
    """Top-level packages that really are imported: not those of `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]
        yield from _imports(node)


def _third_party() -> dict[str, set[str]]:
    """Package -> files that import it, relative to their source folder."""
    importers: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees().items():
        for name in _imports(tree):
            if name not in sys.stdlib_module_names and name not in PACKAGES:
                importers[name].add(module_of(path).as_posix())
    return importers


def test_each_package_is_imported_in_one_place() -> None:
    packages = _third_party()
    assert packages.keys() > WIDE.keys()
    for package, files in packages.items():
        if package in WIDE:
            strays = {file for file in files if not file.startswith(WIDE[package])}
            assert not strays, f"{package} is imported in {strays}"
        else:
            assert len(files) == 1, f"{package} is imported in {files}"


def _declared(requirements: list[str]) -> set[str]:
    names = {requirement.partition(">=")[0].partition("[")[0] for requirement in requirements}
    return {name.lower().replace("_", "-") for name in names} - {"auscult"}


def test_imports_and_declared_dependencies_agree() -> None:
    extras = PROJECT["optional-dependencies"]
    optional = set().union(
        *(
            _declared(requirements)
            for extra, requirements in extras.items()
            if extra not in ("all", "benchmarks", "dev", "release")
        )
    )
    declared = _declared(PROJECT["dependencies"]) | optional
    owners = packages_distributions()
    used = {name: {each.lower().replace("_", "-") for each in owners.get(name, [name])} for name in _third_party()}
    undeclared = {name for name, distributions in used.items() if not distributions & declared}
    # Opened where a user has it; asking for it would pin an older spaCy and NumPy.
    assert undeclared <= {"medspacy"}
    unused = declared - set().union(*used.values())
    assert not unused


def test_every_dependency_is_explained() -> None:
    page = (ROOT / "docs" / "reference" / "dependencies.md").read_text(encoding="utf-8")
    declared = _declared(PROJECT["dependencies"])
    for requirements in PROJECT["optional-dependencies"].values():
        declared |= _declared(requirements)
    missing = {name for name in declared if name not in page.lower()}
    assert not missing


def test_package_does_not_depend_on_the_study() -> None:
    """`study/` writes the pages of results from a checkout; it is in no wheel."""
    assert not [path for path, tree in trees().items() if "study" in set(_imports(tree))]
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [
            "src/auscult",
            "src/auscult_lab",
            "packages/auscult-readers/src/auscult_readers",
            "packages/auscult-engines/src/auscult_engines",
            "packages/auscult-service/src/auscult_service",
        ]


def test_there_is_no_drawer() -> None:
    drawers = {"util", "utils", "utilities", "common", "helpers", "core", "misc"}
    assert not [path for path in FILES if drawers & {path.stem, *module_of(path).parts}]


def test_user_errors_are_not_assertions() -> None:
    asserts = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
    ]
    assert not asserts


def test_nothing_is_done_at_import() -> None:
    """A module's top level holds definitions: no loops, no bare calls but for making the command line."""
    allowed = ("app.", "app =")
    deeds = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in trees().items()
        for node in tree.body
        if isinstance(node, ast.For | ast.While | ast.With)
        or (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and not ast.unparse(node).startswith(allowed)
        )
    ]
    assert not deeds


def test_every_module_says_what_it_is() -> None:
    silent = [path.relative_to(ROOT) for path, tree in trees().items() if len(ast.get_docstring(tree) or "") < 10]
    assert not silent


def test_names_of_tests_have_at_most_eight_words() -> None:
    """Names are read as a list of what the software promises; the word `test` does not count."""
    long = [
        f"{path.relative_to(ROOT).as_posix()}::{node.name}"
        for path in sorted((*TESTS.rglob("test_*.py"), *(ROOT / "packages").rglob("test_*.py")))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if len(node.name.removeprefix("test_").split("_")) > 8
    ]
    assert not long


def test_files_are_moved_in_one_place() -> None:
    """What is written is put in place by `files.writing`; an index has a durable way of its own."""
    moves = [
        f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"
        for path, tree in (trees() | trees("study") | trees("benchmarks")).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _moves(node, node.func)
    ]
    allowed = {"src/auscult/files/writing.py", "src/auscult/index/storage.py"}
    assert {move.partition(":")[0] for move in moves} == allowed, moves


def _moves(call: ast.Call, method: ast.Attribute) -> bool:
    """Whether a call moves a file: of os or shutil, or of a path, which takes one argument where a string takes two."""
    if isinstance(method.value, ast.Name) and method.value.id in ("os", "shutil"):
        return method.attr in ("replace", "rename", "renames", "move")
    return method.attr in ("replace", "rename") and len(call.args) == 1 and not call.keywords

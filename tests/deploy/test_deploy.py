"""What containers are told agrees with what there is; no engine is needed to see that."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from auscult.cli.application import application
from auscult.engines import is_address
from auscult_service.app import create_app
from auscult_service.settings import ServiceLimits, Settings
from places import ROOT

DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SEARCHERS: dict[str, Any] = yaml.safe_load((DEPLOY / "searchers.compose.yaml").read_text(encoding="utf-8"))
KUBERNETES = [
    [*yaml.safe_load_all(path.read_text(encoding="utf-8"))] for path in sorted(DEPLOY.glob("*kubernetes.yaml"))
]
PORT = Settings(indexes={"x": Path("x")}).port


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile, with lines that go on joined."""
    joined = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", DOCKERFILE))
    pairs = (line.strip().partition(" ") for line in joined.splitlines() if line.strip())
    return [(name, rest.strip()) for name, _, rest in pairs]


def addresses() -> set[str]:
    return set(create_app(Settings(indexes={"x": Path("x")}, page=False)).openapi()["paths"])


def check_command(arguments: list[str]) -> None:
    """That the command line takes a command and its options."""
    command = get_command(application([arguments[0]])).commands[arguments[0]]  # type: ignore[attr-defined]
    command.make_context(arguments[0], arguments[1:])


def of(name: str) -> list[str]:
    return [rest for each, rest in instructions() if each == name]


def test_the_image_runs_an_existing_command() -> None:
    (entry,), (command,) = of("ENTRYPOINT"), of("CMD")
    assert yaml.safe_load(entry) == ["auscult"]
    arguments = yaml.safe_load(command)
    check_command(arguments)
    assert arguments[arguments.index("--host") + 1] == "0.0.0.0"  # noqa: S104
    assert "--keys" in arguments
    assert of("EXPOSE") == [str(PORT)]
    assert "--require-hashes -r locks/container.txt" in DOCKERFILE


def test_the_image_is_minimal_and_runs_without_root() -> None:
    names = [name for name, _ in instructions()]
    assert "ADD" not in names
    bases = of("FROM")
    assert all(":" in base and "latest" not in base for base in bases)
    assert len(bases) == 2
    user = of("USER")[-1]
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    assert names.index("USER") < names.index("ENTRYPOINT")
    for copied in of("COPY"):
        sources = [each for each in shlex.split(copied)[:-1] if not each.startswith("--")]
        if "--from=" not in copied:
            assert all((ROOT / each).exists() for each in sources), copied
    assert not re.search(r"(?i)password|secret|token", " ".join(rest for _, rest in instructions()))
    assert of("STOPSIGNAL") == ["SIGTERM"]


def test_the_health_check_uses_an_existing_route() -> None:
    (check,) = of("HEALTHCHECK")
    path = re.search(rf"http://127\.0\.0\.1:{PORT}(/[\w/]+)", check)
    assert path
    assert path.group(1) in addresses()


@pytest.mark.parametrize("service", [COMPOSE["services"]["auscult"], SEARCHERS["services"]["searcher"]])
def test_the_compositions_give_no_more_than_is_needed(service: dict[str, Any]) -> None:
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert any(each.startswith("/tmp") for each in service["tmpfs"])  # noqa: S108
    assert (ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert service["secrets"][0]["source"] in COMPOSE["secrets"].keys() & SEARCHERS["secrets"].keys()
    assert service["secrets"][0]["target"] in of("CMD")[0]
    assert int(service["stop_grace_period"].rstrip("s")) > ServiceLimits().seconds


def test_ports_are_this_machine_s_alone() -> None:
    published = [each.get("ports", []) for composed in (COMPOSE, SEARCHERS) for each in composed["services"].values()]
    assert sorted(filter(None, published)) == [["127.0.0.1:5432:5432"], *[[f"127.0.0.1:{PORT}:{PORT}"]] * 2]


def test_searchers_stand_behind_one_address() -> None:
    searcher, balancer = SEARCHERS["services"]["searcher"], SEARCHERS["services"]["balancer"]
    check_command(searcher["command"])
    assert is_address(searcher["command"][1])
    assert searcher["command"][1].split("@")[1].partition("/")[0] in SEARCHERS["services"]
    assert searcher["deploy"]["replicas"] == 3
    assert balancer["command"][-1] == f"searcher:{PORT}"
    assert "\npsycopg-binary==" in (ROOT / "locks" / "container.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("manifests", KUBERNETES, ids=["one", "searchers"])
def test_the_cluster_runs_it_probed_limited_and_unprivileged(manifests: list[dict[str, Any]]) -> None:
    deployment, service = manifests
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    check_command(container["args"])
    assert container["ports"] == [{"name": "http", "containerPort": PORT}]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in addresses()
        assert container[probe]["httpGet"]["port"] == "http"
    assert container["livenessProbe"]["httpGet"]["path"].endswith("/health")
    assert container["resources"]["limits"].keys() == {"cpu", "memory"}
    rights = container["securityContext"]
    assert (rights["allowPrivilegeEscalation"], rights["readOnlyRootFilesystem"]) == (False, True)
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert (pod["securityContext"]["runAsNonRoot"], pod["automountServiceAccountToken"]) == (True, False)
    assert str(pod["securityContext"]["runAsUser"]) == of("USER")[-1].partition(":")[0]
    assert pod["terminationGracePeriodSeconds"] > ServiceLimits().seconds
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert mounted.keys() == {each["name"] for each in pod["volumes"]}
    for option in {"--keys", "--audit", "--data"}.intersection(container["args"]):
        path = container["args"][container["args"].index(option) + 1]
        assert any(path.startswith(place + "/") for place in mounted.values())
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert service["spec"]["selector"].items() <= labels.items()
    assert service["spec"]["ports"][0]["targetPort"] == "http"


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("*.yaml")), ids=lambda path: path.name)
def test_commands_in_comments_are_there(path: Path) -> None:
    for command in re.findall(r"(?m)^#\s+auscult (\w+)", path.read_text(encoding="utf-8")):
        assert command in get_command(application()).commands  # type: ignore[attr-defined]

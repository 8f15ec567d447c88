"""Prepare a workbench's folder, with data and a plan, from a user's files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from auscult.errors import ConfigError
from auscult_lab.opening import load_scorer
from auscult_lab.workbench.checking import check
from auscult_lab.workbench.experiments import check_sources, open_experiments
from auscult_lab.workbench.folder import Description, WorkFolder, count, digest_of, write_beir
from auscult_lab.workbench.plan import Proposal, Wishes, choose_protocol, propose
from auscult_lab.workbench.reading import read_user_data
from auscult_lab.workbench.recipes import RECIPES, check_given, experiment_file, open_given, write_experiment
from auscult_lab.workbench.splitting import divide
from auscult_lab.workbench.userdata import Findings, UserData


@dataclass(frozen=True, slots=True)
class Prepared:
    """A folder that is ready to run.

    Attributes:
        description: Description of the data and of the comparison.
        proposals: Every model that could be tried, chosen or not.
    """

    description: Description
    proposals: tuple[Proposal, ...]

    @property
    def trained(self) -> frozenset[str]:
        """Names of the experiments that the plan chooses."""
        return frozenset(each.name for each in self.proposals if each.chosen and each.trained)


def prepare(mydata: Path, work: WorkFolder, wishes: Wishes, *, title: str = "") -> Prepared:
    """Read, check and divide the data, unless an earlier call did; plan, and write experiment files.

    Args:
        mydata: The user's folder or file.
        work: Folder of the workbench.
        wishes: The user's options for the plan.
        title: Title of the data on the page; by default the name of the files.

    Raises:
        CorpusMissingError: There is nothing to read.
        UnusableDataError: The data has faults, all of which are in the error.
        ConfigError: The folder is that of another data set. Or an experiment in it is wrong, its data is missing, or it
            has another encoder or graph than the options. Or an option cannot be followed.
        ModelError: An encoder or a graph that is given, or that an experiment names, cannot be opened.
        DataError: The folder cannot be written to.
    """
    digest = digest_of(mydata)
    data: UserData | None = None
    if work.described.is_file():
        description = _read_description(mydata, work, digest, title)
    else:
        data, description = _read_data(mydata, work, digest, title, wishes.minutes)
    written = {experiment.name: experiment for experiment in open_experiments(work.experiments)}
    recipes = {recipe.name: recipe for recipe in RECIPES}
    proposals = tuple(propose(description, wishes, [name for name in written if name not in recipes]))
    chosen = [proposal for proposal in proposals if proposal.chosen]
    trained = [proposal.name for proposal in chosen if proposal.trained]
    new = [recipes[name] for name in trained if name not in written]
    own = [written[name] for name in trained if name in written]
    for recipe in new:
        experiment_file(recipe, work)
    for experiment in own:
        if experiment.name in recipes:
            check_given(recipes[experiment.name], experiment, backbone=wishes.backbone, graph=wishes.graph)
        check_sources(experiment, str(work.data(description.name)), description.parts)
    named = [experiment.given for experiment in own]
    open_given([{"backbone": wishes.backbone, "graph": wishes.graph}, *named])
    for proposal in chosen:
        if proposal.name == "backbone":
            load_scorer(proposal.model)
    # Only after all checks, because a later call would continue with the files of a failed one.
    if data is not None:
        # Replace files of an interrupted earlier call.
        work.entities.unlink(missing_ok=True)
        write_beir(data, work.data(data.name))
        work.write_entities(data.questions)
    for recipe in new:
        write_experiment(recipe, work, description, backbone=wishes.backbone, graph=wishes.graph)
    untrained = [proposal.model for proposal in chosen if not proposal.trained]
    description = replace(description, untrained=untrained)
    work.describe(description)
    return Prepared(description, proposals)


def _read_description(mydata: Path, work: WorkFolder, digest: str, title: str) -> Description:
    """Return the description of the data by an earlier call."""
    description = work.description()
    if description.digest != digest:
        remedy = "choose another --out for the changed data"
        raise ConfigError(f"the data that {work.root} was made of", f"other files in {mydata}", remedy)
    return replace(description, title=title or description.title)


def _read_data(mydata: Path, work: WorkFolder, digest: str, title: str, minutes: float) -> tuple[UserData, Description]:
    """Read, check and divide the data, and describe it."""
    findings = Findings()
    data = read_user_data(mydata, findings)
    checked = check(data, findings)
    if not findings.faults:
        checked = divide(checked, findings)
    findings.raise_faults()
    if mydata.resolve() == work.data(data.name):
        # It would be overwritten.
        raise ConfigError("data apart from the workbench's own copy", f"{mydata}", "choose another --out")
    words = sum(len(passage.text.split()) for passage in checked.passages) / len(checked.passages)
    description = Description(
        title=title or data.name,
        name=data.name,
        digest=digest,
        counts=count(checked),
        words=round(words, 1),
        warnings=findings.warnings,
    )
    return checked, replace(description, protocol=choose_protocol(description, minutes))

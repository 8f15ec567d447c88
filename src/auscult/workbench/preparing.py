"""From a user's files to a workbench's folder with data and a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from auscult.errors import ConfigError
from auscult.workbench.checking import check
from auscult.workbench.experiments import open_experiments
from auscult.workbench.faults import Findings
from auscult.workbench.folder import Description, WorkFolder, count, digest_of, write_beir
from auscult.workbench.plan import Proposal, Wishes, propose, ranked_how
from auscult.workbench.reading import read_user_data
from auscult.workbench.recipes import RECIPES, check_given, open_given, write_experiment
from auscult.workbench.splitting import divide


@dataclass(frozen=True, slots=True)
class Prepared:
    """A folder that is ready to run.

    Attributes:
        description: Of the data and of what is compared.
        proposals: Every model that could be tried, chosen or not.
        fresh: Whether the data was read now, and not by an earlier call.
    """

    description: Description
    proposals: tuple[Proposal, ...]
    fresh: bool

    @property
    def trained(self) -> frozenset[str]:
        """Names of the experiments that the plan chooses."""
        return frozenset(each.name for each in self.proposals if each.chosen and each.trained)


def prepare(mydata: Path, work: WorkFolder, wishes: Wishes, *, title: str = "") -> Prepared:
    """Read, check and divide the data, unless an earlier call did; plan, and write experiment files.

    Args:
        mydata: Folder or file of the user's.
        work: Where everything goes.
        wishes: What the user says of the plan.
        title: What the page calls the data; the name of the files when empty.

    Raises:
        CorpusMissingError: There is nothing to read.
        UnusableDataError: The data has faults; it holds all of them.
        ConfigError: The folder is another data set's, an experiment in it is wrong or of another encoder or graph than
            is given, or a wish cannot be granted.
        ModelError: The given encoder or graph cannot be opened.
    """
    digest = digest_of(mydata)
    fresh = not work.described.is_file()
    if fresh:
        description = _take_in(mydata, work, digest, title, wishes.minutes)
    else:
        description = work.description()
        if description.digest != digest:
            remedy = "choose another --out for the changed data"
            raise ConfigError(f"the data that {work.root} was made of", f"other files in {mydata}", remedy)
        description = replace(description, title=title or description.title)
    kept = {each.name: each for each in open_experiments(work.experiments)}
    recipes = {recipe.name: recipe for recipe in RECIPES}
    proposals = tuple(propose(description, wishes, [name for name in kept if name not in recipes]))
    chosen = [recipes[each.name] for each in proposals if each.chosen and each.name in recipes]
    new = [recipe for recipe in chosen if recipe.name not in kept]
    for recipe in chosen:
        if recipe.name in kept:
            check_given(recipe, kept[recipe.name], backbone=wishes.backbone, graph=wishes.graph)
    open_given(new, backbone=wishes.backbone, graph=wishes.graph)
    for recipe in new:
        write_experiment(recipe, work, description, backbone=wishes.backbone, graph=wishes.graph)
    untrained = [each.model for each in proposals if each.chosen and not each.trained]
    description = replace(description, untrained=untrained)
    work.describe(description)
    return Prepared(description, proposals, fresh)


def _take_in(mydata: Path, work: WorkFolder, digest: str, title: str, minutes: float) -> Description:
    findings = Findings()
    data = read_user_data(mydata, findings)
    checked = check(data, findings)
    if not findings.faults:
        checked = divide(checked, findings)
    findings.insist()
    write_beir(checked, work.data(data.name))
    work.write_entities(checked.questions)
    words = sum(len(passage.text.split()) for passage in checked.passages) / len(checked.passages)
    description = Description(
        title=title or data.name,
        name=data.name,
        digest=digest,
        counts=count(checked),
        words=round(words, 1),
        warnings=findings.warnings,
    )
    return replace(description, protocol=ranked_how(description, minutes))


__all__ = ["Prepared", "prepare"]

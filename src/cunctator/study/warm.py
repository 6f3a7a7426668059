"""A warm start: a new study tries first what an earlier one liked.

A study goes on to the letter or not at all, since its choices are made again from its journal. When
another version chooses otherwise, or the instances have changed, what is left of it is knowledge:
the configurations that were its answer at some time. A new study gets them as `[[initial]]`, after
the user's own. They are not random draws, and nothing that was measured of them counts as evidence,
so what is certified means the same as without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path

from cunctator.base.errors import CunctatorError, InvalidKey
from cunctator.base.notices import log
from cunctator.scenario import Scenario
from cunctator.space.parameters import Value
from cunctator.space.space import Space
from cunctator.study.folder import COPY, scenario_of
from cunctator.study.journal.journal import FILE, Journal, open_journal

MOST = 5
"""Configurations that are taken over: each costs runs, and the last answers are the best."""

Settings = Mapping[str, Value]


def folder_of_copy(path: Path) -> Path | None:
    """Where the paths in a study's own copy of its scenario begin; None: this is no such copy."""
    if path.name != COPY or not (path.parent / FILE).is_file():
        return None
    with closing(open_journal(path.parent, writing=False)) as journal:
        return Path(journal.fact("folder") or path.parent)


def warm_configurations(scenario: Scenario, directory: Path) -> list[Settings]:
    """What a study liked, the last first, as far as it fits a scenario and is not in it already."""
    space = scenario.space
    taken: list[Settings] = [space.configuration(number) for number in range(space.fixed)]
    for number, settings in islice(_liked(directory), MOST):
        try:
            fitting = space.checked(settings)
        except InvalidKey as error:
            why = f"{error.key[-1]}: {error.problem}"
            log.warning("%s: configuration %d is left out: %s", directory, number, why)
            continue
        if fitting not in taken:
            taken.append(fitting)
    return taken[space.fixed : scenario.configurations]  # a fixed pool has room for so many


def _liked(directory: Path) -> Iterator[tuple[int, Settings]]:
    """The answers of a study, by number, the last first and each once; the default is none."""
    with closing(open_journal(directory, writing=False)) as journal:
        looks = [look.incumbent for look in journal.progress() if look.incumbent is not None]
        written: dict[int, Settings] = {one.index: one.configuration for one in looks}
        changes = [change.configuration for change in journal.changes()]
        numbers = [*(changes or written), *(one.index for one in looks[-1:])]
        space = _space_as_it_was(directory, journal, written)
    for number in dict.fromkeys(reversed(numbers)):
        if number != 0 and number in written:
            yield number, written[number]
        elif number != 0 and space is not None:
            yield number, space.configuration(number)


def _space_as_it_was(
    directory: Path, journal: Journal, written: Mapping[int, Settings]
) -> Space | None:
    """The space of a study, if its configurations have the numbers that they had.

    Most answers are written down whole when people look, but not all. Which ones the numbers of
    the rest mean depends on the scenario, and on this version.
    """
    try:
        space = scenario_of(directory, journal).space
        is_same = all(space.configuration(number) == one for number, one in written.items())
    except CunctatorError:
        return None
    return space if is_same else None

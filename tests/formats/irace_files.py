"""What the tests of irace's files share: writing them, and asking what was read."""

from __future__ import annotations

from pathlib import Path

from cunctator.formats.imported import ImportedSpace
from cunctator.formats.irace import read_irace_parameters
from cunctator.scenario.commands import make_command
from cunctator.scenario.models import TargetTable
from cunctator.space.parameters import Value
from cunctator.space.space import Space
from cunctator.target.command import Command
from tests.formats import irace_checker

EXAMPLE = """
# name       label             type  domain               condition
algorithm    "--"              c     (as, mmas, eas, "ras", acs)
search       "--localsearch "  o     (0, 1, 2, 3)
alpha        "--alpha "        r     (0.00, 5.00)
rho          "--rho="          r,log (0.01, 1.00)
ants         "--ants "         i,log (5, 100)        # the colony
q0           "--q0 "           r     (0.0, 1.0)           | algorithm == "acs"
rank         "--rank "         i     (1, "min(ants, 10)") | algorithm %in% c("ras", "eas")
elite        "--elite "        i     (rank, ants*2)       | !(algorithm == "eas")
nearest      "--nn "           i     (5, 50)              | search %in% c(1, 2, 3)
queue        ""                c     ("", "--queue")      | search != 0 & (q0 > 0.5 | ants < 50)
shape        "--shape "        r     (-alpha, alpha + 1) | as.numeric(search) >= 2 || ants %% 2 == 0
[forbidden]
(alpha == 0.0) & (search == "0")
ants > 90 & algorithm %in% c("as", "mmas")
[global]
digits = 4
"""


def write(folder: Path, text: str, name: str = "parameters.txt") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str) -> ImportedSpace:
    return read_irace_parameters(write(folder, text))


def space_of(imported: ImportedSpace, seed: int = 0) -> Space:
    return Space(imported.parameters, seed, imported.forbidden)


def all_of(imported: ImportedSpace) -> list[dict[str, Value]]:
    space = space_of(imported)
    assert space.size is not None
    return [space.configuration(number) for number in range(space.size)]


def check_samples(path: Path, count: int = 1000) -> None:
    space = space_of(read_irace_parameters(path))
    checker = irace_checker.read(path)
    for number in range(count):
        configuration = space.configuration(number)
        assert checker.complaints(configuration) == [], configuration


def command_of(imported: ImportedSpace) -> Command:
    target = TargetTable(command=["./runner"], protocol="irace")
    return make_command(
        target, imported.parameters, imported.formats, objective="cpu", has_cutoff=False
    )

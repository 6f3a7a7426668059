"""Damages files of all kinds at random and imports them: there is a result, or one clear error.

    python tests/formats/fuzz.py MINUTES [SEED]

Files of our own and, where there are any, the real ones of the data folder. What is found is
printed with the text that does it. `test_fuzz.py` does the same some thousands of times.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cunctator.base.errors import CunctatorError
from cunctator.formats.imported import ImportedScenario
from cunctator.formats.importing import import_file, kind_of, moved, summary, text_of_import

LONGEST = 10.0
"""Seconds that an import may take, on a machine that does other things as well."""

BATCH = 1000
"""Files between two looks at the clock."""

LARGEST = 60_000
"""Characters of a real file that is used: damaging larger ones finds the same more slowly."""

OWN = {
    "new.pcs": """
        mode categorical {fast, slow, other} [fast]
        level ordinal {low, middle, high} [low]
        steps integer [1, 100] [10] log
        rate real [0.001, 1] [0.5] log
        depth integer [-3, 9] [3]
        steps | mode in {slow, other} && level > low
        rate | depth > 3 || mode == fast
        {mode=slow, depth=9}
        {steps * 2 > depth + 50}
    """,
    "old.pcs": """
        mode {fast, slow} [fast] # which
        steps [1, 100] [10]il
        rate [0.1, 9] [3]l
        depth[1,9][3]i
        Conditionals:
        depth | mode in {slow}
        depth | steps in {10}
        Forbidden:
        {mode=slow, depth=9}
    """,
    "parameters.txt": """
        mode  "--mode="  c     (fast, slow, "a b")
        ants  "--ants "  i,log (5, 100)
        rho   "--rho "   r     (0.01, 1.0)        | mode == "fast" & ants %in% c(5, 6)
        most  "--most="  i     ("ants", "min(ants * 2, 300)")
        step  ""         o     (1, 2, 4)          | !(mode == "slow") | rho > 0.5
        [forbidden]
        ants > 90 & mode == "slow"
        [global]
        digits = 4
    """,
    "smac.txt": """
        algo = ./wrapper --flag
        execdir = .
        deterministic = 0
        run_obj = RUNTIME
        cutoff_time = 1.5
        wallclock-limit = 90
        paramfile = new.pcs
        instance_file = train.txt
        test_instance_file = train.txt
    """,
    "irace.txt": """
        parameterFile = "./parameters.txt"
        trainInstancesDir = "./cnf"
        targetRunner <- "./wrapper"
        maxTime = 3600
        boundMax = 60
        forbiddenFile = ""
        testInstancesDir = "./cnf"
        digits = 4 # of reals
    """,
    "space.json": """
        {"name": "space", "hyperparameters": [
         {"type": "categorical", "name": "mode", "choices": ["fast", "slow"],
          "default_value": "fast", "weights": null},
         {"type": "uniform_int", "name": "steps", "lower": 1, "upper": 100, "log": true,
          "default_value": 10},
         {"type": "uniform_float", "name": "rate", "lower": 0.1, "upper": 2.5, "log": false,
          "default_value": 0.5},
         {"type": "ordinal", "name": "level", "sequence": ["a", "b"], "default_value": "a"},
         {"type": "constant", "name": "seed", "value": 5}],
         "conditions": [
         {"child": "rate", "parent": "mode", "type": "EQ", "value": "slow"},
         {"type": "AND", "child": "level", "conditions": [
          {"child": "level", "parent": "steps", "type": "GT", "value": 3},
          {"child": "level", "parent": "mode", "type": "IN", "values": ["fast"]}]}],
         "forbiddens": [{"type": "AND", "clauses": [
          {"type": "EQUALS", "name": "mode", "value": "slow"},
          {"type": "IN", "name": "steps", "values": [1, 2]}]}],
         "python_module_version": "1.2.1", "format_version": 0.4}
    """,
    "space.yaml": """
        name: space
        hyperparameters:
        - {type: categorical, name: mode, choices: [fast, slow], default_value: fast}
        - {type: uniform_int, name: steps, lower: 1, upper: 100, log: true, default_value: 10}
        conditions:
        - {child: steps, parent: mode, type: EQ, value: slow}
        forbiddens: []
    """,
}
WORDS = [
    *"=,{}[]()|&!<>#'\"\\\n\t\r\0`~$;:*%^+-./",
    *("é", "\u2028", "\ufeff", "\x1b[2J", "\ud800", "NA", "nan", "inf", "1e999", "-0", "1e-320"),
    *("99999999999999999999", "-1", "0", "0.5", "{{", "}}", "&&", "||", "==", "!=", "%in%", "c("),
    *("in", "log", "NULL", "TRUE", "null", "true", "../..", "/", "categorical", "r,log", "i", "o"),
]
WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


def real_files() -> Iterator[tuple[str, str]]:
    """Other people's, with their names."""
    named = os.environ.get("CUNCTATOR_DATA")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    for part in ("pcs", "irace", "aclib"):
        for path in sorted((folder / part).rglob("*")):
            if path.suffix in {".pcs", ".txt"} and path.is_file():
                text = path.read_text(encoding="utf-8", errors="replace")
                if len(text) <= LARGEST:
                    yield path.name, text


def damaged(text: str, other: str, chance: random.Random) -> str:
    """A text after something has happened to it, mostly once."""
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        lines = text.splitlines(keepends=True) or [""]
        place = chance.randrange(len(lines))
        words = WORD.findall(lines[place]) or [""]
        word = chance.randrange(len(words))
        match chance.randrange(8):
            case 0:
                words = []
            case 1:
                words.append(chance.choice(lines))
            case 2:
                words.append(chance.choice(other.splitlines(keepends=True) or [""]))
            case 3:
                words[word] = chance.choice(WORDS)
            case 4:
                words[word] = chance.choice(WORD.findall(chance.choice(lines)) or [""])
            case 5:
                del words[word]
            case 6:
                words.insert(word, chance.choice(WORDS))
            case 7:
                words[word] = words[word][:1] * chance.choice((2, 40, 3000))
        lines[place] = "".join(words)
        text = "".join(lines)
    return text[: chance.randrange(len(text) + 1)] if chance.random() < 0.05 else text


def put_out(folder: Path) -> None:
    """The files that those in `OWN` speak of, and they themselves."""
    (folder / "cnf").mkdir(exist_ok=True)
    for name in ("a.cnf", "b.cnf"):
        (folder / "cnf" / name).write_text("p cnf 0 0\n")
    (folder / "train.txt").write_text("cnf/a.cnf\ncnf/b.cnf\n")
    (folder / "wrapper").write_text("")
    for name, text in OWN.items():
        (folder / name).write_text(text)


def outcome(path: Path, elsewhere: Path) -> str:
    """Import a file as the command does; which kind of an end it came to."""
    try:
        kind = kind_of(path)
        imported = import_file(path)
        if isinstance(imported, ImportedScenario):
            imported = moved(imported, path.parent, elsewhere)
        text_of_import(imported, path, kind)
        assert all(line.isprintable() for line in summary(imported, kind))
    except CunctatorError as error:
        assert "\n" not in str(error), "more than one line"
        return "refused"
    return "imported"


def fuzz(times: int, chance: random.Random, folder: Path) -> Counter[str]:
    """Damage and import so many files; the number of each outcome, of problems by their text."""
    ends = Counter[str]()
    seeds = [*OWN.items(), *real_files()]
    put_out(folder)
    for _ in range(times):
        name, text = chance.choice(seeds)
        text = damaged(text, chance.choice(seeds)[1], chance)
        path = folder / f"damaged-{name}"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        started = time.process_time()
        try:
            ends[outcome(path, folder.parent)] += 1
            assert time.process_time() - started < LONGEST, "too slow"
        except Exception:
            where = traceback.format_exc().strip().splitlines()
            print(f"--- {name}\n{text}\n--- {where[-1]}\n" + "\n".join(where[-9:-1]), flush=True)
            ends[f"problem: {name}: {where[-1]}"] += 1
    return ends


def main() -> None:
    """Fuzz for some minutes, and say what came of it."""
    minutes = float(sys.argv[1])
    chance, ends = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0), Counter[str]()
    until = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(KeyboardInterrupt):
        while time.monotonic() < until:
            ends += fuzz(BATCH, chance, Path(folder))
        for end, count in ends.most_common():
            print(f"{count:8,} {end}")
        sys.exit(1 if any(end.startswith("problem") for end in ends) else 0)


if __name__ == "__main__":
    main()

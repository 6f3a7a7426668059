from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from cunctator.base.errors import GeneratorFailed, InvalidScenario, InvalidSetting, MissingInstance
from cunctator.scenario import load_scenario
from cunctator.target.instances import LARGEST_SEED, Generator, Instances, endless_pair, shuffled
from cunctator.target.template import parse_item


def test_a_finite_set_comes_up_whole_and_in_the_same_order():
    order = shuffled(100, seed=3)
    assert sorted(order) == list(range(100))
    np.testing.assert_array_equal(order, shuffled(100, seed=3))
    assert list(order) != list(shuffled(100, seed=4))


def test_the_endless_stream_is_a_function_of_seed_and_position():
    pairs = [endless_pair(10, 5, position) for position in range(2000)]
    assert pairs[1234] == endless_pair(10, 5, 1234)
    assert pairs[:50] != [endless_pair(10, 6, position) for position in range(50)]
    counts = np.bincount([instance for instance, _ in pairs], minlength=10)
    # 2,000 draws, 200 expected of each: five standard deviations of a binomial are 67.
    assert (abs(counts - 200) < 67).all()
    seeds = {seed for _, seed in pairs}
    assert len(seeds) > 1990 and min(seeds) >= 1 and max(seeds) <= LARGEST_SEED


def test_a_deterministic_target_sees_each_instance_once():
    names = tuple("abcdefgh")
    instances = Instances(names, seed=1, randomised=False)
    assert instances.count == 8
    pairs = [instances.pair(j) for j in range(8)]
    assert sorted(name for name, _ in pairs) == list(names)
    assert [name for name, _ in pairs] == [names[k] for k in shuffled(8, 1)]
    assert {seed for _, seed in pairs} == {0}
    for position in (8, -1):
        with pytest.raises(InvalidSetting, match="expected 0 to 7"):
            instances.pair(position)


def test_a_randomised_target_sees_instances_again_with_new_seeds():
    instances = Instances(("a", "b"), seed=1, randomised=True)
    assert instances.count is None
    index, seed = endless_pair(2, 1, 10**6)
    assert instances.pair(10**6) == ("ab"[index], seed)
    with pytest.raises(InvalidSetting, match="expected 0 or more"):
        instances.pair(-1)


def test_a_set_with_seeds_is_each_instance_with_each_of_its_seeds_in_random_order():
    names = ("a", "b", "c")
    instances = Instances(names, seed=1, randomised=True, seeds=40)
    assert instances.count == 120
    pairs = [instances.pair(j) for j in range(120)]
    assert len(set(pairs)) == 120, "no pair comes up twice"
    for name in names:
        seeds = {seed for given, seed in pairs if given == name}
        assert len(seeds) == 40 and min(seeds) >= 1
    # A random order: in rounds, a name could not follow itself but between two of them.
    follows = sum(pairs[j][0] == pairs[j + 1][0] for j in range(119))
    assert 20 < follows < 60
    with pytest.raises(InvalidSetting, match="expected 0 to 119"):
        instances.pair(120)
    assert [instances.pair(j) for j in range(120)] == pairs
    assert [Instances(names, 2, True, 40).pair(j) for j in range(120)] != pairs


SEEDED = '["{python}", "{seed}", "{x}", "{instance}"]'


@pytest.mark.parametrize(
    ("files", "more", "seeds"),
    [
        (1, "", 100),
        (40, "", 3),
        (100, "", 1),
        (101, "", 1),
        (40, "seeds = 7", 7),
        (3, "seeds = 'endless'", None),
    ],
)
def test_a_randomised_target_has_a_set_that_is_large_enough(tmp_path, files, more, seeds):
    names = [f"{number}.cnf" for number in range(files)]
    for name in names:
        (tmp_path / name).write_text(name)
    made = scenario(tmp_path, "glob = '*.cnf'", SEEDED, more).instances
    assert made.seeds == seeds
    assert made.count == (None if seeds is None else seeds * files)


@pytest.mark.parametrize(
    ("command", "more", "words"),
    [
        (SEEDED, "seeds = 0", '0 is not a number of seeds; give 1 to 1,000,000, or "endless"'),
        (SEEDED, "seeds = true", "True is not a number of seeds"),
        (SEEDED, "seeds = 'many'", "'many' is not a number of seeds"),
        (SEEDED, "seeds = 10000000", "10000000 is not a number of seeds"),
        ('["{python}", "{x}", "{instance}"]', "seeds = 3", "the target takes no seed"),
    ],
)
def test_wrong_numbers_of_seeds_are_refused(tmp_path, command, more, words):
    (tmp_path / "x.cnf").write_text("x")
    with pytest.raises(InvalidScenario, match=r"instances\.seeds") as caught:
        scenario(tmp_path, "list = ['x.cnf']", command, more)
    assert words in str(caught.value)


def test_a_set_has_no_more_pairs_than_fit_into_memory(tmp_path):
    names = f"names = {[str(number) for number in range(11)]}"
    words = "with 1,000,000 each, 11 instances make more than 10,000,000 pairs; give fewer"
    with pytest.raises(InvalidScenario, match=words):
        scenario(tmp_path, names, SEEDED, "seeds = 1000000")


def test_a_generator_has_no_number_of_seeds(tmp_path):
    source = "generator = ['{python}', '{seed}']"
    with pytest.raises(InvalidScenario, match="a generator's instances come up once each"):
        scenario(tmp_path, source, SEEDED, "seeds = 2")


def scenario(folder, source, command='["{python}", "{x}", "{instance}"]', more=""):
    place = folder / "scenario.toml"
    place.write_text(
        f"[target]\ncommand = {command}\n[parameters.x]\ntype = 'integer'\nlow = 1\nhigh = 2\n"
        f"default = 1\n[instances]\n{source}\n{more}\n[budget]\nruns = 1\n"
    )
    return load_scenario(place)


HOSTILE = [
    "a b.cnf",
    "'q' \"r\".cnf",
    "$HOME `x` ;rm.cnf",
    "two\nlines.cnf",
    "-dash",
    "#x",
    "[1].cnf",
]


def test_hostile_file_names_survive(tmp_path):
    folder = tmp_path / "cnf"
    folder.mkdir()
    for name in HOSTILE:
        (folder / name).write_text("x")
    (folder / ".hidden").write_text("x")
    (folder / "subfolder").mkdir()
    loaded = scenario(tmp_path, "glob = 'cnf/*'").instances
    wanted = sorted(str(folder / name) for name in HOSTILE)
    assert sorted(loaded.names) == wanted and loaded.count == len(HOSTILE)
    assert sorted(loaded.pair(j)[0] for j in range(len(HOSTILE))) == wanted
    assert scenario(tmp_path, f"glob = '{folder}/*'").instances.names == loaded.names
    listing = [name for name in HOSTILE if "\n" not in name]
    text = "# a comment\r\n\n" + "".join(f"cnf/{name}\r\n" for name in listing)
    (tmp_path / "list.txt").write_bytes(text.encode())
    from_file = scenario(tmp_path, "file = 'list.txt'").instances
    assert list(from_file.names) == [str(folder / name) for name in listing]
    quoted = ", ".join('"' + "".join(f"\\u{ord(c):04x}" for c in f"cnf/{n}") + '"' for n in HOSTILE)
    in_list = scenario(tmp_path, f"list = [{quoted}]").instances
    assert list(in_list.names) == [str(folder / name) for name in HOSTILE]


def test_names_that_are_not_utf8(tmp_path):
    name = b"caf\xe9.cnf".decode(errors="surrogateescape")
    (tmp_path / name).write_text("x")
    loaded = scenario(tmp_path, "glob = '*.cnf'")
    assert loaded.instances.names == (str(tmp_path / name),)
    (tmp_path / "list.txt").write_bytes(b"caf\xe9.cnf\n")
    assert scenario(tmp_path, "file = 'list.txt'").instances.names == loaded.instances.names


def test_globs_reach_into_folders(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x.cnf").write_text("x")
    (tmp_path / "a" / "y.cnf").write_text("x")
    assert len(scenario(tmp_path, "glob = 'a/**/*.cnf'").instances.names) == 2


def test_files_that_vanish_are_noticed(tmp_path):
    (tmp_path / "x.cnf").write_text("x")
    instances = scenario(tmp_path, "list = ['x.cnf']").instances
    name, _ = instances.pair(0)
    assert instances.source(tmp_path).locate(name) == name
    (tmp_path / "x.cnf").unlink()
    with pytest.raises(MissingInstance, match=r"x\.cnf: this instance has vanished"):
        instances.source(tmp_path).locate(name)


def test_names_are_not_files(tmp_path):
    instances = scenario(tmp_path, "names = ['--size 5', '']").instances
    assert instances.count == 2 and instances.source(tmp_path).locate("--size 5") == "--size 5"


def test_a_test_set_gets_other_seeds(tmp_path):
    (tmp_path / "x.cnf").write_text("x")
    command = '["{python}", "{seed}", "{x}", "{instance}"]'
    both = scenario(tmp_path, "list = ['x.cnf']", command, "[test_instances]\nlist = ['x.cnf']")
    assert both.test_instances is not None and both.test_instances.count is None
    training = {both.instances.pair(j) for j in range(100)}
    assert not training & {both.test_instances.pair(j) for j in range(500)}


PRINTS = (
    """generator = ["{python}", "-SEc", "import sys; print(*sys.argv[1:])", "{index}", "{seed}"]"""
)
WRITES = (
    """generator = ["{python}", "-SEc", "import sys; open(sys.argv[1], 'w').write(sys.argv[2])","""
    """ "{output}", "i{index}"]"""
)


def test_a_generator_makes_an_endless_stream(tmp_path):
    both = scenario(tmp_path, PRINTS, more="[test_instances]\n" + PRINTS)
    instances, fresh = both.instances, both.test_instances
    assert instances.count is None and instances.names == () and fresh is not None
    assert instances.pair(7) == ("7", 0)  # the command takes no seed
    folder = tmp_path / "made" / "here"
    place = instances.source(folder).locate("7")
    index, seed = (tmp_path / "made" / "here" / "7").read_text().split()
    assert place == str(folder / "7") and index == "7" and 1 <= int(seed) <= LARGEST_SEED
    assert instances.source(folder).locate("7") == place
    again = Instances((), instances.seed, False, generator=instances.generator)
    other = again.source(tmp_path / "other").locate("7")
    assert (tmp_path / "other" / "7").read_text() == (folder / "7").read_text() and other != place
    name, _ = fresh.pair(7)
    assert name not in {instances.pair(j)[0] for j in range(100)}
    assert [entry.name for entry in folder.iterdir()] == ["7"]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (
            "{output}",
            "import sys\nwith open(sys.argv[1], 'wb') as f:\n while True: f.write(bytes(9999))",
        ),
        ("{index}", "import sys\nwhile True: sys.stdout.buffer.write(bytes(9999))"),
    ],
)
def test_an_instance_may_not_be_too_large(tmp_path, monkeypatch, source, code):
    monkeypatch.setattr("cunctator.target.instances.LARGEST_INSTANCE", 10**6)
    with pytest.raises(GeneratorFailed, match=r"larger than 0\.001 GB"):
        made_by(code, source, tmp_path).make(1, 5, tmp_path / "made")
    assert list((tmp_path / "made").iterdir()) == []


def test_a_generator_that_hangs_is_ended_with_all_its_children(tmp_path, monkeypatch):
    monkeypatch.setattr("cunctator.target.instances.LONGEST_GENERATION", 0.5)
    log = tmp_path / "processes"
    code = (
        "import os, sys, time\nos.fork()\nos.setsid() if os.getppid() == 1 else None\n"
        f"print(os.getpid(), file=open({str(log)!r}, 'a'))\ntime.sleep(1000)"
    )
    with pytest.raises(GeneratorFailed, match=r"took more than 0\.5 s"):
        made_by(code, "{index}", tmp_path).make(1, 5, tmp_path / "made")
    processes = log.read_text().split()
    assert len(processes) == 2
    assert not any(Path(f"/proc/{process}").exists() for process in processes)


def test_a_folder_that_cannot_be_written_is_a_problem_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GeneratorFailed, match="cannot be made"):
        made_by("print(1)", "{index}", tmp_path).make(1, 5, tmp_path / "file" / "made")


def made_by(code, argument, folder):
    known = ("index", "output")
    items = ((sys.executable,), ("-SEc",), (code,), parse_item(argument, (), known))
    return Generator(items, folder)


def test_a_generator_may_write_a_file(tmp_path):
    instances = scenario(tmp_path, WRITES).instances
    instances.source(tmp_path / "made").locate("3")
    assert (tmp_path / "made" / "3").read_text() == "i3"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import sys; sys.exit('no\\x1b luck')", r"ended with code 1 \(no\\x1b luck\)"),
        ("pass", "made no instance, or an empty one"),
        ("import os; os.kill(os.getpid(), 9)", r"ended with code -9 \(no message\)"),
    ],
)
def test_a_generator_that_fails_leaves_nothing(tmp_path, code, problem):
    items = tuple(
        parse_item(text, (), ("index",)) for text in (sys.executable, "-SEc", code, "{index}")
    )
    generator = Generator(items, tmp_path)
    with pytest.raises(GeneratorFailed, match=problem) as caught:
        generator.make(1, 5, tmp_path / "made")
    assert "\n" not in str(caught.value) and "run this command by hand" in str(caught.value)
    assert list((tmp_path / "made").iterdir()) == []
    lost = Generator((("/no/such/program",),), tmp_path)
    with pytest.raises(GeneratorFailed, match="could not be started"):
        lost.make(1, 5, tmp_path / "made")

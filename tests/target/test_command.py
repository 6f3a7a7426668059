"""Command lines and verdicts: arguments arrive exactly, and a crash never looks fast."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator.base.errors import InvalidKey
from cunctator.base.records import Status
from cunctator.scenario.commands import make_command
from cunctator.scenario.models import TargetTable
from cunctator.space.parameters import make_parameter
from cunctator.target.measurement import Ending, Measurement
from cunctator.target.replies import Given, Replies

LEVEL = make_parameter("level", "integer", 3, low=1, high=9)
FLAG = make_parameter("flag", "categorical", True, values=[True, False])
MODE = make_parameter("mode", "categorical", "a", values=["a", "b c", ""])

CONFIGURATION = {"level": 3, "flag": True, "mode": "b c"}


def command(
    items=("solver", "{parameters}", "{instance}"), formats=None, objective="cpu", **target
):
    parameters = target.pop("parameters", (LEVEL, FLAG, MODE))
    table = TargetTable(command=list(items), **target)
    return make_command(table, parameters, formats or {}, objective=objective, has_cutoff=True)


def arguments(*items, configuration=None, formats=None, **target):
    made = command(items, formats, **target)
    return made.argv(CONFIGURATION if configuration is None else configuration, "in put", 5, 0.25)


def test_the_parameters_in_their_default_format():
    assert arguments("solver", "{parameters}", "{instance}") == [
        "solver", "--level=3", "--flag=true", "--mode=b c", "in put",
    ]  # fmt: skip


def test_placeholders():
    argv = arguments("{python}", "-l{level}{{{seed}}}", "{cap}", "{parameters}", "<{instance}>")
    assert argv == [sys.executable, "-l3{5}", "0.25", "--flag=true", "--mode=b c", "<in put>"]


def test_items_with_inactive_parameters_disappear():
    argv = arguments(
        "solver",
        "-l={level}",
        "{parameters}",
        "{mode}",
        "{instance}",
        configuration={"flag": False},
    )
    assert argv == ["solver", "--flag=false", "in put"]


def test_formats():
    formats = {
        "level": ("-l", "{value}"),
        "flag": {"yes": "--{name}", "no": ""},
        "mode": {"a": "-a", "b c": ("-b", "{value}", ""), "": ()},
    }
    made = command(formats=formats, format="-{name}")
    assert made.argv(CONFIGURATION, "i", 1, 1.0) == [
        "solver", "-l", "3", "--flag", "-b", "b c", "", "i",
    ]  # fmt: skip
    assert made.argv({"flag": False, "mode": ""}, "i", 1, 1.0) == ["solver", "i"]
    assert arguments("s", "{parameters}", "{instance}", format=["-{name}", "{value}"])[:3] == [
        "s", "-level", "3",
    ]  # fmt: skip


def test_a_parameter_may_be_said_by_those_that_depend_on_it():
    decay = make_parameter("decay", "integer", 95, low=1, high=99, when={"mode": "a"})
    formats = {"mode": (), "decay": "--heuristic=a,{value}"}
    made = command(formats=formats, parameters=(MODE, decay))
    assert made.argv({"mode": "a", "decay": 5}, "i", 1, 1.0) == ["solver", "--heuristic=a,5", "i"]
    with pytest.raises(InvalidKey, match="parameter mode never reaches the target"):
        command(formats={"mode": ()}, parameters=(MODE,))


@pytest.mark.parametrize(
    ("items", "formats", "target", "problem"),
    [
        (["s", "{parameters}", "x"], {}, {}, "{instance} is not in it"),
        (["s", "{instance}", "{level}"], {}, {}, "parameter flag is not in it"),
        (["s", "{instance}", "{parameters}", "{lvl}"], {}, {}, "unknown placeholder {lvl}"),
        (["s", "{instance}", "{parameters}", "{}"], {}, {}, "unknown placeholder {}"),
        (["s", "{instance}", "{parameters}", "}"], {}, {}, "a single }"),
        (["s", "{instance}", "-p={parameters}"], {}, {}, "is several arguments"),
        (["s"], {"level": "-l"}, {}, "the value does not appear in it"),
        (["s"], {"level": {"1": "-l"}}, {}, "a format for each value of integer"),
        (["s"], {"mode": {"a": "-a"}}, {}, "there is none for the value 'b c'"),
        (["s"], {"mode": {"z": "-a"}}, {}, "'z' is not a value of it"),
        (["s"], {"mode": "{seed}"}, {}, "unknown placeholder {seed}"),
        (["s"], {}, {"format": "x"}, "the value does not appear in it"),
        (["s", "{level}"], {"level": "-l={value}"}, {}, "the command names {level} itself"),
        (["s", "{instance}"], {}, {"protocol": "smac"}, "unknown placeholder {instance}"),
        (["s"], {"mode": "{value}"}, {"protocol": "smac"}, "in a way of its own"),
        (["s"], {}, {"protocol": "smac3", "format": "{value}"}, "in a way of its own"),
    ],
)
def test_refused(items, formats, target, problem):
    if len(items) < 3 and "protocol" not in target:
        items = [*items, "{parameters}", "{instance}"]
    with pytest.raises(InvalidKey) as caught:
        command(items, formats, **target)
    assert problem in caught.value.problem


@pytest.mark.parametrize("name", ["instance", "seed", "cap", "parameters", "python"])
def test_names_that_mean_something_else(name):
    taken = make_parameter(name, "categorical", 1, values=[1])
    with pytest.raises(InvalidKey, match="means something else"):
        command(parameters=(taken,))
    wrapped = command(["w"], parameters=(taken,), protocol="smac")
    assert wrapped.argv({name: 1}, "i", 1, 1.0)[-2:] == [f"-{name}", "1"]


@pytest.mark.parametrize(
    ("items", "target", "takes_seed"),
    [
        (["s", "{parameters}", "{instance}"], {}, False),
        (["s", "{parameters}", "{instance}", "-s{seed}"], {}, True),
        (["s", "{parameters}", "{instance}", "{{seed}}"], {}, False),
        (["s"], {"protocol": "irace"}, True),
        (["s"], {"protocol": "smac", "deterministic": True}, False),
    ],
)
def test_who_takes_a_seed(items, target, takes_seed):
    assert command(items, **target).takes_seed is takes_seed


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
ECHO = "import json, sys; json.dump(sys.argv[1:], sys.stdout)"


@given(st.lists(TEXT, min_size=1, max_size=5, unique=True), TEXT)
def test_hostile_values_come_through_the_template(values, instance):
    mode = make_parameter("mode", "categorical", values[0], values=values)
    made = command(["s", "<{mode}>", "{instance}"], parameters=(mode,))
    listed = command(["s", "{parameters}", "{instance}"], parameters=(mode,))
    for value in values:
        assert made.argv({"mode": value}, instance, 1, 1.0) == ["s", f"<{value}>", instance]
        argv = listed.argv({"mode": value}, instance, 1, 1.0)
        assert argv == ["s", f"--mode={value}", instance]


@settings(max_examples=30)
@given(TEXT, TEXT)
def test_hostile_values_come_through_a_process(value, instance):
    mode = make_parameter("mode", "categorical", value, values=[value])
    items = [sys.executable, "-SEc", ECHO, "{mode}", "{parameters}", "{instance}", "{{}}"]
    argv = command(items, parameters=(mode,)).argv({"mode": value}, instance, 1, 1.0)
    got = subprocess.run(argv, capture_output=True, check=True).stdout
    assert json.loads(got) == [value, instance, "{}"]


@given(TEXT)
def test_any_text_is_a_template_or_refused(text):
    try:
        made = command(["s", text, "{parameters}", "{instance}"])
    except InvalidKey:
        assert set(text) & set("{}")
        return
    assert made.argv({}, "i", 1, 1.0)[0] == "s"


@given(TEXT)
def test_escaped_braces_are_exact(text):
    escaped = text.replace("{", "{{").replace("}", "}}")
    assert arguments("s", escaped, "{parameters}", "{instance}")[1] == text


def measured(ending=Ending.EXITED, exit_code=0, cpu=0.1, wall=0.1, **more):
    return Measurement(ending, cpu=cpu, wall=wall, exit_code=exit_code, **more)


@pytest.mark.parametrize(
    ("measurement", "status", "problem"),
    [
        (measured(), Status.SOLVED, ""),
        (measured(exit_code=20), Status.SOLVED, ""),
        (measured(exit_code=1), Status.CRASHED, "it ended with exit code 1; success is 0, 20"),
        (measured(exit_code=None, signal=11), Status.CRASHED, "by signal 11 (SIGSEGV)"),
        (measured(exit_code=None, signal=99), Status.CRASHED, "by signal 99 (unknown)"),
        (measured(Ending.CAP), Status.CAPPED, ""),
        (measured(Ending.CAP, exit_code=None, signal=15), Status.CAPPED, ""),
        (measured(Ending.WALL, idle=0.1), Status.CAPPED, ""),
        (measured(cpu=1.01), Status.CAPPED, ""),
        (measured(wall=5.0), Status.SOLVED, ""),
        (measured(Ending.MEMORY, exit_code=None), Status.CRASHED, "memory limit"),
        (measured(Ending.FAILED_TO_START, exit_code=None, problem="no\nfile"), Status.CRASHED,
         "it could not be started: no\\nfile"),
    ],
)  # fmt: skip
def test_verdicts_by_exit_code(measurement, status, problem):
    verdict = command(success=[0, 20]).judge(measurement, 1.0)
    assert verdict.status is status
    assert problem in verdict.problem and bool(problem) == bool(verdict.problem)
    assert verdict.abort == (measurement.ending is Ending.FAILED_TO_START)


def test_the_objective_decides_what_is_over_the_cap():
    assert command(objective="wall").judge(measured(wall=1.1), 1.0).status is Status.CAPPED
    assert command(objective="wall").judge(measured(cpu=1.1), 1.0).status is Status.SOLVED


def test_a_run_that_was_called_off_is_not_judged():
    with pytest.raises(AssertionError):
        command().judge(measured(Ending.STOPPED), 1.0)


def test_patterns():
    made = command(success_pattern="^s (SAT|UNSAT)", failure_pattern="error", answer="^s (\\w+)")
    verdict = made.judge(measured(stdout=b"c hello\r\ns UNSAT\r\n"), 1.0)
    assert verdict.status is Status.SOLVED and verdict.reply == "UNSAT"
    assert "success_pattern is not" in made.judge(measured(stdout=b"c s SAT"), 1.0).problem
    failed = made.judge(measured(stdout=b"s SAT", stderr=b"an error\x1b[31m"), 1.0)
    assert failed.status is Status.CRASHED and "'error'" in failed.problem
    assert failed.output == "an error\\x1b[31m" and failed.reply is None
    whole = command(answer="SAT|UNSAT").judge(measured(stdout=b"\xff SAT"), 1.0)
    assert whole.reply == "SAT"
    assert command(answer="x(y)?").judge(measured(stdout=b"x"), 1.0).reply is None


def test_the_last_lines_of_a_crash():
    noise = "\n".join(f"line {k} \x1b[2J" + "x" * 1000 for k in range(10_000)).encode()
    verdict = command().judge(measured(exit_code=1, stdout=noise), 1.0)
    assert "\x1b" not in verdict.output and len(verdict.output) < 2000
    both = command().judge(measured(exit_code=1, stdout=b"out", stderr=b"1\n2\n3\n4\n5\n6\n"), 1.0)
    assert both.output == "2\n3\n4\n5\n6"


@given(st.binary(max_size=50), st.binary(max_size=50), st.integers(0, 255))
def test_any_output_is_judged(stdout, stderr, code):
    for protocol in ("native", "smac", "aclib2", "irace", "smac3"):
        items = ["s", "{parameters}", "{instance}"] if protocol == "native" else ["s"]
        judged = command(items, protocol=protocol).judge(
            measured(exit_code=code, stdout=stdout, stderr=stderr), 1.0
        )
        assert "\n" not in judged.problem
        assert bool(judged.problem) == (judged.status is Status.CRASHED)


def test_answers_that_contradict_each_other():
    answers = Replies({"j": Given("UNSAT", ("earlier", "j"))})
    assert answers.is_new("i") and not answers.is_new("j")
    assert answers.tell("i", Given("SAT", ("solver", "-x=a b", "i"))) is None
    assert not answers.is_new("i")
    assert answers.tell("j", Given("UNSAT", ("solver", "j"))) is None
    assert answers.tell("i", Given("satisfiable ", ("solver", "i"))) is None
    found = answers.tell("i", Given("UNSATISFIABLE", ("solver", "-y", "i")))
    assert found is not None
    assert (found.first.reply, found.second.reply) == ("SAT", "UNSATISFIABLE")
    assert shlex.join(["solver", "-x=a b", "i"]) in str(found) and "solver -y i" in str(found)
    assert "\n" not in str(found)
    later = answers.tell("j", Given("SAT", ("other", "j")))
    assert later is not None and later.first.command == ("earlier", "j")

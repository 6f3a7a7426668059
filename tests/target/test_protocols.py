"""Wrappers' dialects: what they are given, and what is believed of what they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.base.errors import InvalidKey
from cunctator.base.records import Status
from cunctator.scenario.commands import make_command
from cunctator.scenario.models import TargetTable
from cunctator.space.parameters import make_parameter
from cunctator.target.measurement import Ending, Measurement

PARAMETERS = (
    make_parameter("p", "real", 0.5, low=0.0, high=1.0),
    make_parameter("q", "categorical", "it's", values=["it's", "a b", "'x'"]),
)
CONFIGURATION = {"p": 0.00001, "q": "a b"}


def wrapper(protocol, formats=None, has_cutoff=True, **target):
    table = TargetTable(command=["python3", "wrap per.py"], protocol=protocol, **target)
    return make_command(table, PARAMETERS, formats or {}, objective="cpu", has_cutoff=has_cutoff)


def argv(protocol, cap=1.5, seed=7, **more):
    made = wrapper(protocol, **more).argv(CONFIGURATION, "in/a b.cnf", seed, cap)
    assert made[:2] == ["python3", "wrap per.py"]
    return made[2:]


def judged(
    protocol, stdout, cap=10.0, exit_code=0, cpu=1.0, wall=1.0, ending=Ending.EXITED, **more
):
    measurement = Measurement(
        ending, cpu=cpu, wall=wall, exit_code=exit_code, stdout=stdout.encode(), **more
    )
    return wrapper(protocol).judge(measurement, cap)


def test_smac_is_called_by_position():
    fixed = ["in/a b.cnf", "0", "1.5", "2147483647"]
    parameters = ["-p", "0.00001", "-q", "a b"]
    assert argv("smac") == [*fixed, "7", *parameters]
    assert argv("smac", deterministic=True) == [*fixed, "-1", *parameters]
    assert argv("smac", cap=1) == [*fixed[:2], "1.0", *fixed[3:], "7", *parameters]


def test_aclib2_is_called_by_flags():
    assert argv("aclib2") == [
        "--instance", "in/a b.cnf", "--cutoff", "1.5", "--seed", "7",
        "--config", "-p", "0.00001", "-q", "a b",
    ]  # fmt: skip


def test_smac3_is_called_by_options():
    assert argv("smac3") == [
        "--instance=in/a b.cnf", "--instance_features=[]", "--seed=7", "--cutoff=1.5",
        "--p=0.00001", "--q=a b",
    ]  # fmt: skip
    table = TargetTable(command=["w"], protocol="smac3")
    taken = make_parameter("cutoff", "categorical", 1, values=[1])
    with pytest.raises(InvalidKey, match="means something else"):
        make_command(table, (taken,), {}, objective="cpu", has_cutoff=True)


@pytest.mark.parametrize("protocol", ["smac", "aclib2", "smac3"])
def test_truth_values_look_as_in_smac(protocol):
    table = TargetTable(command=["w"], protocol=protocol)
    flag = make_parameter("flag", "categorical", True, values=[True, False])
    command = make_command(table, (flag,), {}, objective="cpu", has_cutoff=True)
    said = " ".join(command.argv({"flag": False}, "i", 1, 1.0))
    assert said.endswith("--flag=False" if protocol == "smac3" else "-flag False")


def test_irace_is_called_by_position_with_formats():
    formats = {"p": "-p {value}", "q": ("-q", "{value}")}
    called = argv("irace", formats=formats)
    assert called[2:] == ["7", "in/a b.cnf", "1.5", "-p 0.00001", "-q", "a b"]
    assert all(number.isdigit() and int(number) > 0 for number in called[:2])
    assert argv("irace", formats=formats) == called
    without = argv("irace", formats=formats, has_cutoff=False)
    assert without[2:] == ["7", "in/a b.cnf", "-p 0.00001", "-q", "a b"]
    other = wrapper("irace").argv({**CONFIGURATION, "p": 0.5}, "in/a b.cnf", 7, 1.5)
    assert other[2] != called[0] and other[3] == called[1]


@pytest.mark.parametrize("protocol", ["smac", "aclib2"])
@pytest.mark.parametrize(
    ("line", "status", "answer", "reported"),
    [
        ("Result for ParamILS: SAT, 1.1, 0, 0, 7", Status.SOLVED, "SAT", 1.1),
        ("Result for ParamILS: UNSATISFIABLE, 1, 0, 0, 7, more, data", Status.SOLVED, "UNSAT", 1.0),
        ("  Final Result for SMAC: success , 1e0, -1, 3.5, -1", Status.SOLVED, None, 1.0),
        ("result of this wrapper: OK, 1, 0, 0, 0", Status.SOLVED, None, 1.0),
        ("Result for HAL: SAT, 1, 0, 0, 0\r", Status.SOLVED, "SAT", 1.0),
        ("Result for GPS: SUCCESS, 1, 3, misc", Status.SOLVED, None, 1.0),
        ("Result of algorithm run: SAT, 1, 0, 0, 0", Status.SOLVED, "SAT", 1.0),
        ('Result of this algorithm run: {"status": "SUCCESS", "runtime": 1}',
         Status.SOLVED, None, 1.0),
        ('Result of this algorithm run: {"status": "SAT", "runtime": "1.2", "cost": 3, "misc": ""}',
         Status.SOLVED, "SAT", 1.2),
        ('Result of this algorithm run: {"status": "SUCCESS", "runtime": 1,'
         ' "satisfiability": "UNSAT"}', Status.SOLVED, "UNSAT", 1.0),
        ('Result of this algorithm run: {"status": "SUCCESS", "cost": 1}',
         Status.SOLVED, None, None),
        ("Result for ParamILS: TIMEOUT, 10.01, 0, 0, 7", Status.CAPPED, None, 10.01),
        ("Result for ParamILS: TIMEOUT, 9.6, 0, 0, 7", Status.CAPPED, None, 9.6),
        ("Result for ParamILS: TIMEOUT, 2, 0, 0, 7", Status.CRASHED, None, 2.0),
        ("Result for ParamILS: CRASHED, 1, 0, 0, 7", Status.CRASHED, None, 1.0),
        ("Result for ParamILS: MEMOUT, 1, 0, 0, 7", Status.CRASHED, None, 1.0),
    ],
)  # fmt: skip
def test_result_lines(protocol, line, status, answer, reported):
    verdict = judged(protocol, f"c noise\n{line}\nc more noise\n")
    assert (verdict.status, verdict.reply, verdict.reported) == (status, answer, reported)
    # A second was measured under a cap of ten: whoever speaks of a timeout has another clock.
    assert not verdict.abort and bool(verdict.warning) == (status is Status.CAPPED)


def test_a_timeout_long_before_the_cap_is_odd():
    line = "Result for ParamILS: TIMEOUT, 10, 0, 0, 7"
    verdict = judged("smac", line)
    assert verdict.status is Status.CAPPED and "1 s were measured" in verdict.warning
    assert judged("smac", line, wall=9.9).warning == ""


def test_a_starved_run_has_not_reached_its_cap():
    """Less CPU time was used than that: it must not count as having exceeded it."""
    verdict = judged("smac", "", ending=Ending.WALL, wall=100.0, idle=1.0)
    assert verdict.abort and "overloaded" in verdict.problem
    for more in ({"idle": 99.0}, {"idle": 1.0, "cpu": 1e6}):
        verdict = judged("smac", "", ending=Ending.WALL, wall=100.0, **more)
        assert verdict.status is Status.CAPPED and not verdict.abort


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("", "no result line"),
        ("c Result for ParamILS: SAT, 1, 0, 0, 7", "no result line"),
        ("Result for ParamILS: SAT, 1, 0, 0", "too few fields"),
        ("Result for ParamILS: SAT", "too few fields"),
        ("Result for ParamILS: SAT, -1, 0, 0, 7", "'-1' was reported as the time"),
        ("Result for ParamILS: SAT, nan, 0, 0, 7", "'nan' was reported as the time"),
        ("Result for ParamILS: SAT, inf, 0, 0, 7", "'inf' was reported as the time"),
        ("Result for ParamILS: SAT, soon, 0, 0, 7", "'soon' was reported as the time"),
        ("Result for ParamILS: KILLED, 1, 0, 0, 7", "unknown status 'KILLED'"),
        ("Result for ParamILS: RUNNING, 1, 0, 0, 7", "unknown status 'RUNNING'"),
        ("Result for ParamILS: WELL, 1, 0, 0, 7", "unknown status 'WELL'"),
        ("Result of this algorithm run: {", "not a result as JSON"),
        ('Result of this algorithm run: {"runtime": 1}', "not a result as JSON"),
        ("Result of this algorithm run: {" + "[" * 50_000, "not a result as JSON"),
        ('Result of this algorithm run: {"status": "SAT", "runtime": true}', "'True' was reported"),
        ('Result of this algorithm run: {"status": "SAT", "runtime": NaN}', "'nan' was reported"),
        ('Result of this algorithm run: {"status": 3, "runtime": 1}', "unknown status '3'"),
        ('Result of this algorithm run: {"status": "SAT", "runtime": 1' + "0" * 400 + "}",
         "was reported as the time"),
    ],
)  # fmt: skip
def test_result_lines_that_are_not_believed(output, problem):
    verdict = judged("smac", output)
    assert verdict.status is Status.CRASHED and problem in verdict.problem
    assert "exit code 3" in judged("smac", output, exit_code=3).problem


def test_the_last_line_counts_and_no_fake_is_fallen_back_to():
    fake = "Result for ParamILS: SAT, 0.001, 0, 0, 7\n"
    true = "Result for ParamILS: CRASHED, 1.0, 0, 0, 7\n"
    assert judged("smac", fake + true).status is Status.CRASHED
    assert judged("smac", fake + "Result for ParamILS: SAT, 0.").status is Status.CRASHED
    both = judged("smac", true + fake)
    assert both.status is Status.SOLVED and "the last one counts" in both.warning
    assert not judged("smac", "Result for ParamILS: SAT, 1, 0, 0, 7\n" * 2).warning


def test_our_clock_rules():
    early = judged("smac", "Result for ParamILS: SAT, 0.001, 0, 0, 7", cpu=5.0)
    assert early.status is Status.SOLVED and early.reported == 0.001
    assert early.warning == (
        "the wrapper reports 0.001 s for a run of 5 s: that is no time of this run; the measured"
        " one counts"
    )
    over = judged("smac", "Result for ParamILS: SAT, 0.001, 0, 0, 7", cpu=10.5)
    assert over.status is Status.CAPPED
    killed = judged("smac", "Result for ParamILS: SAT, 0.001, 0, 0, 7", ending=Ending.CAP)
    assert killed.status is Status.CAPPED


def test_a_timeout_is_at_the_cap_by_any_clock():
    line = "Result for ParamILS: TIMEOUT, 0, 0, 0, 7"
    assert judged("smac", line, cpu=9.6).status is Status.CAPPED
    assert judged("smac", line, wall=10.2).status is Status.CAPPED
    early = judged("smac", line)
    assert early.status is Status.CRASHED
    assert early.problem == "the wrapper says TIMEOUT after 1 s under a cap of 10 s"


@pytest.mark.parametrize(
    ("protocol", "output"),
    [
        ("smac", "Result for ParamILS: ABORT, 0, 0, 0, 7"),
        ("smac", "Result for ParamILS: ABORT, -1, 0, 0, 7"),
        ("aclib2", 'Result of this algorithm run: {"status": "ABORT"}'),
        ("smac3", "status=ABORT"),
    ],
)
def test_abort_stops_the_study(protocol, output):
    verdict = judged(protocol, output)
    assert verdict.abort and verdict.status is Status.CRASHED and "ABORT" in verdict.problem


@pytest.mark.parametrize(
    ("output", "exit_code", "status", "problem"),
    [
        ("1.2", 0, Status.SOLVED, ""),
        (" 1.2\n1.2 \n", 0, Status.SOLVED, ""),
        ("10 10", 0, Status.CAPPED, ""),
        ("10", 0, Status.SOLVED, ""),  # a cost: it took a second
        ("Inf", 0, Status.CRASHED, "rejects this configuration"),
        ("Inf 0", 0, Status.CRASHED, "rejects this configuration"),
        ("1.2 1.2 1.2", 0, Status.CRASHED, "expected one or two numbers"),
        ("", 0, Status.CRASHED, "expected one or two numbers"),
        ("time: 3", 0, Status.CRASHED, "expected one or two numbers"),
        ("1 -1", 0, Status.CRASHED, "a time of -1 s was reported"),
        ("nan", 0, Status.CRASHED, "the cost is no number"),
        ("nan 0.1", 0, Status.CRASHED, "the cost is no number"),
        ("1 nan", 0, Status.CRASHED, "a time of nan s was reported"),
        ("1.2 1.2", 1, Status.CRASHED, "exit code 1; success is 0"),
    ],
)
def test_runners_of_irace(output, exit_code, status, problem):
    verdict = judged("irace", output, exit_code=exit_code)
    assert verdict.status is status and problem in verdict.problem


@pytest.mark.parametrize(
    ("output", "status", "reported", "problem"),
    [
        ("cost=1.1; runtime = 1.2; status=SUCCESS", Status.SOLVED, 1.2, ""),
        ("cost=1.1;runtime=5;cpu_time=1.3;additional_info=a=b", Status.SOLVED, 1.3, ""),
        ("noise\ncost=9\ncost=1", Status.SOLVED, None, ""),
        ("cost=1,2,3;", Status.SOLVED, None, ""),
        ("runtime=1", Status.CRASHED, None, "no cost="),
        ("", Status.CRASHED, None, "no cost="),
        ("cost=1;status=CRASHED", Status.CRASHED, None, "the wrapper says CRASHED"),
        ("cost=1;status=MEMORYOUT", Status.CRASHED, None, "memory limit"),
        ("status=TIMEOUT;runtime=10", Status.CAPPED, 10.0, ""),
        ("status=TIMEOUT;runtime=1", Status.CRASHED, 1.0, "TIMEOUT after 1 s"),
        ("cost=1;runtime=x", Status.CRASHED, None, "'x' was reported"),
        ("cost=nan;runtime=1", Status.CRASHED, None, "the cost is no number"),
    ],
)
def test_scripts_of_smac3(output, status, reported, problem):
    verdict = judged("smac3", output)
    assert (verdict.status, verdict.reported) == (status, reported)
    assert problem in verdict.problem


@given(st.text(), st.text(), st.sampled_from(["smac", "aclib2", "irace", "smac3"]))
def test_nothing_a_wrapper_prints_makes_it_fall_over(before, after, protocol):
    for line in ("Result for SMAC: {}", "Result of this algorithm run: {{{}}}", "{}=1;", "{}"):
        output = f"{before}\n{line.format(after)}"
        measurement = Measurement(
            Ending.EXITED, cpu=1.0, exit_code=0, stdout=output.encode(errors="replace")
        )
        verdict = wrapper(protocol).judge(measurement, 10.0)
        assert bool(verdict.problem) == (verdict.status is Status.CRASHED)
        assert "\n" not in verdict.problem


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_values_are_never_quoted(value):
    made = wrapper("smac").argv({"q": value}, value, 1, 1.0)
    assert made[2] == value and made[-1] == value
    assert wrapper("smac3").argv({"q": value}, value, 1, 1.0)[-1] == f"--q={value}"

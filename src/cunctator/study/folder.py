"""Studies in folders: begun, resumed, looked at.

A folder holds `study.db`, a copy of the scenario, and a lock that dies with its holder: one driver
at a time. The copy is what counts when a study is resumed; its paths are still relative to where
the scenario was.
"""

from __future__ import annotations

import fcntl
import logging
import math
import os
import platform
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from cunctator.base.errors import DifferentReplay, InvalidKey, InvalidSetting, StudyProblem
from cunctator.base.notices import announced_compilation, log
from cunctator.base.records import Outcome, Status, StopReason
from cunctator.base.units import counted, parse_extension
from cunctator.core.outlook import out_of_reach
from cunctator.core.projection import runs_to_be_faster
from cunctator.core.replay import replay
from cunctator.core.scheduler import STATUS_CODE, Scheduler
from cunctator.core.sentinels import ASKED
from cunctator.scenario import Scenario, load_scenario
from cunctator.study.fingerprints import note_session
from cunctator.study.guidance import SHARE, Guide, Planner, advice_of, beside
from cunctator.study.journal.file import damaged
from cunctator.study.journal.journal import FILE, Journal, create_journal, is_begun, open_journal
from cunctator.study.journal.repair import add_checksums, repair_journal
from cunctator.study.journal.store import GUIDED_SCHEMA
from cunctator.study.loop import Study, logger
from cunctator.study.snapshot import Incumbent
from cunctator.study.view import Budget, Spent, View
from cunctator.study.workers import LocalWorkers, Workers, slot_settings
from cunctator.target.tree import status_fields

WILL_CLOSE = "closes"
"""A fact: `will_close` held when the study began. Earlier versions did not know of it."""

GUIDED = "guided"
"""A fact: the part of the search's time that is for what a guide asks for, if there is one."""

COPY, LOCK, LOG, GENERATED = "scenario.toml", "lock", "study.log", "instances"

BEGUN = 19
"""The place of a process's start among its `status_fields`."""

MakeWorkers = Callable[[Scenario, Path], Workers]


def local_workers(scenario: Scenario, directory: Path) -> Workers:
    """As many slots on this machine as the scenario says."""
    return LocalWorkers(slot_settings(scenario, directory / GENERATED), scenario.search.workers)


@contextmanager
def begin_study(
    scenario: Scenario,
    directory: Path,
    make_workers: MakeWorkers = local_workers,
    planner: Planner = beside,
) -> Iterator[Study]:
    """A new study in a folder that has none; inside the `with`, the folder is ours."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"the folder cannot be made ({error.strerror})"
        raise StudyProblem(directory, problem, "give another folder") from None
    with _locked(directory):
        if is_begun(directory):
            fix = "resume or remove it, or give another folder"
            raise StudyProblem(directory, "there is a study in this folder", fix)
        facts = {
            "version": version("cunctator"),
            "digest": scenario.digest,
            "folder": str(scenario.folder),
            "created": str(time.time()),
        }
        if will_close(scenario):
            facts[WILL_CLOSE] = "yes"
        if is_guided(scenario):
            facts |= {GUIDED: str(SHARE), "schema": GUIDED_SCHEMA}
        scenario = replace(scenario, space=scenario.space.anew())  # another study may have used it
        copy = directory / COPY
        try:
            text = scenario.text.encode()
            if copy.exists() and copy.read_bytes() != text:
                problem = f"there is another {COPY} in this folder"
                raise StudyProblem(directory, problem, "give another folder")
            copy.write_bytes(text)
        except OSError as error:
            problem = f"nothing can be written there ({error.strerror})"
            raise StudyProblem(directory, problem, "give another folder") from None
        journal = create_journal(directory, facts)
        with _opened(scenario, directory, journal, make_workers, planner) as study:
            yield study


@contextmanager
def resumed_study(
    directory: Path,
    more: float = 0.0,
    make_workers: MakeWorkers = local_workers,
    more_runs: int = 0,
    repair: bool = False,
    planner: Planner = beside,
) -> Iterator[Study]:
    """A study that was begun before, as it was; `more` seconds and runs are added to its budget.

    `repair` goes on with what comes before the damage, if its journal is damaged.
    """
    if repair and (directory / FILE).is_file():
        with _locked(directory):
            repair_journal(directory)
    journal = open_journal(directory, writing=True)
    try:
        with _locked(directory):
            scenario = scenario_of(directory, journal)
            _check_unspoilt(directory, journal)
            added = (more, more_runs)
            makers = (make_workers, planner)
            with _opened(scenario, directory, journal, *makers, added) as study:
                yield study
    finally:
        journal.close()


def _check_unspoilt(directory: Path, journal: Journal) -> None:
    """Some studies cannot be gone on with: what they recorded would mislead the rest."""
    last = journal.last_progress()
    spoilt = (StopReason.DEFAULT_CRASHES, StopReason.NOTHING_SOLVED, StopReason.CONTRADICTION)
    if last is not None and last[1].stop in [reason.value for reason in spoilt]:
        problem = f"it ended because {last[1].stop}: {last[1].problem}"
        fix = "mend that, then begin a new study in another folder"
        raise StudyProblem(directory, problem, fix)


def run(scenario: Scenario | str | os.PathLike[str], directory: str | os.PathLike[str]) -> View:
    """Make a study of a scenario in a new folder; returns what it found."""
    loaded = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    with begin_study(loaded, Path(directory)) as study:
        return study.run()


def resume(directory: str | os.PathLike[str], more: str | float = 0.0) -> View:
    """Go on with a study; `more`, such as "2h", "500runs" or seconds, is added to its budget."""
    seconds, runs = parse_extension(more, "more") if isinstance(more, str) else (float(more), 0)
    with resumed_study(Path(directory), seconds, more_runs=runs) as study:
        return study.run()


def scenario_of(directory: Path, journal: Journal) -> Scenario:
    """The scenario of a study, from its copy."""
    folder = Path(journal.fact("folder") or directory)
    scenario, digest = load_scenario(directory / COPY, folder), journal.fact("digest")
    if digest not in scenario.digests:
        # Before there was a choice, pairs of randomised targets never ended.
        scenario = load_scenario(directory / COPY, folder, silent_is_endless=True)
    if digest not in scenario.digests:
        raise StudyProblem(
            directory,
            "its scenario, or the list of its instances, is not what it was when it began",
            "restore them, or begin a new study in another folder",
        )
    try:
        for said in journal.advice():
            if said.proposed:
                scenario.space.take_in(said.first, said.proposed)
    except (InvalidKey, InvalidSetting):
        journal.check()  # it names the first row that is not as it was written
        problem = "it has configurations that are not of its space"
        raise damaged(directory, problem) from None
    return scenario


def incumbent_of(directory: Path) -> Incumbent:
    """The answer of a study, as of its last look."""
    journal = open_journal(directory, writing=False)
    try:
        last = journal.last_progress()
    finally:
        journal.close()
    if last is None:
        raise StudyProblem(directory, "nothing has been done yet", "resume the study first")
    incumbent = last[1].incumbent
    if incumbent is None:
        problem = "it has no answer: " + (
            f"it ended because {last[1].stop}" if last[1].solved else "no run was solved"
        )
        raise StudyProblem(directory, problem, "see `cunctator status`")
    return incumbent


def new_scheduler(scenario: Scenario, will_close: bool, guided: float = 0.0) -> Scheduler:
    """The search of a scenario, before its first run; the rest is of the journal's facts."""
    search, size = scenario.search, scenario.space.size
    is_all = size is not None and scenario.configurations == size
    return Scheduler(
        scenario.configurations,
        scenario.instances.count,
        profile=search.profile,
        first_cap=search.first_cap,
        cutoff=search.cutoff,
        penalty=search.penalty,
        confidence=search.confidence,
        fixed=scenario.space.fixed,
        limit=scenario.space.size,
        draws=None if is_all else scenario.space.draws,
        will_close=will_close,
        guided=guided,
    )


def is_guided(scenario: Scenario) -> bool:
    """Whether a study has a guide that proposes configurations: not if there is a list of all."""
    return scenario.search.guide and scenario.configurations is None and scenario.space.size is None


def will_close(scenario: Scenario) -> bool:
    """Whether a study's end is to be for proof: its set of pairs has an end, so that answer and
    default can be run on all of it, and nobody waits for something else to be certified.
    """
    search, pairs = scenario.search, scenario.instances.count
    return pairs is not None and search.cutoff is not None and search.stop_at is None


def warn_of_reach(scheduler: Scheduler, scenario: Scenario) -> None:
    """Say so before a search if only what is certain can be certified."""
    if problem := out_of_reach(scheduler.state, scenario.instances.seeds):
        log.warning("%s", problem)


def compile_kernels() -> None:
    """Make one run of nothing, so that compilation takes none of a study's time on the clock."""
    scheduler = Scheduler(2, None)
    run = scheduler.ask()
    assert run is not None
    scheduler.tell(run, Outcome(Status.SOLVED, 0.0))
    scheduler.forecast(scheduler.certificate())
    runs_to_be_faster(scheduler.state, 0)
    scheduler.standing(scheduler.recommend())
    scheduler.compared(0, 1)
    scheduler.seconds_until_closing(0.0, 1.0)
    scheduler.close(True)


@contextmanager
def _opened(
    scenario: Scenario,
    directory: Path,
    journal: Journal,
    make_workers: MakeWorkers,
    planner: Planner,
    added: tuple[float, int] = (0.0, 0),
) -> Iterator[Study]:
    with announced_compilation():
        guided = float(journal.fact(GUIDED) or 0.0)
        scheduler = new_scheduler(scenario, journal.fact(WILL_CLOSE) is not None, guided)
        compile_kernels()
        events, advised = journal.events(), journal.advice()
        try:
            unfinished = replay(scheduler, events, {one.event: advice_of(one) for one in advised})
        except DifferentReplay as error:
            raise _cannot_go_on(directory, error) from error
    # Only now: whatever cannot be gone on with is left to the version that can.
    add_checksums(journal)
    journal.store.begin_writing()
    if not events.status.size:
        warn_of_reach(scheduler, scenario)
    told, solved = events.status != ASKED, events.status == STATUS_CODE[Status.SOLVED]
    last = journal.last_progress()
    spent = Spent(
        charged=float(events.seconds[told].sum()),
        wall=last[1].wall if last else 0.0,
        runs=int(told.sum()),
        solved=int(solved.sum()),
        default_solved=int((solved & (events.configuration == 0)).sum()),
    )
    budget = _budget(scenario, journal, *added, spent.runs)
    with _logging_to(directory / LOG), _held(directory / FILE, directory):
        note_session(journal, scenario, version("cunctator"))
        workers = make_workers(scenario, directory)
        try:
            is_extended = _is_extended(journal, budget, any(added))
            guide = None
            if guided:
                guide = Guide(scenario.space, planner, workers.slots, advised)
            yield Study(
                scenario, scheduler, journal, workers, budget, spent, unfinished, is_extended, guide
            )
        finally:
            workers.close()
            journal.close()


def _is_extended(journal: Journal, budget: Budget, is_added: bool) -> bool:
    """Whether a study may spend more than when it began to close.

    That may have been given long ago, if the study was killed or interrupted before it made use of
    it, or in its copy of the scenario. Earlier versions did not write down what it was before.
    """
    before = journal.closing_budget()
    if before is None:
        return is_added
    return any(now > then for now, then in zip(budget.limits, before, strict=False))


def _cannot_go_on(directory: Path, error: DifferentReplay) -> StudyProblem:
    """What to do with a study whose search this version does not make as it was made."""
    place = directory if directory.name else directory.resolve()
    number = 2
    while (new := place.with_name(f"{place.stem}-{number}.study")).exists():
        number += 1
    words = shlex.join(["run", str(directory / COPY), str(new), "--warm", str(directory)])
    return StudyProblem(
        directory,
        "the search has changed, and it cannot be gone on with to the letter: run"
        f" {error.number} (event {error.event + 1}) was not what this version would ask for",
        "use the version that began it, or begin a new study with what it liked:"
        f" cunctator {words}",
    )


@contextmanager
def _logging_to(path: Path) -> Iterator[None]:
    """Keep what happens, in words, in a file of the study's folder."""
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    # If the disk is full, the journal says so in one line; a lost line of the log is no matter.
    handler.handleError = lambda record: None  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()


def _budget(
    scenario: Scenario, journal: Journal, more: float, more_runs: int, spent: int
) -> Budget:
    """What the scenario allows, and all that was added; `more` is added with the next commit."""
    table = scenario.budget
    seconds, runs = journal.extended()
    if more_runs and table.runs is None:
        fix = "this study's budget is a time: give one, e.g. --more 2h"
        raise InvalidSetting("--more", counted(more_runs, "run"), fix)
    if more:
        given = f"{more:g}s"
        if table.charged is None and table.wall is None:
            fix = "this study's budget is a number of runs: give one, e.g. --more 500runs"
            raise InvalidSetting("--more", given, fix)
        if not math.isfinite(more):
            raise InvalidSetting("--more", more, "expected a finite time")
        if table.runs is not None and spent >= table.runs + runs:
            made = counted(table.runs + runs, "run")
            fix = f"its budget of {made} is spent: give more of those, e.g. 500runs"
            raise InvalidSetting("--more", given, fix)
    if more or more_runs:
        journal.extend(time.time(), more, more_runs)
    return Budget(
        charged=math.inf if table.charged is None else table.charged + seconds + more,
        wall=math.inf if table.wall is None else table.wall + seconds + more,
        runs=math.inf if table.runs is None else table.runs + runs + more_runs,
    )


def _name_of(process: int) -> str:
    """Names one process for ever: its number, when it began, and its machine; "" if it is gone."""
    fields = status_fields(process)
    return f"{process} {fields[BEGUN].decode()} {platform.node()}" if fields else ""


def is_driven(directory: Path) -> bool | None:
    """Whether somebody works on a study; None if that is, or was, another machine's business."""
    try:
        name = (directory / LOCK).read_text(encoding="utf-8")
        process, _, host = name.split(" ", 2)
        if host != platform.node():
            return None
        return _name_of(int(process)) == name
    except (OSError, ValueError):
        return False


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Hold the folder; the lock goes with the process that holds it, however that ends."""
    with _held(directory / LOCK, directory) as handle:
        try:
            os.ftruncate(handle, 0)
            os.write(handle, _name_of(os.getpid()).encode())
        except OSError as error:
            problem = f"nothing can be written there ({error.strerror})"
            fix = "make room, then try again: nothing recorded is lost"
            raise StudyProblem(directory, problem, fix) from None
        try:
            yield
        finally:
            os.ftruncate(handle, 0)


@contextmanager
def _held(path: Path, directory: Path) -> Iterator[int]:
    """Lock a file; the journal too is locked, since a mere lock file may be deleted."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        problem = f"nothing can be written there ({error.strerror})"
        raise StudyProblem(directory, problem, "check the folder's permissions") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StudyProblem(
                directory,
                "another process is working on this study",
                "wait for it, or look at it with `cunctator status`",
            ) from None
        yield handle
    finally:
        os.close(handle)

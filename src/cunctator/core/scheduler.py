"""Structured Procrastination with Confidence: always run the configuration of least lower bound.

Algorithm 1, lines 1 to 9, by `ask` and `tell`. Which configuration that is, `choice.py` says; among
which configurations, `pools.py`; and what else is run, for whose sake, `turns.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cunctator.base.errors import InvalidSetting, UnknownRun
from cunctator.base.records import Outcome, Run, Status, StopReason
from cunctator.base.units import LARGEST_PENALTY
from cunctator.core.bounds import lower_bound
from cunctator.core.certificate import Certificate, Point, certify
from cunctator.core.check import check_state
from cunctator.core.climbing import rekey_climber
from cunctator.core.closing import EARLY_PROOF, seconds_until_closing, set_closing
from cunctator.core.compiled import compiled
from cunctator.core.forecast import NOTHING_SAID, Forecast, forecast
from cunctator.core.known import cap_at, is_exact, mean_runtime
from cunctator.core.pairs import Compared, compared
from cunctator.core.pools import pool_sizes
from cunctator.core.profiles import DEFAULT, FLOOR, PROFILES, Profile
from cunctator.core.proposals import with_proposals
from cunctator.core.race import rekey_rival
from cunctator.core.recommend import answered
from cunctator.core.rows import continued
from cunctator.core.rules import Rules
from cunctator.core.sentinels import FINISHED, NONE, WIDEN
from cunctator.core.state import (
    ENDLESS,
    State,
    grow,
    new_flights,
    new_state,
    room_for_result,
    with_more_configurations,
)
from cunctator.core.tasks import open_tasks, set_tasks
from cunctator.core.tester import (
    CAPPED,
    CRASHED,
    SOLVED,
    begin,
    finish,
    rekey,
    update,
)
from cunctator.core.turns import choose, note_result

SHORTEST, LONGEST = 1e-9, 1e9
"""Of first caps, in seconds."""

STATUS_CODE = {Status.SOLVED: SOLVED, Status.CAPPED: CAPPED, Status.CRASHED: CRASHED}


@compiled
def rekey_all(state: State) -> None:
    """Set every key of a lower bound from scratch."""
    for index in range(state.testers.size):
        rekey(state, index)


@compiled
def begin_flight(state: State, index: int, slot: int) -> None:
    """Take the run of configuration `index` that was chosen into a flight slot."""
    now, flight = state.now, state.flights[slot]
    now.step += 1
    flight.is_new, flight.tried = begin(state, index)
    flight.configuration, flight.pair, flight.level = index, now.pair, now.level
    flight.turn = now.turn
    update(state, index, False, False)
    if state.ladder.made > 0:
        rekey_climber(state, index)
        rekey_rival(state, index)


@compiled
def finish_flight(state: State, slot: int, status: int, seconds: float) -> None:
    """Take the result of the run in a flight slot and free the slot."""
    flight = state.flights[slot]
    index = flight.configuration
    flight.configuration = NONE
    finish(state, index, flight.pair, flight.level, flight.is_new, flight.turn, status, seconds)
    update(state, index, True, False)
    note_result(state, index, status == CRASHED)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of one configuration."""

    configuration: int
    started: int
    completed: int
    mean: float
    """Mean of min(runtime, known cap) over all started runs; infinite after a crash, no cutoff.
    Once the known cap is the cutoff, timeouts count as what they count."""
    lower: float
    """The lower bound on the mean that the search goes by."""
    known_cap: float
    """Every started run is known up to here."""
    exact: bool
    """Whether all pairs of a finite set have been run to their end: the mean is the true mean."""
    charged: float


class Advice(NamedTuple):
    """What a guide says after it has looked at results."""

    proposed: int
    """How many configurations it proposes because of them."""
    tasks: tuple[tuple[int, int], ...]
    """Configurations and the rungs of the ladder that they are to reach; -1 is the first one that
    is proposed, -2 the second ..."""
    first: int = NONE
    """In a replay: the number that the first one that is proposed had."""


class Scheduler:
    """SPC by `ask` and `tell`: pure, deterministic, with any number of runs in flight."""

    def __init__(
        self,
        configurations: int | None,
        instances: int | None,
        *,
        profile: str = DEFAULT,
        first_cap: float = 0.1,
        cutoff: float | None = None,
        penalty: float = 1.0,
        confidence: float = 0.95,
        fixed: int = 1,
        limit: int | None = None,
        draws: Callable[[int], int] | None = None,
        will_close: bool = False,
        guided: float = 0.0,
    ) -> None:
        """`instances` is the size of the finite set of pairs, or None for an endless stream.

        With `configurations` None, there is no end of them, or `limit`: pools grow as the time
        allows (see `pools.py`). The first `fixed` ones are no random draws. With `draws`, there
        are more configurations than are looked at: it says how many random draws are among the
        first so many, by default all but the `fixed`. A run that reaches the cutoff, or crashes,
        counts as `penalty` times the cutoff: 10 for PAR10. `will_close`: the budget is known, so
        that most of the proof may wait for its last part; see `closing.py`. `guided` is the part of
        the search's time that is for what a guide asks for, if there is one (`advise`).
        """
        constants = check_profile(profile)
        sizes = None
        if configurations is None:
            if not constants.has_ladder:
                raise InvalidSetting("profile", profile, "pools that grow need the profile tight")
            sizes = pool_sizes(fixed, limit)
            configurations = int(sizes[0])
        rules = check_rules(
            constants, configurations, instances, first_cap, cutoff, confidence, penalty
        )
        if guided and not constants.has_ladder:
            raise InvalidSetting("profile", profile, "a guide needs the profile tight")
        rules = rules._replace(guided=float(guided))
        if will_close:
            rules = rules._replace(early_proof=EARLY_PROOF)
        self.state = new_state(configurations, rules, constants, sizes)
        self._is_whole = draws is None if sizes is None else limit is not None
        self._draws = draws or (lambda size: size - fixed)
        self.stop: StopReason | None = None
        self._slot_of_run: dict[int, int] = {}
        rekey_all(self.state)

    @property
    def step(self) -> int:
        """t: how many runs have been asked for."""
        return int(self.state.now.step)

    def ask(self) -> Run | None:
        """The next run to make; None when the search is over (`stop`) or must wait for a result."""
        if self.stop is not None:
            return None
        before = self.state
        while (index := choose(self.state)) == WIDEN:
            self.widen()
        if index == FINISHED:
            self.stop = how_it_finished(self.state, self._is_whole)
        if index < 0:
            self.state = before  # asked in vain: no journal knows of it
            return None
        slot = self._free_slot()
        self._make_room(index)
        begin_flight(self.state, index, slot)
        return self.take_off(slot, self.step)

    def take_off(self, slot: int, number: int) -> Run:
        """The run in a flight slot, which has been asked for under this number."""
        flight, rules = self.state.flights[slot], self.state.rules
        level = int(flight.level)
        self._slot_of_run[number] = slot
        return Run(
            number=number,
            configuration=int(flight.configuration),
            pair=int(flight.pair),
            cap=cap_at(rules, level),
            spent=0.0 if flight.is_new else cap_at(rules, int(flight.tried)),
        )

    def tell(self, run: Run, outcome: Outcome) -> None:
        """Take the outcome of a run that was asked for. Results may come in any order."""
        if run.number not in self._slot_of_run:
            raise UnknownRun(run.number)
        if outcome.status not in STATUS_CODE:
            raise InvalidSetting("status", outcome.status, "expected a Status, e.g. Status.SOLVED")
        if not (math.isfinite(outcome.seconds) and outcome.seconds >= 0):
            raise InvalidSetting("seconds", outcome.seconds, "expected a finite time, 0 or more")
        slot = self._slot_of_run.pop(run.number)
        self._make_room(int(self.state.flights[slot].configuration))
        finish_flight(self.state, slot, STATUS_CODE[outcome.status], float(outcome.seconds))

    @property
    def is_closing(self) -> bool:
        """Whether what was put off is being brought to an end: see `closing.py`."""
        return bool(self.state.now.closing)

    def seconds_until_closing(self, left: float, whole: float) -> float:
        """How much of what is left of a budget is spent before that should begin."""
        return float(seconds_until_closing(self.state, float(left), float(whole)))

    def close(self, is_closing: bool) -> None:
        """Begin with that, or go back to the search: there is more time after all."""
        if is_closing != self.is_closing:
            set_closing(self.state, is_closing)

    @property
    def open_tasks(self) -> int:
        """How many of a guide's tasks have something to run that is not in flight."""
        return int(open_tasks(self.state))

    def advise(self, advice: Advice) -> int:
        """Take what a guide says: see `proposals.py` and `tasks.py`.

        Returns the index of the first configuration that is new. Random draws that are looked at
        for the first time later have larger ones.
        """
        first = int(self.state.testers.size)
        if not self.state.rules.guided:
            raise InvalidSetting("advice", advice, "this search has no guide")
        if advice.proposed:
            self.state = with_proposals(self.state, advice.proposed)
            rekey_all(self.state)
        size, tasks = int(self.state.testers.size), []
        for named, rung in advice.tasks:
            configuration = named if named >= 0 else first - 1 - named
            if not (configuration < size and rung >= 0):
                expected = f"expected configurations below {size:,}, and rungs from 0"
                raise InvalidSetting("task", (named, rung), expected)
            tasks.append((configuration, rung))
        set_tasks(self.state, tasks)
        return first

    def recommend(self) -> int:
        """The incumbent at this moment: see `recommend.py`."""
        return answered(self.state)

    def certificate(self) -> Certificate:
        """How close to the best the incumbent provably is, at this moment."""
        return certify(self.state, self.recommend(), self._draws, self._is_whole)

    def forecast(
        self,
        certificate: Certificate,
        asked: Point | None = None,
        gamma: float = 0.0,
        closing_in: float = math.inf,
    ) -> Forecast:
        """What it takes to certify more than the certificate of this moment; see `forecast.py`."""
        if self.stop is not None:
            return NOTHING_SAID
        return forecast(self.state, certificate, asked, gamma, closing_in)

    def standing(self, configuration: int) -> Standing:
        """What is known of one configuration."""
        return standing(self.state, configuration)

    def compared(self, one: int, other: int) -> Compared:
        """Two over the pairs that both have run, up to a cap that both are known to."""
        return compared(self.state, one, other)

    def check(self) -> None:
        """Raise AssertionError if the state breaks one of the paper's invariants or our own."""
        check_state(self.state)

    def add_slots(self) -> None:
        """Make room for twice as many runs in flight."""
        old = self.state.flights
        self.state = self.state._replace(flights=continued(new_flights(2 * old.size), old))

    def widen(self) -> None:
        """Make room for the configurations of the next pool."""
        sizes, room = self.state.pools["members"], self.state.testers.size
        size = int(sizes[sizes > room][0])
        self.state = with_more_configurations(self.state, size)
        rekey_all(self.state)

    def _make_room(self, index: int) -> None:
        """For one more run of a configuration, and its result."""
        if not room_for_result(self.state, index):
            self.state = grow(self.state, index)

    def _free_slot(self) -> int:
        free = np.flatnonzero(self.state.flights["configuration"] == NONE)
        if free.size:
            return int(free[0])
        self.add_slots()
        return self.state.flights.size // 2


def how_it_finished(state: State, is_whole: bool) -> StopReason:
    """Why a search is over that has nothing left to ask: what may be said of its incumbent."""
    testers, instances = state.testers, state.rules.instances
    if not is_whole:
        return StopReason.BEST_OF_POOL
    if state.profile.rounding == FLOOR:  # no proof covers these bounds
        is_known = testers["completed"] + testers["crashed"] == instances
        return StopReason.PROVED_OPTIMAL if is_known.all() else StopReason.BY_THE_PAPER
    return StopReason.PROVED_OPTIMAL


def standing(state: State, index: int) -> Standing:
    """What is known of one configuration."""
    tester, log_step = state.testers[index], math.log(state.now.step + 1)
    return Standing(
        configuration=index,
        started=int(tester.started),
        completed=int(tester.completed),
        mean=mean_runtime(state, index),
        lower=lower_bound(state, index, log_step),
        known_cap=cap_at(state.rules, tester.known_level),
        exact=is_exact(state, index),
        charged=float(tester.charged),
    )


def check_profile(name: str) -> Profile:
    """The profile of that name."""
    if name not in PROFILES:
        raise InvalidSetting("profile", name, f"expected one of {', '.join(PROFILES)}")
    return PROFILES[name]


def check_rules(
    profile: Profile,
    configurations: int,
    instances: int | None,
    first_cap: float,
    cutoff: float | None,
    confidence: float,
    penalty: float = 1.0,
) -> Rules:
    """The rules of a study, if the settings make sense together."""
    if configurations < 1:
        raise InvalidSetting("configurations", configurations, "expected at least 1")
    if instances is not None and not 1 <= instances < ENDLESS:
        expected = f"expected 1 to {ENDLESS - 1}, or None for an endless stream"
        raise InvalidSetting("instances", instances, expected)
    if not SHORTEST <= first_cap <= LONGEST:
        expected = f"expected {SHORTEST:g} to {LONGEST:g} seconds"
        raise InvalidSetting("first_cap", first_cap, expected)
    if cutoff is not None and not first_cap <= cutoff < math.inf:
        expected = f"expected at least the first cap, {first_cap:g} seconds, or none"
        raise InvalidSetting("cutoff", cutoff, expected)
    if not 0 < confidence < 1:
        raise InvalidSetting("confidence", confidence, "expected between 0 and 1, e.g. 0.95")
    if not 1 <= penalty <= LARGEST_PENALTY:
        expected = f"expected 1 to {LARGEST_PENALTY:,.0f} times the cutoff, e.g. 10"
        raise InvalidSetting("penalty", penalty, expected)
    if penalty > 1 and cutoff is None:
        expected = "it says how often the cutoff counts, and there is none: give one"
        raise InvalidSetting("penalty", penalty, expected)
    return Rules(
        error=1 - confidence,
        first_cap=float(first_cap),
        cutoff=math.inf if cutoff is None else float(cutoff),
        instances=ENDLESS if instances is None else int(instances),
        longest=math.inf if cutoff is None else profile.longest_share * cutoff,
        penalty=float(penalty),
    )

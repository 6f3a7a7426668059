"""The answer at any moment: whom to recommend.

The paper's score is the number of started runs: whoever is run most is the one that looks best. It
may look best because little is known of it, though: with most of its runs put off, it has been
seen up to a short cap only. So in the profile `tight`, runs that are put off or crashed do not
count; there are O(log) of the former, which makes no difference in the long run.
Ties are the rule at first, and again when a finite set has been started whole, and near ties are
decided by chance. So those that have nearly as many runs as the most are compared by their means.
Means known to different caps do not compare: the slowest configuration is known to the shortest
cap, and would have the least. So they are compared up to the longest cap that all of them are
known to, the better half stays, and that is repeated, up to longer and longer caps, until one is
left. The paper's guarantee for the most started holds for all of these, with their own number of
runs.

Whoever looked best for long has most runs for a while after its long runs have come up, and with
heavy tails they come up late. So the leader may be challenged: by those with a fair share of its
runs, known to the leader's cap at least, whose mean up to that cap is lower by more than chance
among so many would explain. (Only in `tight`; the paper's answer is the most started.) What is
asked for does not depend on the answer, so nothing else changes.

With pools that grow, small pools are worked on for safety's sake long after better configurations
have been found in larger ones, so the most started of all may be the best of three. So how many
runs are enough is decided by those started for the frontier's sake. Whoever has as many, for
whatever sake, is compared: the default for one, which is known well as it is in every pool.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import cap_at, is_exact, mean_up_to
from cunctator.core.slabs import NONE
from cunctator.core.state import State

NEARLY = 0.98
"""Share of the most runs that makes a configuration eligible. 0.9 to 1 do as well early
on; ties alone would let the answer flip between configurations that differ by a run."""


FAIR = 0.15
"""Share of the leader's runs that a challenger must have."""

FEWEST = 2
"""Runs that it must have: fewer have no spread."""

SURE = 0.4
"""Standard errors of the difference by which a challenger's mean must be lower, in units of what
the luckiest of all challengers would be ahead by. Certainty is for certificates; here, of two that
cannot be told apart, the one that looks better should be the answer. Tuned on log-normal and
Weibull tables; 0.3 to 0.5, and shares of the runs from 0.15 to 0.33, do about as well."""


@compiled_apart
def recommended(state: State) -> int:
    """The index of the recommended configuration."""
    if state.proved[0] != NONE:
        return int(state.proved[0])
    leader = _leader(state)
    if not state.profile.counts_finished:
        return leader
    enough = max(float(FEWEST), FAIR * state.testers.completed[leader])
    count = 0
    for index in range(state.testers.started.size):
        if state.testers.completed[index] >= enough:
            state.candidates[count] = index
            count += 1
    if count < 2 or state.testers.completed[leader] < FEWEST:
        return leader
    needed = SURE * math.sqrt(2.0 * math.log(count))
    for _ in range(count):  # each is ahead of the one before, by its own cap
        challenger = _challenger(state, leader, count, needed)
        if challenger == NONE:
            break
        leader = challenger
    return leader


@compiled_apart
def _challenger(state: State, leader: int, count: int, needed: float) -> int:
    """The candidate that is ahead of the leader by most standard errors, if by enough; or NONE."""
    cap = _known_cap(state, leader)
    mean, variance, runs = _moments(state, leader, cap)
    best, most = NONE, needed
    for place in range(count):
        index = state.candidates[place]
        if index == leader or _known_cap(state, index) < cap:
            continue
        other, other_variance, other_runs = _moments(state, index, cap)
        if not other < mean:
            continue
        # Who has fewer runs has not seen its long ones: it is taken to be as spread as the other.
        spread = math.sqrt(max(variance, other_variance) * (1.0 / runs + 1.0 / other_runs))
        ahead = (mean - other) / spread if spread > 0.0 else math.inf
        if ahead > most:
            best, most = index, ahead
    return best


@compiled
def _known_cap(state: State, index: int) -> float:
    """The cap that every started pair is known to; whoever is exact is, to any."""
    if is_exact(state, index):
        return float(state.rules.cutoff)
    return float(cap_at(state.rules, state.testers.known_level[index]))


@compiled_apart
def _moments(state: State, index: int, cap: float) -> tuple[float, float, float]:
    """Mean and variance of the runs counted up to a cap, and how many they are."""
    testers, rules = state.testers, state.rules
    runs = float(testers.started[index] - testers.new_in_flight[index])
    rest, total, squares = runs - testers.crashed[index], 0.0, 0.0
    for place in range(state.edges.size):
        if state.edges[place] >= cap:
            break
        weight, value = state.histogram[index, place], state.edges[place]
        rest -= weight
        total += weight * value
        squares += weight * value * value
    if rest > 0.0 and not math.isinf(cap):
        total += rest * cap
        squares += rest * cap * cap
    if testers.crashed[index] > 0:
        total += testers.crashed[index] * rules.cutoff
        squares += testers.crashed[index] * rules.cutoff * rules.cutoff
    mean = total / runs
    if math.isinf(mean):
        return mean, 0.0, runs
    return mean, max(0.0, squares / runs - mean * mean) * runs / max(1.0, runs - 1.0), runs


@compiled_apart
def _leader(state: State) -> int:
    """Of those that have nearly as many runs as the most, the one of least mean."""
    testers, left, means = state.testers, state.candidates, state.candidate_means
    size, most, count = testers.started.size, _counted(state, 0, testers.chosen[0]), 0
    for index in range(size):
        most = max(most, _counted(state, index, testers.chosen[index]))
    enough = min(NEARLY * most, most)  # the latter if it is negative
    for index in range(size):
        if _counted(state, index, testers.started[index]) >= enough:
            left[count] = index
            count += 1
    while count > 1:
        common = _common_level(state, count)
        for place in range(count):
            means[place] = mean_up_to(state, left[place], common)
        kept = (count + 1) // 2
        _put_best_first(state, count, kept)
        count = kept
    return int(left[0])


@compiled
def _counted(state: State, index: int, runs: int) -> int:
    """How many of some runs count. If more than these are unfinished, that is negative."""
    testers = state.testers
    if state.profile.counts_finished:
        return int(runs - testers.started[index] + testers.completed[index])
    return int(runs)


@compiled
def _common_level(state: State, count: int) -> int:
    """The longest cap that the first candidates are all known to; whoever is exact is, to any."""
    least, most = NONE, 0
    for place in range(count):
        index = state.candidates[place]
        level = state.testers.known_level[index]
        most = max(most, level)
        if not is_exact(state, index) and (least == NONE or level < least):
            least = level
    return most if least == NONE else least


@compiled_apart
def _put_best_first(state: State, count: int, kept: int) -> None:
    """Reorder the candidates so that the best `kept` of them come first (quickselect)."""
    low, high = 0, count - 1
    while low < high:
        _swap(state, (low + high) >> 1, high)
        boundary = low
        for place in range(low, high):
            if _is_better(state, place, high):
                _swap(state, place, boundary)
                boundary += 1
        _swap(state, boundary, high)
        if boundary == kept - 1 or boundary == kept:
            return
        if boundary < kept:
            low = boundary + 1
        else:
            high = boundary - 1


@compiled
def _is_better(state: State, place: int, other: int) -> bool:
    """By mean; before any cap tells them apart, by completed runs; then by index.

    Without a cutoff a crash makes a mean infinite: then fewer crashes are better.
    """
    means, left, completed = state.candidate_means, state.candidates, state.testers.completed
    if means[place] != means[other]:
        return bool(means[place] < means[other])
    crashed = state.testers.crashed
    if crashed[left[place]] != crashed[left[other]]:
        return bool(crashed[left[place]] < crashed[left[other]])
    if completed[left[place]] != completed[left[other]]:
        return bool(completed[left[place]] > completed[left[other]])
    return bool(left[place] < left[other])


@compiled
def _swap(state: State, place: int, other: int) -> None:
    left, means = state.candidates, state.candidate_means
    left[place], left[other] = left[other], left[place]
    means[place], means[other] = means[other], means[place]

"""The incumbent, which is the answer at any moment: whom to recommend.

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

With pools that grow, small pools are worked on for safety's sake long after better configurations
have been found in larger ones, so the most started of all may be the best of three. So how many
runs are enough is decided by those started for the frontier's sake. Whoever has as many, for
whatever sake, is compared: the default for one, which is known well as it is in every pool.
"""

from __future__ import annotations

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import is_exact, mean_up_to
from cunctator.core.sentinels import NONE
from cunctator.core.state import State

NEARLY = 0.98
"""Share of the most runs that makes a configuration eligible. 0.9 to 1 do as well early
on; ties alone would let the incumbent flip between configurations that differ by a run."""


@compiled_apart
def recommended(state: State) -> int:
    """The index of the recommended configuration."""
    if state.now.proved != NONE:
        return int(state.now.proved)
    testers, left = state.testers, state.candidates
    size, most, count = testers.size, _counted(state, 0, testers[0].chosen), 0
    for index in range(size):
        most = max(most, _counted(state, index, testers[index].chosen))
        left[index].price = _counted(state, index, testers[index].started)
    enough = min(NEARLY * most, most)  # the latter if it is negative
    for index in range(size):
        if left[index].price >= enough:
            left[count].index = index
            count += 1
    while count > 1:
        common = _common_level(state, count)
        for place in range(count):
            left[place].price = mean_up_to(state, left[place].index, common)
        kept = (count + 1) // 2
        _put_best_first(state, count, kept)
        count = kept
    return int(left[0].index)


@compiled
def _counted(state: State, index: int, runs: int) -> int:
    """How many of some runs count. If more than these are unfinished, that is negative."""
    if state.profile.counts_finished:
        tester = state.testers[index]
        return int(runs - tester.started + tester.completed)
    return int(runs)


@compiled
def _common_level(state: State, count: int) -> int:
    """The longest cap that the first candidates are all known to; whoever is exact is, to any."""
    least, most = NONE, 0
    for place in range(count):
        index = state.candidates[place].index
        level = state.testers[index].known_level
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
    one, two = state.candidates[place], state.candidates[other]
    if one.price != two.price:
        return bool(one.price < two.price)
    tester, rival = state.testers[one.index], state.testers[two.index]
    if tester.crashed != rival.crashed:
        return bool(tester.crashed < rival.crashed)
    if tester.completed != rival.completed:
        return bool(tester.completed > rival.completed)
    return bool(one.index < two.index)


@compiled
def _swap(state: State, place: int, other: int) -> None:
    one, two = state.candidates[place], state.candidates[other]
    one.index, two.index = two.index, one.index
    one.price, two.price = two.price, one.price

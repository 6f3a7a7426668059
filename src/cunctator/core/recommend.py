"""The incumbent, which is the answer at any moment: whom to recommend.

With a ladder it is the best by pair (`climbing.py`). A search with a guide looks at hundreds of
configurations on a few pairs each, and the luckiest of these looks better than the default even if
none is. So there the default is the answer until another one is ahead of it, over the same pairs,
by a good part of what the luckiest of so many would be (`answered`); when a budget is being
closed both are run to the end, and that decides. The rest is for profiles without a ladder.

The paper's score is the number of started runs: whoever is run most is the one that looks best.
Ties are the rule at first, and again when a finite set has been started whole, and near ties are
decided by chance. So those that have nearly as many runs as the most are compared by their means.
Means known to different caps do not compare: the slowest configuration is known to the shortest
cap, and would have the least. So they are compared up to the longest cap that all of them are
known to, the better half stays, and that is repeated, up to longer and longer caps, until one is
left. The paper's guarantee for the most started holds for all of these, with their own number of
runs.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import is_exact, mean_up_to
from cunctator.core.sentinels import NONE
from cunctator.core.state import State

LUCK = 0.45
"""Of the standard errors by which the luckiest of as many as have been looked at may be expected to
be ahead, sqrt(2 ln k): a part, since more would keep the default for a third of a budget where
others are three times as fast. It spares a search the worst of its early answers, not all of them.
(Chosen on replays of three solvers, 16 seeds each: `benchmarks/peers`.)"""

NEARLY = 0.98
"""Share of the most runs that makes a configuration eligible. 0.9 to 1 do as well early
on; ties alone would let the incumbent flip between configurations that differ by a run."""


@compiled
def recommended(state: State) -> int:
    """The index of the recommended configuration."""
    if state.now.proved != NONE:
        return int(state.now.proved)
    return int(state.now.incumbent) if state.profile.has_ladder else most_run(state)


@compiled
def answered(state: State) -> int:
    """The index of the configuration that is the answer: the recommended one, or the default."""
    index = recommended(state)
    if state.rules.guided > 0.0 and index != 0 and not _is_ahead_of_default(state, index):
        return 0
    return index


@compiled
def _is_ahead_of_default(state: State, incumbent: int) -> bool:
    """Whether the incumbent is ahead of the default by more than luck."""
    default, now = state.testers[0], state.now
    if now.closing or now.proved != NONE or (is_exact(state, 0) and is_exact(state, incumbent)):
        return True
    luck = LUCK * math.sqrt(2.0 * math.log(max(2.0, now.last_entered + 1.0)))
    return bool(default.rung != NONE and default.difference >= luck * default.deviation)


@compiled_apart
def most_run(state: State) -> int:
    """Of those that have been run nearly as often as any, the best."""
    testers, left = state.testers, state.candidates
    size, most, count = testers.size, testers[0].started, 0
    for index in range(size):
        most = max(most, testers[index].started)
    for index in range(size):
        if testers[index].started >= NEARLY * most:
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

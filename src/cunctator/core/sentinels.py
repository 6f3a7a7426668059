"""Numbers that stand where an index or a code would, all negative and all different."""

from __future__ import annotations

ASKED = -1
"""Instead of the status of an outcome: there is none yet. Journals have this number in them."""

NONE = -2
"""Instead of an index, a level or a time: there is none."""

WAIT = -3
"""Instead of a configuration: nothing can be run before a result arrives."""

FINISHED = -4
"""Instead of a configuration: the search is over."""

WIDEN = -5
"""Instead of a configuration: a pool is to be opened that is larger than the arrays."""

EXHAUSTED = -6
"""Instead of a configuration: the best of a pool is known exactly, and has nothing left to run."""

WHOLE = -7
"""Instead of an octave: runs count up to the cutoff, or whole if there is none."""

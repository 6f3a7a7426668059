"""Problems whose stream is in the order in which a test writes its runtimes down."""

from __future__ import annotations

import math

import numpy as np

from cunctator.recorded.table import make_table
from cunctator.siblings.problem import Problem
from cunctator.target.instances import shuffled


def problem_of(in_stream_order, cutoff=10.0, budget=math.inf, seed=7, resample=False):
    """Position j of the stream has the runtimes of column j."""
    wanted = np.asarray(in_stream_order, dtype=float)
    runtimes = np.empty_like(wanted)
    runtimes[:, shuffled(wanted.shape[1], seed)] = wanted
    return Problem(make_table(runtimes), 0.5, cutoff, budget, seed, resample)

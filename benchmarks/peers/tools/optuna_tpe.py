"""Optuna's TPE with the pruner that it has for means over instances.

As its documentation of the `WilcoxonPruner` advises: a trial runs instance after instance, in an
order of its own, reports each runtime, and if it is pruned, returns the mean of what it has. All
trials are over the same few instances, since to run all would leave time for few trials. Beyond
what Optuna does, a trial ends when it has used what the best needed for all of its instances: then
it is worse for sure.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import optuna

from cunctator.space.parameters import LISTED, Parameter, Value, text_of
from cunctator.target.instances import shuffled
from peers.plain import Conditional, plain
from peers.problem import Account, BudgetSpent, Values

INSTANCES = 50
"""Of a trial."""

P_THRESHOLD = 0.1
"""Of the pruner, as in its documentation."""

EPSILON = 1e-9


class Search:
    """The objective function, and the best so far."""

    def __init__(self, account: Account, seed: int) -> None:
        self._account = account
        self._parameters = plain(account.space)
        self._instances = shuffled(account.train, seed)[:INSTANCES]
        self._random = np.random.default_rng([seed, 1])
        self._best = float("inf")

    def objective(self, trial: optuna.Trial) -> float:
        """The mean of a configuration over the instances, or over those it has been run on."""
        values = self._account.space.checked(_suggested(trial, self._parameters))
        total, count = 0.0, len(self._instances)
        for done, instance in enumerate(self._random.permutation(self._instances), 1):
            left = self._best * count * (1 + EPSILON) - total
            made = self._account.run(values, int(instance), left)
            total += made.counts
            if total > self._best * count:
                return total / done
            trial.report(made.counts, int(instance))
            if done < count and trial.should_prune():
                return total / done
        self._best = total / count
        self._account.note(values)
        return self._best


def _suggested(trial: optuna.Trial, parameters: list[Conditional]) -> Values:
    """A configuration, active parameters only."""
    values: dict[str, Value] = {}
    for one in parameters:
        if one.is_active(values):
            values[one.parameter.name] = _suggest(trial, one.parameter)
    return values


def _suggest(trial: optuna.Trial, parameter: Parameter) -> Value:
    name, log = parameter.name, parameter.log
    if parameter.kind == "integer":
        return int(trial.suggest_int(name, int(parameter.low), int(parameter.high), log=log))
    if parameter.kind == "real":
        return float(trial.suggest_float(name, parameter.low, parameter.high, log=log))
    last = len(parameter.values) - 1
    if parameter.kind == "ordinal":  # it has no ordinals but numbers
        return parameter.values[int(trial.suggest_int(name, 0, last))]
    return parameter.values[int(trial.suggest_categorical(name, list(range(last + 1))))]


def default_of(account: Account) -> dict[str, Value]:
    """The default, as a trial is given it."""
    found: dict[str, Value] = {}
    by_name = {parameter.name: parameter for parameter in account.space.parameters}
    for name, value in account.space.default.items():
        listed = [text_of(member) for member in by_name[name].values]
        found[name] = listed.index(text_of(value)) if by_name[name].kind in LISTED else value
    return found


def search(account: Account, seed: int, folder: Path) -> None:
    """Until the budget is spent; the default is the first trial."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=seed),
            pruner=optuna.pruners.WilcoxonPruner(p_threshold=P_THRESHOLD),
        )
        study.enqueue_trial(default_of(account))
        own = Search(account, seed)
        try:
            while account.left > 0.0:
                study.optimize(own.objective, n_trials=1, catch=())
        except BudgetSpent:
            return

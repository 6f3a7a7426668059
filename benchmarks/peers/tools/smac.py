"""SMAC3's facade for algorithm configuration, with its adaptive capping.

It minimises the mean of runtimes over instances, each with one seed. Its `runtime_cutoff` is of a
configuration's runs all together, and so large here that only the part of it which depends on the
incumbent matters; the cutoff of a run is ours. Instances have no features. (To give each its number
instead, which SMAC's documentation advises, makes the search five times as slow, and says nothing.)
"""

from __future__ import annotations

import logging
import math
import warnings
from contextlib import suppress
from pathlib import Path

from ConfigSpace import (
    AndConjunction,
    CategoricalHyperparameter,
    Configuration,
    ConfigurationSpace,
    InCondition,
    OrdinalHyperparameter,
    UniformFloatHyperparameter,
    UniformIntegerHyperparameter,
)
from smac import AlgorithmConfigurationFacade, Scenario
from smac.model.random_forest import RandomForest
from smac.runhistory import TrialValue

from cunctator.base.errors import CunctatorError
from cunctator.space.parameters import LISTED, Parameter, Value, text_of
from cunctator.space.space import Space
from peers.plain import Conditional, plain
from peers.problem import Account, BudgetSpent, Values

SLACK = 1.2
"""Capping at so many times what the incumbent needed: the default when SMAC3 had one."""

MOST_TRIALS = 10**7
"""No limit: the account has one."""

MOST_LEAVES = 2**14
"""More than there are trials in a search."""


class Names:
    """Our space in its words: values of a list are their places in it."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        self._by_name = {parameter.name: parameter for parameter in space.parameters}
        self.space = ConfigurationSpace(seed=seed)
        everything = plain(space)
        for one in everything:
            self.space.add(_hyperparameter(one.parameter))
        for one in everything:
            if one.conditions:
                self.space.add(self._condition(one))

    def values(self, configuration: Configuration) -> Values:
        """A configuration of ours."""
        given = dict(configuration)
        return self._space.checked(
            {name: _value(self._by_name[name], given[name]) for name in given}
        )

    def _condition(self, one: Conditional) -> InCondition | AndConjunction:
        child = self.space[one.parameter.name]
        parts = []
        for condition in one.conditions:
            if not condition.among:
                raise CunctatorError(f"{one.parameter.name}: a number decides; not translated")
            values = self._by_name[condition.parent].values
            places = [p for p, value in enumerate(values) if text_of(value) in condition.among]
            parts.append(InCondition(child, self.space[condition.parent], places))
        return parts[0] if len(parts) == 1 else AndConjunction(*parts)


def _hyperparameter(
    parameter: Parameter,
) -> (
    CategoricalHyperparameter
    | OrdinalHyperparameter
    | UniformIntegerHyperparameter
    | UniformFloatHyperparameter
):
    name = parameter.name
    if parameter.kind in LISTED:
        places = list(range(len(parameter.values)))
        place = [text_of(value) for value in parameter.values].index(text_of(parameter.default))
        if parameter.kind == "ordinal":
            return OrdinalHyperparameter(name, places, default_value=place)
        return CategoricalHyperparameter(name, places, default_value=place)
    default = float(parameter.default)
    if parameter.kind == "integer":
        low, high = int(parameter.low), int(parameter.high)
        return UniformIntegerHyperparameter(name, low, high, int(default), log=parameter.log)
    return UniformFloatHyperparameter(
        name, parameter.low, parameter.high, default, log=parameter.log
    )


def _value(parameter: Parameter, given: int | float) -> Value:
    if parameter.kind in LISTED:
        return parameter.values[int(given)]
    number = min(max(float(given), parameter.low), parameter.high)
    return int(number) if parameter.kind == "integer" else number


def search(account: Account, seed: int, folder: Path) -> None:
    """Until the budget is spent."""
    names = Names(account.space, seed)
    scenario = Scenario(
        names.space,
        name="peers",
        output_directory=folder,
        deterministic=True,
        n_trials=MOST_TRIALS,
        instances=[str(number) for number in range(account.train)],
        adaptive_capping=True,
        adaptive_capping_slackfactor=SLACK,
        runtime_cutoff=math.ceil((account.train + 1) * account.cutoff),
        seed=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        facade = AlgorithmConfigurationFacade(
            scenario, _never, model=forest(scenario), logging_level=logging.ERROR, overwrite=True
        )
        with suppress(BudgetSpent, StopIteration):
            while True:
                _step(facade, account, names)


def _step(facade: AlgorithmConfigurationFacade, account: Account, names: Names) -> None:
    """One trial. A run that is capped costs what it was given, as SMAC's documentation has it."""
    trial = facade.ask()
    cap = float((trial.additional_info or {}).get("cutoff", account.cutoff))
    cost = account.cutoff  # without a run if it has lost already
    if cap > 0.0:
        cost = account.run(names.values(trial.config), int(trial.instance or 0), cap).counts
    facade.tell(trial, TrialValue(cost=cost), save=False)
    incumbents = facade.intensifier.get_incumbents()
    if incumbents:
        account.note(names.values(incumbents[0]))


def _never(config: Configuration, instance: str, seed: int, cutoff: float) -> float:
    """SMAC wants a function; it is asked and told instead."""
    raise NotImplementedError


def forest(scenario: Scenario) -> RandomForest:
    """The facade's own, to the tree, without room for a million leaves and threads to wait for."""
    return RandomForest(
        scenario.configspace,
        n_trees=10,
        ratio_features=5.0 / 6.0,
        min_samples_split=3,
        min_samples_leaf=3,
        max_depth=20,
        max_leaf_nodes=MOST_LEAVES,
        bootstrapping=True,
        log_y=False,
        pca_components=4,
        n_jobs=1,
        seed=scenario.seed,
    )

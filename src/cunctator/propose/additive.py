"""A model of the space: each parameter has its effect, some two together, most none to speak of.

Bayesian linear regression on `columns.py`, with a relevance for each parameter that is learned from
the data by expectation and maximisation: the prior variance of its weights. Of dozens of parameters
a handful usually matters, and the others are soon left alone. What the model cannot say of a
configuration (products of three, ruggedness) is one more random number for each, whose variance is
learned as well. A few milliseconds for a thousand configurations, no dependency beyond NumPy, and
an honest posterior to draw from, which is what proposals are made with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cunctator.propose.columns import Columns, Numbers

ROUNDS = 12
FIRST_RELEVANCE, PRODUCT_RELEVANCE = 0.05, 0.005
LITTLE = 0.01
"""Each relevance is learned as if one more weight with this square had been seen."""

CONSTANT = 4.0
"""Prior variance of the constant column."""

LEAST_OWN, MOST_OWN = 0.01, 0.5
"""Of the variance of what is a configuration's own."""

PRODUCTS_OF = 5
"""The most relevant parameters, so many, have products with each other ..."""

FEWEST_FOR_PRODUCTS = 60
"""... once there are so many configurations."""


@dataclass(frozen=True, slots=True)
class Model:
    """What has been learned."""

    columns: Columns
    products: tuple[tuple[int, int], ...]
    middle: float
    weights: Numbers
    covariance: Numbers
    root: Numbers
    """Of the covariance: its product with its transpose."""
    own: float
    """The variance of what is a configuration's own."""
    relevance: Numbers
    """Of each parameter, alone."""

    def matrix(self, positions: Numbers) -> Numbers:
        """The columns that the weights are for."""
        return self.columns.matrix(positions, self.products)

    def predict(self, positions: Numbers) -> tuple[Numbers, Numbers]:
        """Means and variances, without what is a configuration's own."""
        rows = self.matrix(positions)
        return self.middle + rows @ self.weights, ((rows @ self.covariance) * rows).sum(axis=1)

    def drawn(self, random: np.random.Generator) -> Numbers:
        """Weights as they may be, given what has been seen."""
        found: Numbers = self.weights + self.root @ random.standard_normal(self.weights.size)
        return found


def fit(columns: Columns, positions: Numbers, means: Numbers, variances: Numbers) -> Model:
    """Learn from what configurations took on average, in logarithms, known to these variances."""
    model = _fit(columns, positions, means, variances, ())
    if len(means) <= FEWEST_FOR_PRODUCTS:
        return model
    best = np.argsort(-model.relevance, kind="stable")[:PRODUCTS_OF].tolist()
    products = tuple((one, other) for at, one in enumerate(best) for other in best[at + 1 :])
    return _fit(columns, positions, means, variances, products)


def _fit(
    columns: Columns,
    positions: Numbers,
    means: Numbers,
    variances: Numbers,
    products: tuple[tuple[int, int], ...],
) -> Model:
    rows, blocks = columns.matrix(positions, products), columns.blocks(products)
    relevance = np.array(
        [FIRST_RELEVANCE if len(block.parameters) == 1 else PRODUCT_RELEVANCE for block in blocks]
    )
    own = FIRST_RELEVANCE
    middle = float(np.average(means, weights=1.0 / (variances + own)))
    prior = np.full(rows.shape[1], CONSTANT)
    for _ in range(ROUNDS):
        for block, relevant in zip(blocks, relevance.tolist(), strict=True):
            prior[block.columns] = relevant * block.scales
        weighted = rows / (variances + own)[:, None]
        precision = weighted.T @ rows + np.diag(1.0 / np.maximum(prior, 1e-8))
        covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        weights = covariance @ (weighted.T @ (means - middle))
        squares = weights**2 + np.diag(covariance)
        for place, block in enumerate(blocks):
            sizes = squares[block.columns] / block.scales
            relevance[place] = (LITTLE + sizes.sum()) / (sizes.size + 1.0)
        own = _own(means - middle - rows @ weights, variances, own, rows, covariance)
    root = np.asarray(np.linalg.cholesky(covariance + 1e-10 * np.eye(weights.size)))
    alone = relevance[: positions.shape[1]]
    return Model(columns, products, middle, weights, covariance, root, own, alone)


def _own(
    left: Numbers, variances: Numbers, own: float, rows: Numbers, covariance: Numbers
) -> float:
    """The variance of what is a configuration's own, a step nearer to what fits best."""
    uncertain = ((rows @ covariance) * rows).sum(axis=1)
    known = 1.0 / (1.0 / own + 1.0 / variances)
    share = own / (own + variances)
    found = np.mean((known * left / variances) ** 2 + known + share**2 * uncertain)
    return float(min(max(found, LEAST_OWN), MOST_OWN))

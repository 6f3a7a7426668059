"""Expressions over parameters: conditions, forbidden combinations, bounds that depend on others.

A small language of our own, so that nothing of an input file is ever evaluated by Python or R.
Other tools' notations are read into the same trees; `text_of_expression` writes ours.
"""

from __future__ import annotations

from cunctator.space.expressions.evaluation import Evaluator, evaluator
from cunctator.space.expressions.parser import ExpressionError, parse_expression
from cunctator.space.expressions.syntax import (
    Call,
    Constant,
    Expression,
    Member,
    Name,
    Operation,
    all_of,
    any_of,
    names_in,
    text_of_expression,
)

__all__ = [
    "Call",
    "Constant",
    "Evaluator",
    "Expression",
    "ExpressionError",
    "Member",
    "Name",
    "Operation",
    "all_of",
    "any_of",
    "evaluator",
    "names_in",
    "parse_expression",
    "text_of_expression",
]

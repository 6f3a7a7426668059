"""YAML that may come from anywhere: plain data, and no more of it than its text.

A few characters can stand for more than fits into any memory, nest until the process dies, or keep
it busy for ever.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import yaml

from cunctator.base.errors import one_line

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML may be built without its part in C
    from yaml import SafeLoader  # type: ignore[assignment]

MOST_ITEMS, DEEPEST = 1_000_000, 50
"""Of the data: a few characters of YAML can stand for more than fits into any memory."""
LONGEST_NUMBER = 1000
"""Characters: YAML reads 1:30 as 90, in a time that grows with the square of the length."""
YAML_TAG = "tag:yaml.org,2002:"


class TooMuch(ValueError):
    """The data is larger than any space, or seems so."""

    def __init__(self, problem: str, fix: str, line: int | None = None) -> None:
        self.problem = problem
        self.fix = fix
        self.line = line
        super().__init__(problem)


class _Loader(SafeLoader):
    """YAML without objects, whose every error is a YAMLError with its line."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        is_long = isinstance(node, yaml.ScalarNode) and len(node.value) > LONGEST_NUMBER
        if is_long and node.tag in (YAML_TAG + "int", YAML_TAG + "float"):
            raise _not_of_its_type(node)
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # What PyYAML stumbles over if a tag is put before a text that does not fit it.
            raise _not_of_its_type(node) from None


def _tuple(loader: _Loader, node: Any) -> Any:
    """ConfigSpace writes the values of ForbiddenInClause so."""
    return loader.construct_yaml_seq(node)


_Loader.add_constructor(YAML_TAG + "python/tuple", _tuple)


def _not_of_its_type(node: yaml.Node) -> yaml.YAMLError:
    kind = node.tag.removeprefix(YAML_TAG)
    problem = f"{one_line(str(node.value), 50)!r} cannot be read as {kind}"
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def read_yaml(text: str) -> Any:
    """YAML without objects; raises ValueError."""
    try:
        _refuse_too_much(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader with lists added
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


@dataclasses.dataclass(slots=True)
class _Weight:
    """What a part of the YAML comes to if every reference in it is written out."""

    items: int = 1
    height: int = 0
    is_open: bool = False

    def add(self, other: _Weight) -> None:
        self.items += other.items
        self.height = max(self.height, other.height + 1)


def _refuse_too_much(text: str) -> None:
    """Raise TooMuch before anything is built of the text.

    To build it, the loader calls itself for each level, in C, until the process dies. Its events
    come one by one.
    """
    around, anchors = [_Weight()], dict[str | None, _Weight]()
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.CollectionEndEvent):
            done = around.pop()
            done.is_open = False
            around[-1].add(done)
        elif isinstance(event, yaml.NodeEvent):
            _refuse_merging(event, line)
            one = _weight(event, anchors)
            if one.is_open and isinstance(event, yaml.AliasEvent):
                raise TooMuch(f"*{event.anchor} is within itself", "write it out", line)
            if len(around) - 1 + one.height > DEEPEST:
                problem = f"nested too deeply: more than {DEEPEST} levels"
                raise TooMuch(problem, "write it flat", line)
            if one.is_open:
                around.append(one)
            else:
                around[-1].add(one)
        if around[-1].items > MOST_ITEMS:
            raise TooMuch("it holds too much", "write it without references", line)


def _weight(event: yaml.NodeEvent, anchors: dict[str | None, _Weight]) -> _Weight:
    """Of a reference, what it refers to; the loader complains if that is nothing."""
    if isinstance(event, yaml.AliasEvent):
        return anchors.get(event.anchor, _Weight())
    one = _Weight(is_open=isinstance(event, yaml.CollectionStartEvent))
    if event.anchor is not None:
        anchors[event.anchor] = one
    return one


def _refuse_merging(event: yaml.NodeEvent, line: int | None) -> None:
    """PyYAML copies what is merged, so that few characters make it busy for ever."""
    is_key = isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value == "<<"
    if is_key or getattr(event, "tag", None) == YAML_TAG + "merge":
        raise TooMuch("<< (a merge key) is not read", "write out what it stands for", line)

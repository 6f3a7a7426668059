"""A comparison as files: every job as CSV and JSON, the summary as Markdown and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from contextlib import suppress
from dataclasses import asdict
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cunctator.base.errors import StudyProblem
from cunctator.comparison.results_file import WRITTEN
from cunctator.comparison.running import Comparison
from cunctator.comparison.summary import (
    SHARES,
    excess,
    incumbents_of,
    settled,
    summary_lines,
    true_means,
)
from cunctator.show.comparison import (
    HOW_TO_READ,
    conditions_in_words,
    markdown_table,
    sentences,
)
from cunctator.siblings.method import CHARGES, Method
from cunctator.siblings.registry import METHODS

WITHIN = {share: f"within_{100 * share:g}_percent" for share in SHARES}

COLUMNS = (
    "method",
    "settings",
    "epsilon",
    "delta",
    "seed",
    "answer",
    "configuration",
    "mean",
    "excess",
    "first_answer",
    *WITHIN.values(),
    "charged",
    "steps",
    "seconds",
    "stop",
    "claim",
    "error",
)


def write_files(comparison: Comparison, folder: Path) -> None:
    """Write all of them; files that exist are replaced whole."""
    rows = io.StringIO(newline="")
    writer = csv.DictWriter(rows, COLUMNS)
    writer.writeheader()
    writer.writerows(job_rows(comparison))
    data = json.dumps(as_data(comparison), indent=1) + "\n"
    texts = (rows.getvalue(), data, _markdown(comparison))
    for name, text in zip(WRITTEN, texts, strict=True):
        _write(folder / name, text)


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(text.encode(errors="backslashreplace"))
        part.replace(path)
    except OSError as error:
        fix = "make room, then compare again: what was recorded is kept"
        raise StudyProblem(path, f"cannot be written ({error.strerror})", fix) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def job_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a job; what it lacks is empty."""
    means = true_means(comparison)
    rows = []
    for record in comparison.records:
        trajectory = incumbents_of(record)
        row = {name: record.get(name, "") for name in COLUMNS}
        row["settings"] = json.dumps(record["settings"])
        # Elsewhere these words mean other things, such as a probability to be wrong.
        known = METHODS[record["method"]].grid.keys() & {"epsilon", "delta"}
        row |= {name: record["settings"].get(name, "") for name in known}
        if trajectory:
            incumbent = int(trajectory[-1][1])
            row |= {"answer": incumbent, "mean": float(means[incumbent])}
            name = comparison.table.configurations[incumbent]
            row["configuration"] = name.encode(errors="backslashreplace").decode()
            over = excess(trajectory, means)
            row |= {"excess": over if math.isfinite(over) else "", "first_answer": trajectory[0][0]}
            for share, column in WITHIN.items():
                since = settled(trajectory, means, share)
                row[column] = since if math.isfinite(since) else ""
        rows.append(row)
    return rows


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Everything, for JSON."""
    table = comparison.table
    return {
        "table": {
            "source": table.source,
            "configurations": len(table.configurations),
            "instances": len(table.instances),
            "means": true_means(comparison).tolist(),
        },
        "conditions": asdict(comparison.conditions),
        "version": version("cunctator"),
        "methods": {name: _about(METHODS[name]) for name in _names(comparison)},
        "summary": [_finite(asdict(line)) for line in summary_lines(comparison)],
        "sentences": sentences(comparison),
        "jobs": comparison.records,
    }


def _names(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(record["method"] for record in comparison.records))


def _about(method: Method) -> dict[str, str]:
    """What a method guarantees, what it charges and when it stops, in words."""
    return {
        "title": method.title,
        "guarantee": method.guarantee,
        "charges": CHARGES[method.charges],
        "stops": method.stops,
    }


def _finite(data: Any) -> Any:
    """JSON has no infinity: what was never reached is null."""
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _markdown(comparison: Comparison) -> str:
    # Names of configurations may be anything: as HTML they would be part of the page.
    said = "\n".join(f"- {escape(sentence, quote=False)}" for sentence in sentences(comparison))
    abouts = [_about(METHODS[name]) for name in _names(comparison)]
    about = "\n".join(
        f"- {one['title']}: {one['guarantee']}; {one['charges']}; it ends {one['stops']}."
        for one in abouts
    )
    head = escape(conditions_in_words(comparison), quote=False)
    return f"{head}\n\n{markdown_table(comparison)}\n\n{HOW_TO_READ}\n\n{said}\n\n{about}\n"

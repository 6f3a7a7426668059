from __future__ import annotations

import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.base.units import format_duration, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("250ms", 0.25), ("90s", 90), ("15m", 900), ("2h", 7200), ("3d", 259200), ("1.5 H", 5400),
     ("30", 30), ("1e3s", 1000), (" .5s ", 0.5), ("2m30s", 150), ("1h30m", 5400),
     ("1d12h", 129600), (" 1m 30s ", 90), ("1 min 500 ms", 60.5), ("1d2h3m4s5ms", 93784.005)],
)  # fmt: skip
def test_parse(text, seconds):
    assert parse_duration(text, "--budget") == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "-3s", "3 weeks", "1..2s", "nan", "inf", "1e999999x"])
def test_refused(text):
    with pytest.raises(InvalidSetting, match=r"--budget is .*expected a time such as"):
        parse_duration(text, "--budget")


@pytest.mark.parametrize(
    ("text", "why"),
    [("2m30", "30 has no unit"), ("30 2m", "30 has no unit"), ("30s2m", "largest unit first"),
     ("1m1min", "each once"), ("2h2h", "each once"), ("2m30x", "such as"), ("2m30s,", "such as"),
     ("2m-30s", "such as")],
)  # fmt: skip
def test_compound_refused(text, why):
    with pytest.raises(InvalidSetting, match=rf"--budget is .*{why}"):
        parse_duration(text, "--budget")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.0123, "12.3 ms"), (0.9994, "999 ms"), (0.9996, "1 s"), (1.5, "1.5 s"),
     (119, "119 s"), (600, "10 min"), (7200, "2 h"), (864000, "10 d"), (1e8, "1,157 d")],
)  # fmt: skip
def test_format(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2 * 10**9), ("512 MiB", 2**29), ("1.5kb", 1500), ("100B", 100), ("1TiB", 2**40)],
)
def test_sizes(text, size):
    assert parse_size(text, "memory") == size


@pytest.mark.parametrize("text", ["", "2", "GB", "-1GB", "2 gigabytes", "1e3MB", "2IB", "9" * 99])
def test_sizes_refused(text):
    with pytest.raises(InvalidSetting, match=r"memory is .*expected a size with its unit"):
        parse_size(text, "memory")

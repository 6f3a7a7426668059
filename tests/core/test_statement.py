"""Certificates in words: nothing beyond what they say."""

from __future__ import annotations

import dataclasses
import math

import pytest

from cunctator.core.certificate import Certificate, Point
from cunctator.core.statement import as_data, counting_note, headline, versus_default

CERTIFICATE = Certificate(
    confidence=0.95,
    incumbent=1,
    points=(Point(0.1, 0.2, 4.0),),
    optimal=False,
    versus_default=(1.0, 2.0),
)


def changed(**changes):
    return dataclasses.replace(CERTIFICATE, **changes)


def test_of_all_configurations():
    said = headline(CERTIFICATE)
    assert "no other configuration is more than 20% faster on average" in said
    assert "when at most 10% of this one's runs are cut off at 4 s" in said


def test_of_those_looked_at():
    said = headline(changed(looked_at=2, gamma=0.995))
    assert "no other of the 2 configurations looked at is more than 20% faster" in said
    assert "of all" not in said, "one draw says nothing of the rest"
    said = headline(changed(looked_at=100, gamma=0.0521))
    assert "no other of the 100 configurations looked at is more" in said
    assert "nor are more than 5.3% of all, by the sampling distribution" in said
    assert "nothing to compare" in headline(changed(looked_at=1, gamma=1.0))
    assert as_data(changed(looked_at=2, gamma=0.995))["looked_at"] == 2


def test_of_pools():
    said = headline(changed(gamma=0.0521))
    assert "less than 5.3% of all configurations, by the sampling distribution, are more" in said
    assert "nothing can be certified" in headline(changed(gamma=0.6))


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (
            (1.2351, 1.2359),
            "With 95% confidence, the answer is between 1.23 and 1.24 times as fast",
        ),
        ((2.0, 2.0), "The answer is 2 times as fast as the default over the dist"),
        ((0.9994, 0.9999), "the answer is between 0.999 and 1 times as fast"),
        ((1.239, 5.0), "the answer is at least 1.23 and at most 5 times as fast as the default"),
        ((1.001, 5.001), "the answer is at least 1 and at most 5.01 times as fast"),
        ((1.001, math.inf), "the answer is at least as fast as the default"),
        ((0.5, 1.2), "which does not yet show which is faster"),
        ((0.05, 1.2), "is not certified yet"),
        ((math.inf, math.inf), "The default has crashed"),
    ],
)
def test_ratios_are_never_rounded_beyond_their_bounds(bounds, words):
    assert words in versus_default(changed(versus_default=bounds))


def test_every_sentence_says_what_it_is_about():
    for say in (headline, versus_default):
        assert "over the distribution of instances" in say(CERTIFICATE)
        assert "on these 200 instances" in say(changed(instances=200))
        for pairs, seeds, words in (
            (200, 1, "on these 200 instances with one seed each"),
            (200, 20, "on these 10 instances with 20 seeds each"),
            (200, 200, "on this 1 instance with 200 seeds"),
        ):
            assert words in say(changed(instances=pairs, seeds=seeds))
        assert "on this 1 instance" in say(changed(instances=1))
        assert say(CERTIFICATE).startswith("With 95% confidence, ")


def test_what_was_measured_is_known_as_measured():
    exact = changed(versus_default=(1.5, 1.5), instances=200)
    assert versus_default(exact) == (
        "The answer is 1.5 times as fast as the default on these 200 instances."
    )
    assert versus_default(dataclasses.replace(exact, measured=True)).startswith(
        "By the times that were measured, the answer is 1.5 times as fast"
    )


def test_the_speed_up_is_part_of_the_data():
    said = as_data(CERTIFICATE)["versus_default"]
    assert said == {"lower": 1.0, "upper": 2.0, "headline": versus_default(CERTIFICATE)}


def test_what_runs_count_as():
    assert counting_note(CERTIFICATE) == ""
    said = counting_note(changed(floor=0.1, cutoff=5.0))
    assert "runs shorter than 100 ms count as 100 ms" in said
    assert "runs that reach the cutoff of 5 s or crash count as 5 s." in said


def test_what_timeouts_count_as():
    certificate = changed(cutoff=5.0, penalty=10.0)
    assert "or crash count as 50 s (10 times the cutoff)." in counting_note(certificate)
    said = as_data(certificate)
    assert (said["cutoff"], said["penalty"], as_data(CERTIFICATE)["penalty"]) == (5.0, 10.0, 1.0)
    # Cut off sooner, they are no timeouts, which would change what the claim is about.
    assert headline(certificate).endswith("are cut off at 4 s and count as that.")
    assert headline(CERTIFICATE).endswith("are cut off at 4 s.")

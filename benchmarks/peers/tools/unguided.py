"""Cunctator without its guide: random draws alone. For what the guide gives, in `docs/peers.md`."""

from __future__ import annotations

from pathlib import Path

from peers.problem import Account
from peers.tools.cunctator_tool import Study


def search(account: Account, seed: int, folder: Path) -> None:
    """A whole study with `guide = false`, on a real problem too in the account's time."""
    Study(account, account.seeded_space(seed), seed, share=0.0).run()

"""The configurators, one file each: `search(account, seed, folder)` until the budget is spent."""

"""Where configurations come from that are no random draws: a guide that learns from results.

Pure, like the core: a plan is a function of what has been seen, and of a seed. `evidence.py` tells
configurations apart from instances, `columns.py` makes numbers of configurations, `additive.py` is
the model, and `guide.py` plans what to look at next.
"""

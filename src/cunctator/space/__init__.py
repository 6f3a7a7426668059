"""The space of configurations: parameters, conditions, expressions over them."""

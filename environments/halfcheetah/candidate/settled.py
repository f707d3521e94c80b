"""Where XLA is to write down what it has computed."""

import jax
from jax.experimental.xla_metadata import set_xla_metadata

_same = jax.jit(lambda values: values)


def settled(values):
    """The same values, which whatever uses them reads.

    XLA would rather compute a product or a sum once more in each place that uses it. Along a leg that doubles with every
    link. It does not look into a function that it may not inline, so a value that goes through one is computed once.
    """
    with set_xla_metadata(inlineable="false"):
        return _same(values)

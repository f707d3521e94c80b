"""Names in earlier records: what they are called now. Whoever reads a record asks here, and nobody else knows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEYS = {"summary": "told"}
CHECKS = {"in lanes, as for training": "in a vector environment, as for training"}


def read(document: Mapping[str, Any], key: str) -> Any:
    """A value of a recorded document, by its current name or its former one; None where it has neither."""
    return document.get(key, document.get(KEYS.get(key, key)))

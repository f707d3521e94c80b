"""What tokens cost: the table that comes with Lockstep, and before it the entries of a person's own."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness.errors import LockstepError
from harness.session.usage.tokens import Tokens
from harness.support.foreign import toml_of
from harness.support.home import lockstep_home
from harness.support.toml_lines import key_lines, line_of

PRICES_FILE = "prices.toml"
SHIPPED = Path(__file__).parent / PRICES_FILE
_RATES = ("input", "output", "cache_read", "cache_write", "cache_write_long")
_AT_LINE = re.compile(r"at line (\d+)")


@dataclass(frozen=True)
class Rates:
    """Dollars for a million tokens of each kind."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_long: float

    def cost(self, tokens: Tokens) -> float:
        """Dollars."""
        rates = (self.input, self.output, self.cache_read, self.cache_write, self.cache_write_long)
        return math.fsum(rate * count for rate, count in zip(rates, tokens.parts, strict=True)) / 1e6


@dataclass(frozen=True)
class Price:
    """One entry: the models that it is for, their rates, and those of responses whose prompt is longer than `above`."""

    pattern: str
    rates: Rates
    above: int | None = None
    long: Rates | None = None

    def cost(self, tokens: Tokens) -> float:
        """Dollars for one response."""
        is_long = self.long is not None and self.above is not None and tokens.prompt > self.above
        return (self.long if is_long and self.long else self.rates).cost(tokens)


@dataclass(frozen=True)
class PriceTable:
    """Entries in the order in which they are asked."""

    prices: Sequence[Price]

    def cost(self, model: str, tokens: Tokens) -> float | None:
        """Dollars for one response of a model; None for a model without a price, which is not to be guessed."""
        name = model.rpartition("/")[2].removesuffix("[1m]")
        price = next((price for price in self.prices if fnmatchcase(name, price.pattern)), None)
        return None if price is None else price.cost(tokens)


def price_table(home: Path | None = None) -> PriceTable:
    """The prices in force: those of `<home>/prices.toml`, where there is one, before those that come with Lockstep.

    Raises:
        LockstepError: a person's own file is malformed; the message names the line.
    """
    own = own_prices(home)
    mine = read_prices(own) if own.is_file() else ()
    return PriceTable((*mine, *read_prices(SHIPPED)))


def own_prices(home: Path | None = None) -> Path:
    """Where a person's own prices are, or would be."""
    return (home or lockstep_home()) / PRICES_FILE


def copy_prices(home: Path | None = None) -> tuple[Path, bool]:
    """Put the shipped table where a person can edit it. Returns the place, and False where one is there already."""
    location = own_prices(home)
    try:
        with location.open("x", encoding="utf-8") as file:
            file.write(SHIPPED.read_text(encoding="utf-8"))
    except FileExistsError:
        return location, False
    except OSError as error:
        raise LockstepError(f"the prices cannot be written ({error.strerror})", where=str(location)) from error
    return location, True


def read_prices(path: Path) -> tuple[Price, ...]:
    """The entries of a file.

    Raises:
        LockstepError: it is malformed; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = toml_of(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT_LINE.search(str(error))
        raise _malformed(path, int(at[1]) if at else 1, str(error)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise _malformed(path, 1, str(error)) from None
    lines = key_lines(text)
    if document.get("schema") != 1:
        raise _malformed(path, line_of(lines, ("schema",)), "`schema` is not 1")
    models = document.get("models", [])
    if not isinstance(models, list):
        raise _malformed(path, line_of(lines, ("models",)), "`models` is not an array of tables")
    prices = []
    for number, entry in enumerate(models):
        try:
            prices.append(_price(entry))
        except (ValueError, TypeError, AttributeError) as error:
            raise _malformed(path, line_of(lines, ("models", number)), str(error)) from None
    return tuple(prices)


def _price(entry: Mapping[str, Any]) -> Price:
    if unknown := set(entry) - {"pattern", "long", *_RATES}:
        raise ValueError(f"`{min(unknown)}` is nothing that a price has")
    pattern, long = entry.get("pattern"), entry.get("long")
    if not isinstance(pattern, str) or not pattern:
        raise ValueError("`pattern` is not a name of models")
    if long is None:
        return Price(pattern, _rates(entry))
    above = long.get("above")
    if not isinstance(above, int) or above < 1 or set(long) - {"above", *_RATES}:
        raise ValueError("`long` needs `above`, a count of tokens, and the prices")
    return Price(pattern, _rates(entry), above, _rates(long))


def _rates(entry: Mapping[str, Any]) -> Rates:
    given = {name: entry[name] for name in _RATES if name in entry}
    for name, rate in given.items():
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate < math.inf:
            raise ValueError(f"`{name}` is {rate!r}, not dollars for a million tokens")
    for name in ("input", "output"):
        if name not in given:
            raise ValueError(f"`{name}` is missing")
    write = given.get("cache_write", given["input"])
    return Rates(
        given["input"],
        given["output"],
        given.get("cache_read", given["input"]),
        write,
        given.get("cache_write_long", write),
    )


def _malformed(path: Path, line: int, what: str) -> LockstepError:
    return LockstepError(
        f"the price table is malformed: {what}",
        where=f"{path}:{line}",
        expected="`schema = 1` and tables [[models]] with pattern, input and output, in dollars for a million tokens",
        next_step="correct that line, or remove the file: the table that comes with Lockstep is then in force",
    )

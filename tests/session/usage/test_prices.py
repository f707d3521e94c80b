"""Prices: what comes with Lockstep, what a person changes, and what has none."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from harness.errors import LockstepError
from harness.session.usage.prices import SHIPPED, copy_prices, price_table, read_prices
from harness.session.usage.tokens import Tokens
from tests.session.usage.conftest import PRICES

MILLION = Tokens(1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000)


def test_the_shipped_table_is_whole_and_says_when_it_was_collected(tmp_path: Path) -> None:
    assert isinstance(tomllib.loads(SHIPPED.read_text())["collected"], date)
    prices = read_prices(SHIPPED)
    assert len(prices) > 10
    for price in prices:
        assert 0 < price.rates.cache_read <= price.rates.input < price.rates.output, price.pattern
        assert price.rates.input <= price.rates.cache_write <= price.rates.cache_write_long


@pytest.mark.parametrize(
    ("model", "input_price"),
    [
        ("claude-opus-4-1-20250805", 15.0),
        ("claude-opus-4-5-20251101", 5.0),
        ("claude-opus-5-5", 4.0),
        ("claude-opus-5-5[1m]", 4.0),
        ("anthropic/claude-sonnet-5", 2.0),
        ("claude-fable-5", 10.0),
        ("gpt-5-codex", 1.25),
        ("gpt-6.1-sol", 2.0),
    ],
)
def test_a_model_gets_the_price_of_its_own_entry(model: str, input_price: float, tmp_path: Path) -> None:
    assert price_table(tmp_path).cost(model, Tokens(input=100_000)) == pytest.approx(input_price / 10)


@pytest.mark.parametrize("model", ["", "thinker-5", "claude-opus-6", "gpt-5-codex-next", "<synthetic>"])
def test_a_model_without_a_price_has_none(model: str, tmp_path: Path) -> None:
    assert price_table(tmp_path).cost(model, MILLION) is None


def test_every_kind_of_token_has_its_own_price(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES.replace("above = 1000000", "above = 9000000"))
    assert price_table(tmp_path).cost("thinker-5", MILLION) == pytest.approx(1 + 10 + 0.1 + 2 + 4)


def test_a_long_prompt_makes_the_whole_response_dearer(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    table = price_table(tmp_path)
    assert table.cost("thinker-5", Tokens(500_000, 1_000_000, 500_000)) == pytest.approx(0.5 + 10 + 0.05)
    assert table.cost("thinker-5", Tokens(500_001, 1_000_000, 500_000)) == pytest.approx(1.0 + 20 + 0.1, rel=1e-5)


def test_what_an_entry_leaves_out_costs_as_input(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('schema = 1\n[[models]]\npattern = "m"\ninput = 3\noutput = 5\n')
    assert price_table(tmp_path).cost("m", MILLION) == pytest.approx(3 + 5 + 3 + 3 + 3)


def test_a_persons_own_entry_goes_first_and_the_others_stay(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('schema = 1\n[[models]]\npattern = "gpt-5-*"\ninput = 0\noutput = 0\n')
    table = price_table(tmp_path)
    assert table.cost("gpt-5-codex", MILLION) == 0.0
    assert table.cost("claude-opus-5-5", Tokens(input=1_000_000)) == 4.0


def test_the_table_is_copied_once_and_never_over_somebodys_own(tmp_path: Path) -> None:
    place, made = copy_prices(tmp_path)
    assert made and place.read_text() == SHIPPED.read_text()
    place.write_text(PRICES)
    assert copy_prices(tmp_path) == (place, False)
    assert place.read_text() == PRICES


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("schema = 1\nx = = 2\n", 2, "malformed"),
        ("schema = 2\n", 1, "schema"),
        ("models = []\n", 1, "schema"),
        ("schema = 1\nmodels = 3\n", 2, "array of tables"),
        ('schema = 1\n\n[[models]]\npattern = "m"\ninput = 1\n', 3, "`output` is missing"),
        ('schema = 1\n[[models]]\npattern = "m"\ninput = -1\noutput = 1\n', 2, "`input` is -1"),
        ('schema = 1\n[[models]]\npattern = "m"\ninput = nan\noutput = 1\n', 2, "`input` is nan"),
        ('schema = 1\n[[models]]\npattern = "m"\ninput = true\noutput = 1\n', 2, "`input` is True"),
        ('schema = 1\n[[models]]\npattern = "m"\ninput = 1\noutput = 1\ncached = 1\n', 2, "`cached`"),
        ("schema = 1\n[[models]]\ninput = 1\noutput = 1\n", 2, "`pattern`"),
        ('schema = 1\n[[models]]\npattern = "m"\ninput = 1\noutput = 1\nlong = {}\n', 2, "`above`"),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(text: str, line: int, what: str, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(LockstepError, match=what) as raised:
        price_table(tmp_path)
    assert raised.value.where == f"{tmp_path / 'prices.toml'}:{line}"

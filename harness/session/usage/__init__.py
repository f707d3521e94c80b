"""What an agent spends: its own reports, the transcripts that it keeps, what they cost, and for which commit."""

from harness.session.usage.account import import_transcripts, report, summary
from harness.session.usage.prices import PriceTable, copy_prices, own_prices, price_table
from harness.session.usage.tokens import Response, Tokens

__all__ = [
    "PriceTable",
    "Response",
    "Tokens",
    "copy_prices",
    "import_transcripts",
    "own_prices",
    "price_table",
    "report",
    "summary",
]

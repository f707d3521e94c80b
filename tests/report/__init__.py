"""The report: its data, its page, and what a browser makes of it."""

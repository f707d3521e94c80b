"""Measurements, side by side in one run: each module here prints a table and writes JSON to benchmarks/results/."""

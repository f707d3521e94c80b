"""Pokémon Showdown by itself, in the reference's environment: Node processes that make random turns, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

Answer = dict[str, Any]
NODE = os.path.join(sys.prefix, "bin", "node")
PACKAGES = os.path.join(sys.prefix, "npm", "node_modules")
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "battles.mjs")


class Showdown:
    """Answers the calls of a measured run (docs/profiling.md), in one process."""

    answers_batches = True
    cores = 1

    def __init__(self) -> None:
        self._nodes: list[subprocess.Popen[str]] = []

    def open(self, options: Answer) -> Answer:
        """What it can do."""
        return {"kinds": ["step"], "cores": self.cores}

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Begin the battles."""
        self.close()
        variables = {**os.environ, "NODE_PATH": PACKAGES}
        for _ in range(self.cores):
            node = subprocess.Popen(
                [NODE, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
            )
            self._nodes.append(node)
        self._make(1, batch, 1)
        return {}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Random legal choices in each battle, from where it is; a battle that is over begins anew."""
        self._make(seed, batch, length * repeats)
        return {}

    def _make(self, seed: int, batch: int, turns: int) -> None:
        share = -(-batch // len(self._nodes))
        for number, node in enumerate(self._nodes):
            assert node.stdin is not None
            node.stdin.write(f"{(seed + 7919 * number) % (1 << 31)} {share} {turns}\n")
            node.stdin.flush()
        for node in self._nodes:
            assert node.stdout is not None
            if node.stdout.readline() != "made\n":
                raise RuntimeError(f"a process of battles has ended with status {node.wait()}")

    def close(self) -> None:
        """End the processes."""
        for node in self._nodes:
            node.kill()
            node.wait()
        self._nodes = []


class ShowdownOnAllCores(Showdown):
    """The same with a process for each processor."""

    cores = len(os.sched_getaffinity(0))

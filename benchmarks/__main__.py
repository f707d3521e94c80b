"""Run all benchmarks: `python -m benchmarks [NAME]...`."""

from __future__ import annotations

import sys

from benchmarks import (
    battle_engines,
    battles,
    border_cost,
    breadth,
    cards,
    cheetahs,
    compare_speed,
    exploration_speed,
    false_alarms,
    feedback,
    gameboy_faults,
    gameboy_speed,
    hierarchy,
    level3_throughput,
    localisation,
    mcp_roundtrip,
    pong_per_core,
    pong_rust_per_core,
    profile_cost,
    record_scale,
    sandbox_cost,
    spread_work,
    trainer_peers,
    transfer_errors,
)

BENCHMARKS = {
    "battles": battles.main,
    "battle_engines": battle_engines.main,
    "border_cost": border_cost.main,
    "breadth": breadth.main,
    "cards": cards.main,
    "cheetahs": cheetahs.main,
    "compare_speed": compare_speed.main,
    "level3_throughput": level3_throughput.main,
    "feedback": feedback.main,
    "gameboy_faults": gameboy_faults.main,
    "gameboy_speed": gameboy_speed.main,
    "localisation": localisation.main,
    "exploration_speed": exploration_speed.main,
    "false_alarms": false_alarms.main,
    "hierarchy": hierarchy.main,
    "mcp_roundtrip": mcp_roundtrip.main,
    "profile_cost": profile_cost.main,
    "record_scale": record_scale.main,
    "sandbox_cost": sandbox_cost.main,
    "spread_work": spread_work.main,
    "pong_per_core": pong_per_core.main,
    "pong_rust_per_core": pong_rust_per_core.main,
    "trainer_peers": trainer_peers.main,
    "transfer_errors": transfer_errors.main,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHMARKS:
        BENCHMARKS[name]()

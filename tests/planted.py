"""Which tests plant a fault that the suite must catch. They carry the marker `planted`, so that faults can be counted:

    .venv/bin/pytest --co -q -m "planted and not nightly"

The tests of another commit, which may lie elsewhere and know no marker, are counted by

    .venv/bin/pytest --co -q | .venv/bin/python -m tests.planted
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable

PLANTED = {
    # Candidates, faces and references that are wrong, and what judges them.
    "test_mutants": "test_a_planted_fault_in_.*",
    "test_gameboy": "test_a_planted_fault_in_.*",
    "test_levels": "test_a_(candidate_that_differs|fault_of|hidden_counter)_.*|.*_and_a_wrong_one_is_caught",
    "test_bad_candidates": ".*",
    "test_transfer": "test_(a_reward_of_another_sign|a_trainer_that_learns_otherwise|gravity|a_paddle)_.*",
    "test_laws": "test_a_planted_fault_.*|test_samples_unlike_.*",
    "test_outcomes": "test_an_environment_with_one_thing_wrong_.*",
    "test_equivalence": "test_a_plain_t_interval_.*|test_2000_levels_at_the_margin_.*",
    "test_candidate": "test_a_planted_fault_.*|test_dice_that_are_loaded_.*",
    "test_faces": "test_a_planted_fault_.*",
    "test_training": "test_a_planted_fault_.*",
    "test_spotcheck": ".*_(is|are)_found.*",
    "test_suite": "test_every_invariant_is_broken_.*",
    "test_cartpole_reference": "test_every_invariant_is_broken_.*",
    "test_compare": "test_a_changed_bit_.*",
    "test_conformance": "test_a_planted_fault_.*",
    "test_bad_references": "test_(a_process|a_server|a_stream|after_a_broken|an_answer|an_environment|silence|what_is_no).*",
    "test_jax_check": "test_a_mistake_.*",
    "test_classic_control": "test_a_planted_fault_.*",
    "test_floats": "test_(what_a_candidate_keeps|a_step_that_is_further|a_wrong_flag)_.*",
    "test_readings": "test_a_(planted_misreading|die_that_is_not)_.*|test_what_the_first_reading_refuses_.*",
    "test_scenarios": "test_a_planted_fault_.*",
    "test_freeze": "test_(.*keeps?_it_from_being_frozen|what_nobody_here_signed_.*)",
    "test_requirements": "test_(what_is_met|a_feature)_.*",
    "test_occurrences": "test_what_is_no_table_.*",
    # Cheats, forgeries and records that somebody touched.
    "test_cheats": "test_a_cheat_.*",
    "test_proposed": ".*",
    "test_probes": "test_(each_occasion|a_candidate_that_waits).*",
    "test_certify": "test_each_occasion_.*",
    "test_forged": "test_a_certificate_that_claims_.*",
    "test_tampering": "test_(tampering|a_forged|a_record_that_was_moved).*",
    "test_rerun": "test_(a_harness_that_judges|a_verdict_that_was_never|a_drive_says_where).*",
    "test_keys": "test_(a_forged|every_flipped).*",
    "test_ssh_signing": "test_every_(change|flipped).*",
    "test_rotation": "test_whoever_pins_.*|test_a_kill_at_any_write_.*",
    # What strength measures: mutants, and holes in the tests.
    "test_measure": "test_(each_mutant|a_hole).*",
    "test_strength": "test_a_mutant_is_killed_.*",
    "test_detection": "test_(mutants_of_what_was_met|a_shortcut_that_counts).*",
    # Sandboxes, processes that are killed, disks that are full.
    "test_planted_faults": ".*_is_caught",
    "test_failures": "test_a_(command_that_kills|killed_supervisor).*",
    "test_crashes": "test_(a_session_survives|a_second_kill|a_full_disk).*",
    "test_keyring": "test_a_kill_at_any_write_.*",
    "test_jobs": "test_a_host_killed_at_any_write_.*",
    # The tests' own tools: each is shown a fault.
    "test_fuzz": "test_(an_undeclared|an_endless|memory_that|one_input_that).*",
    "test_assembler": "test_(a_mistake_is_reported|the_comparison_of).*",
    "test_roms": "test_a_(fault|clock_register).*",
    "test_snapshots": "test_a_template_that_lost_.*",
    "test_request": "test_a_function_that_restates_.*",
    "test_page": "test_a_template_that_did_not_escape_.*",
    "test_browser": "test_a_page_that_asked_.*",
    "test_tutorial": "test_a_changed_block_.*",
    "test_load": "test_one_mistake_.*",
    "test_docs_site": ".*_and_a_fault_in_one_stops_it",
    "test_workflows": "test_each_planted_mistake_.*",
    "test_calls_in_texts": "test_a_planted_fault_.*",
    "test_budgets": "test_(a_broken_budget|what_breaks_the_table)_.*",
    "test_demo": "test_every_fault_fits_.*",
    "test_recipe": "test_.*_is_translated.*",
}
"""For each file of tests, by its name, the tests in it as a regular expression. Files of one name have different tests."""


def is_planted(test: str) -> bool:
    """Whether a test plants a fault, by its id."""
    file, _, name = test.partition("::")
    wanted = PLANTED.get(file.rsplit("/", 1)[-1].removesuffix(".py"))
    return wanted is not None and re.fullmatch(wanted, name.split("[", 1)[0].rsplit("::", 1)[-1]) is not None


def count(tests: Iterable[str]) -> Counter[str]:
    """How many faults each file's name stands for."""
    return Counter(test.split("::")[0].rsplit("/", 1)[-1] for test in tests if is_planted(test))


def main() -> None:
    """Count the ids on standard input."""
    found = count(line.strip() for line in sys.stdin if "::" in line)
    for name, number in sorted(found.items()):
        print(f"{number:6d}  {name}")
    print(f"{found.total():6d}  all")


if __name__ == "__main__":
    main()

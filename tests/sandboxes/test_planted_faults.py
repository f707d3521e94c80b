"""The suite can fail: drivers that break a promise on purpose are caught by the behaviour that states it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conformance import Bench, named, verify

from sandboxes import (
    DockerDriver,
    Driver,
    Limits,
    ProcessDriver,
    SandboxSpec,
    execution,
    local,
    paths,
    process,
)

UNLIMITED = Limits(
    memory_bytes=1 << 50,
    processes=1 << 20,
    wall_seconds=5,
    output_bytes=1 << 30,
    file_bytes=1 << 50,
    free_disk_bytes=0,
    tmp_bytes=1 << 50,
    disk_bytes=1 << 50,
    disk_files=1 << 40,
)


class Unguarded(ProcessDriver):
    """Starts its commands outside any domain of Landlock."""

    def _domain(self, spec: SandboxSpec, table: object) -> None:
        return None


class Pretender(Unguarded):
    """Claims an isolation that it does not have."""

    isolated = True
    warning = None


class Unlimited(ProcessDriver):
    """Forgets the limits of the specification."""

    def open(self, spec: SandboxSpec):
        return super().open(replace(spec, limits=UNLIMITED))


class Silent(ProcessDriver):
    """Does not isolate and does not warn."""

    warning = None


def _fails(driver: Driver, name: str, directory: Path) -> None:
    with pytest.raises(AssertionError):
        verify(named(name), Bench(driver, "sandboxes.ProcessDriver()", directory, patience=0.5))


@pytest.mark.parametrize(
    "name",
    [
        "the_host_is_not_reached_over_ipv4",
        "an_abstract_socket_of_the_host_is_not_reached",
        "nothing_is_written_outside_the_mounts",
        "files_of_the_host_that_are_not_mounted_do_not_exist",
        "commands_cannot_write_a_read_only_mount",
        "commands_see_a_masked_directory_empty_and_cannot_fill_it",
        "processes_of_the_host_are_not_seen_in_proc",
        "processes_of_the_host_can_neither_be_traced_nor_signalled",
        "sandboxes_do_not_see_each_other",
        "there_are_no_privileges_and_no_way_to_new_ones",
        "the_name_of_the_machine_is_not_reported",
        "shared_memory_is_private_and_bounded",
        "the_driver_declares_itself_isolated_without_a_warning",
    ],
)
def test_a_driver_that_only_claims_isolation_is_caught(name: str, tmp_path: Path) -> None:
    if name == "the_driver_declares_itself_isolated_without_a_warning":
        loud = Pretender()
        loud.warning = "I do not isolate"
        _fails(loud, name, tmp_path)
    else:
        _fails(Pretender(), name, tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "a_tree_that_takes_too_much_memory_is_killed_and_the_limit_named",
        "memory_is_counted_over_all_processes_together",
        "too_many_processes_are_killed_and_the_limit_named",
        "processor_time_of_the_whole_tree_is_limited_and_named",
        "a_file_that_grows_too_large_ends_its_writer_and_the_limit_is_named",
        "a_full_disk_is_not_waited_for",
        "what_fills_the_temporary_directory_is_killed_and_the_limit_named",
        "what_fills_its_mounts_in_parts_is_killed_and_the_limit_named",
        "too_many_files_are_killed_and_the_limit_named",
        "what_begins_over_a_limit_can_remove_and_not_write",
        "standard_error_is_cut_on_its_own",
        "a_worker_that_breaks_a_limit_ends_and_the_limit_is_named",
    ],
)
def test_a_driver_without_limits_is_caught(name: str, tmp_path: Path) -> None:
    _fails(Unlimited(cgroups=False), name, tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "files_of_the_host_that_are_not_mounted_are_not_read",
        "the_memory_of_a_process_of_the_host_is_not_read",
        "a_server_of_the_host_is_not_reached",
        "nothing_is_written_outside_the_mounts",
        "nothing_of_the_kernel_or_of_another_process_is_written",
    ],
)
def test_a_driver_without_landlock_is_caught(name: str, tmp_path: Path) -> None:
    _fails(Unguarded(), name, tmp_path)


def test_a_driver_that_hides_its_lack_of_isolation_is_caught(tmp_path: Path) -> None:
    _fails(Silent(), "the_system_is_read_only", tmp_path)


def test_a_driver_that_passes_its_environment_on_is_caught(tmp_path: Path) -> None:
    class Leaky(ProcessDriver):
        def open(self, spec: SandboxSpec):
            return super().open(replace(spec, environment={**spec.environment, "SECRET_TOKEN": "hunter2"}))

    _fails(Leaky(), "the_environment_of_the_harness_is_not_passed_on", tmp_path)


def test_a_driver_that_loses_input_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "_feed", lambda pipe, unsent: unsent[:0])
    _fails(ProcessDriver(), "any_bytes_pass_in_and_out", tmp_path)


def test_reading_through_links_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(views: paths.Views, path: str, most: int) -> bytes:
        return Path(path).read_bytes()

    monkeypatch.setattr(paths.Views, "read", read)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        verify(
            named("a_link_that_leaves_the_mounts_is_refused"),
            Bench(ProcessDriver(), "sandboxes.ProcessDriver()", tmp_path),
        )


def test_a_driver_that_shares_one_temporary_directory_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()

    class Shared(local.State):
        def __init__(self) -> None:
            super().__init__()
            self.temporary = shared

    monkeypatch.setattr(process, "State", Shared)
    with pytest.raises(pytest.fail.Exception):
        verify(
            named("the_temporary_directory_is_kept_between_commands_and_private"),
            Bench(ProcessDriver(), "sandboxes.ProcessDriver()", tmp_path),
        )


class Careless(DockerDriver):
    """Starts containers with all that ours leave out."""

    def __init__(self, **more: object) -> None:
        super().__init__()
        start = self.engine.start

        def careless(container: dict[str, Any], host: dict[str, Any], masked: Sequence[str]) -> str:
            return start(container, {**host, **more}, masked)

        self.engine.start = careless  # type: ignore[method-assign]


@pytest.mark.docker
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("there_is_no_network_interface_but_the_loopback", {"network_mode": "host"}),
        ("the_host_is_not_reached_over_ipv4", {"network_mode": "host"}),
        ("there_are_no_privileges_and_no_way_to_new_ones", {"cap_drop": []}),
        ("processes_of_the_host_are_not_seen_in_proc", {"pid_mode": "host"}),
        ("files_of_the_host_that_are_not_mounted_do_not_exist", {"tmpfs": {}}),
    ],
)
def test_a_container_with_more_rights_is_caught(name: str, more: dict[str, object], tmp_path: Path) -> None:
    driver = Careless(**more)
    reason = driver.unavailable()
    if reason is not None:
        pytest.skip(reason)
    with pytest.raises(AssertionError):
        verify(named(name), Bench(driver, "sandboxes.DockerDriver()", tmp_path))

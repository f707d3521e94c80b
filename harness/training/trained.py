"""What a training leaves: the learner, how it came about, and the checkpoint from which an interrupted one goes on."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import TrainingError
from harness.model import Array, Leaves, feed_digest
from harness.support.foreign import json_of
from harness.task.training import PpoConfig

_ABOUT, _BEST = "about", "best/"


@dataclass(frozen=True)
class Played:
    """What was played in one segment: for each seed the number of episodes that ended, their returns and lengths summed."""

    episodes: Array
    returns: Array
    lengths: Array


@dataclass(frozen=True)
class Trained:
    """A policy that was trained.

    Attributes:
        learner: all that training changed, as leaves by name.
        config, seed, steps: how it was trained, and for how many environment steps.
        curve: mean return of the episodes that ended in each segment; None where none did.
        backend: where it was trained (`candidate`, `reference`, ...).
    """

    learner: Leaves
    config: PpoConfig
    seed: int
    steps: int
    curve: tuple[float | None, ...]
    backend: str

    @property
    def digest(self) -> str:
        """SHA-256 over the learner, bit by bit, and the config."""
        sha = hashlib.sha256(self.config.digest.encode())
        for name in sorted(self.learner):
            feed_digest(sha, name, np.asarray(self.learner[name]))
        return sha.hexdigest()

    def save(self, path: Path) -> None:
        """Write it to one file, which is there entirely or not at all."""
        about = {
            "config": self.config.to_json(),
            "seed": self.seed,
            "steps": self.steps,
            "curve": list(self.curve),
            "backend": self.backend,
            "digest": self.digest,
        }
        _write(path, about, self.learner)

    @staticmethod
    def load(path: Path) -> Trained:
        """The inverse of `save`.

        Raises:
            TrainingError: the file is not a policy, or not as it was written.
        """
        about, learner = _read(path)
        try:
            config = PpoConfig.from_json(about["config"])
            steps, curve = int(about["steps"]), tuple(about["curve"])
            trained = Trained(learner, config, int(about["seed"]), steps, curve, str(about["backend"]))
            written = about["digest"]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise _damaged(path, f"its description cannot be read ({error!r})") from error
        if trained.digest != written:
            raise _damaged(path, "its digest is not that of its content")
        return trained


@dataclass
class Progress:
    """How far a training of one or several seeds has come.

    Attributes:
        learners: leaves, stacked over the seeds.
        segments: how many segments are done.
        returns: of each segment done and each seed, `[segments][seeds]`, the mean return of the episodes that ended.
        best: leaves like `learners`, of those with which each seed's best segment began; empty where the last are wanted.
    """

    learners: Leaves
    segments: int
    returns: list[list[float | None]]
    best: Leaves = field(default_factory=dict)


class Checkpoint:
    """A file from which a training goes on after it was interrupted, bit by bit as if it had not been.

    Args:
        path: of the file.
        identity: what the training is: config, seeds, steps, backend, environment. A checkpoint of another is refused.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self._path = path
        self._identity = json.loads(json.dumps(dict(identity)))

    def save(self, progress: Progress) -> None:
        """Replace the file, in one moment."""
        about = {"identity": self._identity, "segments": progress.segments, "returns": progress.returns}
        leaves = {**progress.learners, **{f"{_BEST}{name}": leaf for name, leaf in progress.best.items()}}
        _write(self._path, about | {"digest": _digest(leaves)}, leaves)

    def load(self) -> Progress | None:
        """What was saved, or None where there is no file.

        Raises:
            TrainingError: it is the checkpoint of another training, or damaged.
        """
        if not self._path.exists():
            return None
        about, leaves = _read(self._path)
        if about.get("digest") != _digest(leaves):
            raise _damaged(self._path, "its digest is not that of its content")
        found = about.get("identity")
        if not isinstance(found, dict):
            raise _damaged(self._path, "it does not say of which training it is")
        different = sorted(name for name in self._identity | found if self._identity.get(name) != found.get(name))
        if different:
            raise TrainingError(
                f"this is the checkpoint of another training: {', '.join(different)} differ",
                where=str(self._path),
                expected=f"{different[0]} = {self._identity.get(different[0])!r:.200}",
                next_step="name another file, or remove this one to train again",
            )
        learners = {name: leaf for name, leaf in leaves.items() if not name.startswith(_BEST)}
        best = {name.removeprefix(_BEST): leaf for name, leaf in leaves.items() if name.startswith(_BEST)}
        try:
            return Progress(learners, int(about["segments"]), [list(row) for row in about["returns"]], best)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise _damaged(self._path, f"its description cannot be read ({error!r})") from error


def _digest(leaves: Leaves) -> str:
    sha = hashlib.sha256()
    for name in sorted(leaves):
        feed_digest(sha, name, np.asarray(leaves[name]))
    return sha.hexdigest()


def _write(path: Path, about: Mapping[str, Any], leaves: Leaves) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            header: dict[str, Any] = {_ABOUT: np.frombuffer(json.dumps(dict(about)).encode(), np.uint8)}
            np.savez(file, **{f"leaf/{name}": np.asarray(leaf) for name, leaf in leaves.items()}, **header)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    try:
        with path.open("rb") as opened:
            # Written without compression: what is compressed here could be of any size when it is read.
            with zipfile.ZipFile(opened) as archive:
                if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                    raise ValueError("a part of it is compressed")
            opened.seek(0)
            with np.load(opened, allow_pickle=False) as file:
                about = json_of(bytes(file[_ABOUT]))
                leaves = {name.removeprefix("leaf/"): file[name] for name in file.files if name != _ABOUT}
        if not isinstance(about, dict):
            raise TypeError("its description is not an object")
    except Exception as error:  # numpy and zipfile have many ways to say that bytes are no file of theirs
        raise _damaged(path, f"it cannot be read ({type(error).__name__}: {str(error)[:200]})") from error
    return about, leaves


def _damaged(path: Path, why: str) -> TrainingError:
    return TrainingError(
        f"this is no policy or checkpoint of Lockstep: {why}", where=str(path), next_step="remove it, and train again"
    )


def unstacked(leaves: Leaves, index: int) -> Leaves:
    """One learner of several that are stacked along axis 0."""
    return {name: np.asarray(leaf)[index] for name, leaf in leaves.items()}


def stacked(learners: Sequence[Leaves]) -> Leaves:
    """Learners stacked along a new axis 0."""
    return {name: np.stack([learner[name] for learner in learners]) for name in learners[0]}

"""MuJoCo itself, without Gymnasium around it: one thread that steps many cheetahs, or its own rollout on all cores.

Actions are drawn before the clock runs, and outputs are not kept, so that nothing but the physics is measured.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
from mujoco import rollout

Answer = dict[str, Any]
SUBSTEPS = 5
NOISE = 0.1


class _Batch:
    answers_batches = True

    def __init__(self) -> None:
        assets = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
        self._model = mujoco.MjModel.from_xml_path(str(assets / "half_cheetah.xml"))
        self._datas: list[Any] = []
        self._actions = np.zeros((0, 0, 0))

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Make the batch, and random actions for it."""
        self.close()
        rng = np.random.default_rng(0)
        self._actions = rng.uniform(-1.0, 1.0, (length, batch, self._model.nu))
        for _ in range(batch):
            data = mujoco.MjData(self._model)
            data.qpos[:] = rng.uniform(-NOISE, NOISE, self._model.nq)
            data.qvel[:] = NOISE * rng.standard_normal(self._model.nv)
            self._datas.append(data)
        return {}

    def close(self) -> None:
        """End the batch."""
        self._datas = []


class OneThread(_Batch):
    """`mj_step`, five times for each step."""

    def open(self, options: Answer) -> Answer:
        """What it can do."""
        return {"kinds": ["step"]}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Step the batch from where it is."""
        for _ in range(repeats):
            for row in self._actions[:length]:
                for data, action in zip(self._datas, row, strict=True):
                    data.ctrl[:] = action
                    mujoco.mj_step(self._model, data, nstep=SUBSTEPS)
        return {}


class Rollout(_Batch):
    """`mujoco.rollout`: whole episodes in a pool of threads, one for each core."""

    def open(self, options: Answer) -> Answer:
        """What it can do."""
        return {"kinds": ["scan"]}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Roll the batch out from where it is."""
        spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
        begin = np.zeros((batch, mujoco.mj_stateSize(self._model, spec)))
        held = np.repeat(np.swapaxes(self._actions[:length], 0, 1), SUBSTEPS, axis=1)
        threads = len(os.sched_getaffinity(0))
        workers = [mujoco.MjData(self._model) for _ in range(threads)]
        with rollout.Rollout(nthread=threads) as pool:
            for _ in range(repeats):
                for state, data in zip(begin, self._datas, strict=True):
                    mujoco.mj_getState(self._model, data, state, spec)
                pool.rollout(self._model, workers, begin, held)
        return {}

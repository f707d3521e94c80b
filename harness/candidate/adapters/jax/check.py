"""Whether a candidate fits its contract, asked of its shapes alone (`jax.eval_shape`) and answered with every mistake."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.contract import UNUSABLE, CandidateMistakes, Mistake
from harness.candidate.faces.jax_env import JaxEnv, output_leaves
from harness.candidate.faces.leaves import OBSERVED, pack_action, root

Shapes = Any


def check(env: JaxEnv) -> None:
    """Trace every function of a candidate once.

    Raises:
        CandidateMistakes: some function is missing, raises, or gives leaves that the task does not declare so.
    """
    checker = _Checker(env)
    checker.run()
    if checker.mistakes:
        raise CandidateMistakes(checker.mistakes)


def explain(error: BaseException, directory: Path) -> str:
    """An exception in one line, with the last line of the candidate's own code that it went through."""
    own = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(directory)
    ]
    location = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    first = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {first}{location}"


class _Checker:
    def __init__(self, env: JaxEnv) -> None:
        self.env = env
        self.mistakes: list[Mistake] = []
        self._directory = Path(str(env.module.__file__)).parent

    def run(self) -> None:
        env = self.env
        wanted = ["reset", "step"]
        wanted += ["encode", "decode", "observe"] if env.state_leaves else []
        wanted += ["sample_reset"] if env.reset_draws else []
        wanted += ["sample_step"] if env.step_draws else []
        missing = {name for name in wanted if not callable(getattr(env.module, name, None))}
        lacks = "there is no function `{}`; expected {}"
        self.mistakes += [
            Mistake(lacks.format(name, SIGNATURES[name]), failing=UNUSABLE) for name in wanted if name in missing
        ]
        self._probes()
        if "reset" in missing:
            return
        began = self._trace("reset", env.begin, draw_shapes(env.reset_draws) if env.mode != "shared" else _SEED)
        if began is None:
            return
        state, outputs = began
        self._outputs("reset", outputs, env.reset_draws)
        if "step" not in missing:
            self._step(state)
        if env.state_leaves and not missing & {"encode", "decode", "observe"}:
            self._state(state)
        if env.reset_draws and "sample_reset" not in missing:
            self._draws("sample_reset", self._trace("sample_reset", env.sample_reset, _KEY), env.reset_draws)
        if env.step_draws and "sample_step" not in missing:
            drawn = self._trace("sample_step", env.sample_step, _KEY, state, action_shapes(env))
            self._draws("sample_step", drawn, env.step_draws)

    def _step(self, state: Shapes) -> None:
        stepped = self._trace(
            "step", self.env.advance, state, action_shapes(self.env), draw_shapes(self.env.step_draws)
        )
        if stepped is not None:
            self._same_structure("step returns a state that is not like reset's", state, stepped[0])
            self._outputs("step", stepped[1], self.env.step_draws)

    def _state(self, state: Shapes) -> None:
        env = self.env
        encoded = self._trace("encode", env.encode, state)
        if encoded is None or not self._leaves("encode", encoded, env.state_leaves):
            return
        decoded = self._trace("decode", env.decode, encoded)
        if decoded is not None:
            self._same_structure("decode(encode(state)) is not like the state", state, decoded)
        observed = self._trace("observe", env.module.observe, state)
        if observed is not None:
            if not isinstance(observed, Mapping):
                self.mistakes.append(Mistake(f"observe returns {_kind(observed)}; expected {SIGNATURES['observe']}"))
                return
            self._leaves("observe", output_leaves(dict(observed)), observed_leaves(env))

    def _probes(self) -> None:
        declared = self.env.contract.get("probes", {})
        probes = getattr(self.env.module, "probes", {})
        for name, probe in declared.items():
            if not callable(probes.get(name)):
                text = f"there is no probe `{name}`; expected `probes = {{{name!r}: fn(inputs) -> outputs}}`"
                self.mistakes.append(Mistake(text, f"probe/{name}", "missing", failing=UNUSABLE))
                continue
            answer = self._trace(f"probe {name}", probes[name], probe_shapes(self.env)[name])
            if answer is not None:
                self._leaves(f"probe {name}", answer, probe["outputs"])

    def _outputs(self, name: str, outputs: Shapes, draws: Mapping[str, Any]) -> None:
        env = self.env
        declared = {p: leaf for p, leaf in env.leaves.items() if p not in env.actions and p not in env.state_leaves}
        self._leaves(name, output_leaves(dict(outputs)), declared)
        used = outputs.get("draws_used", {})
        if not isinstance(used, Mapping):
            self.mistakes.append(Mistake(f"{name}: draws_used is {_show(used)}; expected a dict with {sorted(draws)}"))
            return
        for draw, count in used.items():
            if draw not in draws:
                self.mistakes.append(Mistake(f"{name}: draws_used names `{draw}`; expected some of {sorted(draws)}"))
            elif getattr(count, "shape", None) != () or not jnp.issubdtype(count.dtype, jnp.integer):
                text = f"{name}: draws_used[{draw!r}] is {_show(count)}; expected an integer of shape []"
                self.mistakes.append(Mistake(text, f"draw/{draw}"))

    def _draws(self, name: str, drawn: Shapes, draws: Mapping[str, Any]) -> None:
        if drawn is not None:
            expected = draw_shapes(draws)
            self._leaves(name, drawn, {n: {"dtype": s.dtype, "shape": s.shape} for n, s in expected.items()})

    def _leaves(self, name: str, given: Shapes, declared: Mapping[str, Any]) -> bool:
        """Compare leaves with their declarations; whether there was no mistake."""
        before = len(self.mistakes)
        if not isinstance(given, Mapping):
            self.mistakes.append(Mistake(f"{name} returns {_kind(given)}; expected a dict with {sorted(declared)}"))
            return False
        for path, leaf in declared.items():
            wanted = jax.ShapeDtypeStruct(tuple(leaf["shape"]), np.dtype(leaf["dtype"]))
            if path not in given:
                self._wrong_leaf(name, path, "missing", wanted, "absent", "is missing")
            elif not hasattr(given[path], "dtype"):
                self._wrong_leaf(name, path, "dtype", wanted, _kind(given[path]), f"is {_kind(given[path])}")
            elif (given[path].shape, given[path].dtype) != (wanted.shape, wanted.dtype):
                rule = "shape" if given[path].dtype == wanted.dtype else "dtype"
                hint = "" if jax.dtypes.canonicalize_dtype(wanted.dtype) == wanted.dtype else _X64_HINT
                self._wrong_leaf(name, path, rule, wanted, _show(given[path]), f"came as {_show(given[path])}", hint)
        for path in sorted(set(given) - set(declared)):
            text = f"{name}: leaf `{path}` is not one that the task declares"
            self.mistakes.append(Mistake(text, path, "unexpected", "absent", _show(given[path])))
        return len(self.mistakes) == before

    def _wrong_leaf(
        self, name: str, path: str, rule: str, wanted: Shapes, actual: str, how: str, hint: str = ""
    ) -> None:
        text = f"{name}: leaf `{path}` {how}; the task declares {_show(wanted)}{hint}"
        self.mistakes.append(Mistake(text, path, rule, _show(wanted), actual))

    def _same_structure(self, what: str, expected: Shapes, actual: Shapes) -> None:
        wanted, came = jax.tree.structure(expected), jax.tree.structure(actual)
        if wanted != came:
            self.mistakes.append(Mistake(f"{what}: expected the structure {wanted}, came {came}"))
            return
        pairs = zip(_with_paths(expected), _with_paths(actual), strict=True)
        self.mistakes += [
            Mistake(f"{what}: {path or 'it'} came as {_show(b)}, expected {_show(a)}")
            for (path, a), (_, b) in pairs
            if (a.shape, a.dtype) != (b.shape, b.dtype)
        ]

    def _trace(self, name: str, function: Callable[..., Any], *arguments: Shapes) -> Any:
        try:
            return jax.eval_shape(function, *arguments)
        except Exception as error:
            self.mistakes.append(Mistake(f"{name} raises {explain(error, self._directory)}", failing=UNUSABLE))
            return None


SIGNATURES = {
    "reset": "`reset(draws) -> (state, outputs)`",
    "step": "`step(state, action, draws) -> (state, outputs)`",
    "sample_reset": "`sample_reset(key) -> draws`, for the draws that occur at reset",
    "sample_step": "`sample_step(key, state, action) -> draws`, for the draws that occur at a step",
    "encode": "`encode(state) -> {name: leaf}`, the canonical state without the prefix `state/`",
    "decode": "`decode(leaves) -> state`, the inverse of encode",
    "observe": '`observe(state) -> {"observation": ...}`, with "legal_actions", "to_move", "alive" where the task has them',
}
_X64_HINT = " (a 64-bit type needs `candidate.x64 = true` in task.toml)"
_SEED = {"seed": jax.ShapeDtypeStruct((2,), np.uint32)}
_KEY = jax.eval_shape(lambda: jax.random.key(0))


def observed_leaves(env: JaxEnv) -> dict[str, Any]:
    """The leaves that `observe` gives."""
    return {p: leaf for p, leaf in env.leaves.items() if root(p) in OBSERVED}


def draw_shapes(draws: Mapping[str, Any]) -> dict[str, Any]:
    """Draws as a candidate takes them, as shapes."""
    return {
        name: _shape({"dtype": d["dtype"], "shape": [*([d["capacity"]] if d["capacity"] != 1 else []), *d["shape"]]})
        for name, d in draws.items()
    }


def probe_shapes(env: JaxEnv) -> dict[str, dict[str, Any]]:
    """The inputs of every declared probe as shapes, by probe and name."""
    declared = env.contract.get("probes", {})
    return {name: {path: _shape(leaf) for path, leaf in probe["inputs"].items()} for name, probe in declared.items()}


def action_shapes(env: JaxEnv) -> Any:
    """An action as `step` takes it, as shapes."""
    return pack_action({path: _shape(leaf) for path, leaf in env.actions.items()})


def _shape(leaf: Mapping[str, Any]) -> jax.ShapeDtypeStruct:
    """A leaf as JAX will hold it: without 64-bit types where they are off."""
    return jax.ShapeDtypeStruct(tuple(leaf["shape"]), jax.dtypes.canonicalize_dtype(np.dtype(leaf["dtype"])))


def _with_paths(tree: Shapes) -> Iterable[tuple[str, Any]]:
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)]


def _show(leaf: Any) -> str:
    return f"{leaf.dtype}{list(leaf.shape)}" if hasattr(leaf, "dtype") else _kind(leaf)


def _kind(value: Any) -> str:
    return f"a {type(value).__name__}"

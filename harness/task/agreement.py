"""What the parts of a task file must agree on: which table names what, and whether it is there and fits.

`written` is the document as it stands, `read` what of it is valid: a name that is written but wrong is not unknown, so
that one mistake is not reported twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness.model import ENDINGS, REWARD, STATE, Leaf, is_reward
from harness.task.contract import LAW_EPISODES, Budgets, Mode, Tolerance, Transfer
from harness.task.players import check_players
from harness.task.require import check_required
from harness.task.schema import Location, valid

SINGLE_LEAVES = (REWARD, *ENDINGS)
LEAF_TREES = ("observation", "action", "legal_actions")
"""These are one leaf, or leaves below that name; `legal_actions` may be absent."""
ENOUGH_FOR_LAWS = f"at least {LAW_EPISODES} in the mode `law`, which compares nothing but the laws of episodes"


def check_agreement(written: Mapping[str, Any], read: Mapping[str, Any], root: Location) -> None:
    """Note every contradiction between the parts of a task file."""
    _reference(_table(written, "reference"), root)
    _candidates(read, root.at("candidate"))
    if isinstance(written.get("leaves"), dict):
        _required_leaves(written["leaves"], root.at("leaves"))
    leaves = read.get("leaves", {})
    for path, leaf in leaves.items():
        _leaf(path, leaf, _table(written, "leaves"), root.at("leaves", path))
        if path.startswith("legal_actions"):
            action = "action" + path.removeprefix("legal_actions")
            _mask(leaf, action, action in _table(written, "leaves"), leaves.get(action), root.at("leaves", path))
    _modules(read.get("modules", ()), _table(written, "leaves"), _table(written, "probes"), root)
    for name, probe in read.get("probes", {}).items():
        _probe(probe, leaves, root.at("probes", name))
    _randomness(_table(written, "randomness"), read.get("randomness", {}), root.at("randomness"))
    _tolerances(_table(written, "tolerance"), read.get("tolerance", {}), written, read, root.at("tolerance"))
    for where, one in _all_candidates(read, root.at("candidate")):
        own = one.get("tolerance", {})
        _tolerances(own, own, written, read, where.at("tolerance"))
    _budgets(read, root.at("budgets"))
    _transfer(_table(written, "transfer"), read, root.at("transfer"))
    names = [peer.get("name") for _, peer in valid(read.get("peers", ()))]
    _no_duplicates(names, "peer", root.at("peers"))
    check_players(written, read, root)
    check_required(written, read, root.at("require"))


def _budgets(read: Mapping[str, Any], location: Location) -> None:
    """Where draws are not shared, level 3 compares the laws of all episodes that it has."""
    episodes = read.get("budgets", {}).get("episodes", Budgets.episodes)
    if read.get("randomness", {}).get("mode") == Mode.LAW and episodes < LAW_EPISODES:
        location.at("episodes").wrong(f"it is the integer {episodes}", ENOUGH_FOR_LAWS)


def _transfer(written: Mapping[str, Any], read: Mapping[str, Any], location: Location) -> None:
    if "steps" in written and "minimum_return" not in written:
        location.wrong(
            "the key `minimum_return` is missing", "it where `steps` asks for level 4: equal ignorance is no proof"
        )
    if "steps" not in written:
        for name in sorted({"reference_steps", "minimum_return", "seeds", "episodes", "draws", "ppo"} & set(written)):
            location.at(name).wrong("nothing is trained without `steps`", "`steps` beside it, or neither")
    elif read.get("randomness", {}).get("mode") == Mode.LAW:
        _enough_for_laws(written, read.get("transfer", {}), location)
    for name, value in read.get("transfer", {}).get("draws", {}).items():
        _fixed(name, value, read, location.at("draws", name))


def _fixed(name: str, value: float, read: Mapping[str, Any], location: Location) -> None:
    """A draw that has one value in all episodes of level 4."""
    randomness = read.get("randomness", {})
    draw = randomness.get("draws", {}).get(name)
    if randomness.get("mode") != Mode.TAPE or draw is None:
        location.wrong(f"there is no draw `{name}` that could be forced", "a draw of the mode `tape`")
        return
    if draw.at != "reset" or draw.shape or np.dtype(draw.dtype).kind not in "iuf":
        location.wrong(f"`{name}` is not a number that a reset draws", 'a draw with `at = "reset"` and no shape')
    elif not _fits(value, np.dtype(draw.dtype)):
        location.wrong(f"it is {value!r}", f"a number that {draw.dtype} can hold")
    if any(one.get("kind") == "jax" for _, one in _all_candidates(read, location)):
        location.wrong("a candidate in JAX trains in a loop of its own", "it where all candidates are in Rust")


def _fits(value: float, dtype: np.dtype[Any]) -> bool:
    if dtype.kind == "f":
        return True
    limits = np.iinfo(dtype)
    return isinstance(value, int) and limits.min <= value <= limits.max


def _enough_for_laws(written: Mapping[str, Any], read: Mapping[str, Any], location: Location) -> None:
    """Where draws are not shared, the first look compares the laws of all episodes that it has."""
    if any(name in written and name not in read for name in ("episodes", "seeds")):
        return
    trainings, episodes = read.get("seeds", Transfer.seeds)[0], read.get("episodes", Transfer.episodes)
    if trainings * episodes < LAW_EPISODES:
        location.at("episodes").wrong(
            f"{trainings} trainings at the first look with {episodes} episodes each are {trainings * episodes} episodes",
            ENOUGH_FOR_LAWS,
        )


def _reference(written: Mapping[str, Any], location: Location) -> None:
    if "adapter" in written and "command" in written:
        location.at("reference", "command").wrong("it has an adapter too", "an adapter or a command, not both")
    if written and not {"adapter", "command"} & set(written):
        location.at("reference").wrong("it has nothing to run", "`adapter`, or `command` for a program of its own")


def _all_candidates(read: Mapping[str, Any], location: Location) -> list[tuple[Location, Mapping[str, Any]]]:
    candidate = read.get("candidate", {})
    others = [(location.at("also", number), other) for number, other in valid(candidate.get("also", ()))]
    return [(location, candidate), *others]


def _candidates(read: Mapping[str, Any], location: Location) -> None:
    """What only one kind of candidate has, and that no two are called the same."""
    every = _all_candidates(read, location)
    for where, one in every:
        if one.get("kind") != "rust":
            if "data" in one:
                where.at("data").wrong('only a candidate of kind "rust" has such a key', "it beside a crate")
            continue
        for key in sorted({"x64", "xla_flags", "packages"} & set(one)):
            where.at(key).wrong('candidates of kind "rust" have no such key', "it only where JAX runs")
        if "entry" in one and not one["entry"].endswith("/src/lib.rs"):
            where.at("entry").wrong(f"it is {one['entry']!r}", "the `src/lib.rs` of a crate")
        if read.get("randomness", {}).get("mode") == Mode.SHARED:
            where.at("kind").wrong(
                "the mode `shared` shares keys of JAX, which Rust does not have", "another mode, or JAX"
            )
    names: list[Any] = []
    for where, one in every:
        name = one.get("name", one.get("kind"))
        if name is not None and name in names:
            key = "name" if "name" in one else "kind"
            where.at(key).wrong(f"there is a candidate {name!r} above", "a `name` of its own for each of one kind")
        names.append(name)


def _required_leaves(written: Mapping[str, Any], location: Location) -> None:
    for tree in LEAF_TREES[:2]:
        if not any(path == tree or path.startswith(f"{tree}/") for path in written):
            location.wrong(f"there is no leaf `{tree}`", f"`{tree}`, or leaves below `{tree}/`")
    for path in SINGLE_LEAVES:
        if path not in written and not (path == REWARD and any(map(is_reward, written))):
            location.wrong(f"there is no leaf `{path}`", "it, as every environment has it")


def _leaf(path: str, leaf: Leaf, written: Mapping[str, Any], location: Location) -> None:
    """What a leaf's path demands of its type."""
    kind = np.dtype(leaf.dtype).kind
    if path in ENDINGS and (kind != "b" or leaf.shape):
        location.wrong(f"it is {leaf.dtype} of shape {list(leaf.shape)}", "one bool")
    if is_reward(path) and kind == "b":
        location.wrong("it is bool", "a number")
    if is_reward(path) and path != REWARD and leaf.shape:
        location.wrong(f"it is {leaf.dtype} of shape {list(leaf.shape)}", "one number")
    if _is_action(path) and kind != "b" and not _finite(leaf):
        location.wrong("an action without finite bounds cannot be drawn at random", "`low` and `high`")
    above = next((other for other in written if path.startswith(f"{other}/")), None)
    if above is not None:
        location.wrong(f"`{above}` is a leaf too", "a leaf or leaves below it, not both")


def _mask(mask: Leaf, path: str, known: bool, action: Leaf | None, location: Location) -> None:
    """Element i of a mask says whether the action `low + i` is legal."""
    if mask.dtype != "bool":
        location.wrong(f"it is {mask.dtype}", "a mask, so bool")
    if not known:
        location.wrong(f"there is no leaf `{path}` that it could be the mask of", f"the action leaf `{path}`")
    if action is None or not _finite(action):
        return
    if action.shape or np.dtype(action.dtype).kind not in "iu":
        location.wrong(f"`{path}` is {action.dtype} of shape {list(action.shape)}", "a mask for a single integer alone")
    elif mask.shape != (action.high - action.low + 1,):
        expected = f"shape [{action.high - action.low + 1}], one element for each value of `{path}`"
        location.wrong(f"it has shape {list(mask.shape)}", expected)


def _modules(modules: Any, leaves: Mapping[str, Any], probes: Mapping[str, Any], root: Location) -> None:
    written_by: dict[str, str] = {}
    used: set[str] = set()
    for index, module in valid(modules):
        location = root.at("modules", index)
        for position, probe in valid(module.get("probes", ())):
            used.add(probe)
            if probe not in probes:
                _unknown("probe", probe, probes, location.at("probes", position))
        for position, path in valid(module.get("leaves", ())):
            here = location.at("leaves", position)
            if path not in leaves:
                _unknown("leaf", path, leaves, here)
            elif _is_action(path):
                here.wrong("it is an input, which no module writes", "a leaf of the results or of the state")
            elif path in written_by:
                here.wrong(f"the module `{written_by[path]}` writes it already", "one module for each leaf")
            written_by.setdefault(path, module.get("name", "above"))
    _no_duplicates([module.get("name") for _, module in valid(modules)], "module", root.at("modules"))
    for probe in probes:
        if probe not in used:
            root.at("probes", probe).wrong("no module uses this probe", "its name in the `probes` of a module")


def _probe(probe: Mapping[str, Mapping[str, Leaf]], leaves: Mapping[str, Leaf], location: Location) -> None:
    """An input that has the name of an action or of a state leaf is that leaf, so it must be of its type."""
    for name, leaf in probe.get("inputs", {}).items():
        same = leaves.get(name if name == "action" else STATE + name)
        if same is not None and (leaf.dtype, leaf.shape) != (same.dtype, same.shape):
            location.at("inputs", name).wrong(
                f"it is {leaf.dtype} of shape {list(leaf.shape)}",
                f"{same.dtype} of shape {list(same.shape)}, as the leaf `{same.path}` that it names",
            )
    for side in ("inputs", "outputs"):
        if side in probe and not probe[side]:
            location.at(side).wrong("it is empty", "one leaf at least")


def _randomness(written: Mapping[str, Any], read: Mapping[str, Any], location: Location) -> None:
    mode, named = read.get("mode"), _table(written, "draws")
    if mode == Mode.TAPE and not named:
        location.at("mode").wrong("a tape needs draws", "a table `randomness.draws.NAME` for each, or another mode")
    if mode in (Mode.SHARED, Mode.NONE) and named:
        location.at("draws").wrong(f"the mode `{mode}` has no draws", "the mode `tape` or `law`, or no draws")


def _tolerances(
    paths: Iterable[str],
    tolerances: Mapping[str, Tolerance],
    written: Mapping[str, Any],
    read: Mapping[str, Any],
    location: Location,
) -> None:
    """A table of tolerances, that of the task or of one candidate: the paths in it, and those that are tolerances."""
    leaves: dict[str, Leaf] = {p: leaf for p, leaf in read.get("leaves", {}).items() if not _is_action(p)}
    known = {path for path in _table(written, "leaves") if not _is_action(path)}
    for name, probe in read.get("probes", {}).items():
        leaves |= {f"probe/{name}/{path}": leaf for path, leaf in probe.get("outputs", {}).items()}
    for name in _table(written, "probes"):
        outputs = _table(_table(_table(written, "probes"), name), "outputs")
        known |= {f"probe/{name}/{path}" for path in outputs}
    for path in paths:
        if path not in known:
            _unknown("leaf", path, known, location.at(path))
        elif path in leaves and np.dtype(leaves[path].dtype).kind != "f":
            location.at(path).wrong(f"it is {leaves[path].dtype}, which is always exact", "tolerances for floats alone")
        elif tolerances.get(path, Tolerance()).scale and path.startswith("probe/"):
            inputs = read["probes"][path.split("/")[1]].get("inputs", {}) if path in leaves else {}
            for name in (name for name, leaf in inputs.items() if not _is_bounded(leaf)):
                location.at(path, "scale").wrong(
                    f"the probe's input `{name}` has no bounds, so nothing says how large its answers get",
                    "finite `low` and `high` of each input, or `atol`",
                )


def _is_bounded(leaf: Leaf) -> bool:
    limits = (leaf.low, leaf.high)
    return leaf.dtype == "bool" or all(limit is not None and bool(np.isfinite(limit).all()) for limit in limits)


def _unknown(what: str, name: str, known: Iterable[str], location: Location) -> None:
    listed = ", ".join(sorted(known)) or "none: there is no such thing here"
    location.wrong(f"unknown {what} `{name}`", f"one of {listed}", given=name, choices=known)


def _no_duplicates(names: list[Any], what: str, location: Location) -> None:
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            location.at(index, "name").wrong(f"a {what} `{name}` stands above", "a name of its own")


def _is_action(path: str) -> bool:
    return path == "action" or path.startswith("action/")


def _finite(leaf: Leaf) -> bool:
    bounds = (leaf.low, leaf.high)
    return None not in bounds and all(np.all(np.isfinite(bound)) for bound in bounds)


def _table(written: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A table of the document, or an empty one where something else stands (which its schema has noted)."""
    value = written.get(key)
    return value if isinstance(value, dict) else {}

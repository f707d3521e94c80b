"""Every decision of chance that an environment takes: recorded, forced, and repeatable.

Beside `adapter.py` of a task that `lockstep new` made. `install` puts generators that pass their decisions through the log
of the timestep in the place of numpy's and Python's own, for whatever is imported afterwards: `numpy.random.Generator` and
`RandomState`, `random.Random`, and the functions of both modules, which share one generator each.
"""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: SIM905 - the old generators are what old environments use

from __future__ import annotations

import contextlib
import copy
import functools
import random
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.utils import seeding

# What a generator decides with. Anything else that an environment asks of it passes through and is not recorded.
DECISIONS = frozenset(
    "random uniform integers normal standard_normal choice permutation permuted shuffle exponential standard_exponential "
    "poisson binomial geometric beta gamma standard_gamma laplace logistic lognormal triangular vonmises weibull "
    "rayleigh gumbel chisquare f dirichlet multinomial multivariate_normal negative_binomial hypergeometric pareto power "
    "standard_t standard_cauchy wald zipf logseries noncentral_chisquare noncentral_f multivariate_hypergeometric".split()
)
OLD_DECISIONS = (DECISIONS | frozenset("rand randn randint random_sample random_integers tomaxint".split())) - {
    "integers"
}
PYTHON_DECISIONS = frozenset(
    "random uniform randint randrange choice choices sample shuffle getrandbits gauss normalvariate triangular betavariate "
    "expovariate gammavariate lognormvariate vonmisesvariate paretovariate weibullvariate".split()
)
PYTHON = "python_"
"""What the names of draws begin with that Python's own `random` decides, whose methods mean other things than numpy's."""
AMONG = frozenset("choice choices sample permutation permuted shuffle".split())
"""Decisions among given values, which may be of any type."""
WHOLE = AMONG | frozenset(
    "integers randint randrange getrandbits poisson binomial geometric multinomial negative_binomial hypergeometric zipf "
    "logseries multivariate_hypergeometric random_integers tomaxint".split()
)
SHORT = 16
_NUMPYS, _PYTHONS, _UNSEEDED = 1 << 20, (1 << 20) + 1, (1 << 20) + 2
"""Numbers of the generators that modules share, and of those made without a seed; others are numbered as they are made."""
_GENERATOR, _OLD, _PYTHON = np.random.Generator, np.random.RandomState, random.Random


class Log:
    """The draws of the timestep that is being made: those recorded, and those still to be forced.

    Args:
        names: for a draw that is asked for in several ways, how the name of each ends, by what `asked` tells of it; that of
            any other way has no ending.
    """

    current = None  # type: Log | None
    """Of the environment that is being made or asked; None between two requests."""

    def __init__(self, names: dict[str, dict[str, str]] | None = None) -> None:
        self._names = names or {}
        self._asked = ""  # type: str | None
        self._recorded = []  # type: list[tuple[str, np.ndarray]]
        self._forced = None  # type: list[Any] | None
        self._wrong = None  # type: ValueError | None
        self._deciding = False
        self._made = {}  # type: dict[int, Any]
        self._count = 0
        self._seed = None  # type: int | None
        self._unseeded = 0

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """While the environment is made, each time with the same chance; `reseed` knows the generators that it makes."""
        Log.current, self._deciding = self, True
        self.reseed(0)
        try:
            yield
        finally:
            Log.current, self._deciding, self._seed = None, False, None

    @contextlib.contextmanager
    def timestep(self, draws: list[Any] | None = None) -> Iterator[None]:
        """While a timestep is made; without draws the generators decide. What a timestep that was refused left behind is
        forgotten. Raises ValueError if a draw is left over.
        """
        self._recorded, self._wrong = [], None
        self._forced = None if draws is None else list(draws)
        Log.current = self
        try:
            yield
        finally:
            Log.current = None  # whatever else the process draws is not the environment's
        if self._wrong is not None:
            raise self._wrong  # again: some environments catch whatever is raised in them
        if self._forced:
            raise ValueError("draws are left over: {}".format(", ".join(name for name, _ in self._forced)))

    def taken(self) -> list[tuple[str, np.ndarray]]:
        """What was recorded since the last call."""
        recorded, self._recorded = self._recorded, []
        return recorded

    def reseed(self, seed: int) -> None:
        """Seed each generator that was made before, and each that will be made without a seed in this episode."""
        self._seed, self._unseeded = seed, 0
        for number, made in list(self._made.items()):
            generator = made()
            if generator is None:
                del self._made[number]
            else:
                _seed(generator, self._source(number))
        np.random.seed(self._source(_NUMPYS).generate_state(4))
        random.seed(int(self._source(_PYTHONS).generate_state(1)[0]))

    def note(self, generator: Any) -> None:
        """A generator was made."""
        self._made[self._count] = weakref.ref(generator)
        self._count += 1

    def next_seed(self) -> int | None:
        """For a generator that is made without a seed; None leaves it to the machine's own chance."""
        if self._seed is None:
            return None
        self._unseeded += 1
        return int(self._source(_UNSEEDED, self._unseeded).generate_state(1)[0])

    def _source(self, *numbers: int) -> Any:
        """What a generator is seeded with in this episode: its number tells it from the others."""
        return np.random.SeedSequence([self._seed or 0, *numbers])

    def decide(self, name: str, method: Any, arguments: Any, options: Any) -> Any:
        """One decision: recorded, and forced if there are draws to force. `name` begins with `PYTHON` where it is of
        `random.Random`.
        """
        if self._deciding:
            return method(*arguments, **options)  # one decision is made of others
        self._deciding = True
        try:
            return self._decided(name, method, arguments, options)
        finally:
            self._deciding = False

    def _decided(self, name: str, method: Any, arguments: Any, options: Any) -> Any:
        kind = name[len(PYTHON) :] if name.startswith(PYTHON) else name
        values = next(iter(arguments), None) if kind in AMONG else None
        self._asked = asked(arguments, options) if self._names else None
        before = list(values) if kind == "shuffle" and values is not None else None
        # The generator always decides: its answer has the type and the shape that a forced one must have too.
        answer = method(*arguments, **options)
        if before is not None:
            return self._shuffled(name, before, values)
        value = _numbers(answer)
        chosen = None
        if kind in ("choice", "choices", "sample") and (value is None or not np.isscalar(answer)):
            chosen = _chosen(
                values, answer, kind != "choice" or (isinstance(answer, np.ndarray) and answer.dtype == object)
            )
        if chosen is not None:
            forced = self._draw(name + "_index", np.array(chosen, "int64"))
            return values[int(forced)] if forced.ndim == 0 else type(answer)([values[int(index)] for index in forced])
        if value is None or not value.size:
            return answer  # nothing that a draw can hold; `lockstep new` sees whether it matters
        drawn = self._draw(name + _type_of(kind, value), value)
        if self._forced is None:
            return answer
        if isinstance(answer, (list, tuple)):
            return type(answer)(drawn.tolist())
        return drawn.copy() if isinstance(answer, np.ndarray) else type(answer)(drawn[()])

    def _shuffled(self, name: str, before: list[Any], values: Any) -> None:
        if not before:
            return
        value = _numbers(values) if not isinstance(values, list) or all(map(np.isscalar, before)) else None
        if value is not None:
            drawn = self._draw(name + _type_of("shuffle", value), value)
            values[:] = drawn if isinstance(values, np.ndarray) else drawn.tolist()
            return
        places = {}  # type: dict[int, list[int]]
        for index, item in enumerate(before):
            places.setdefault(id(item), []).append(index)
        drawn = self._draw(name + "_index", np.array([places[id(item)].pop(0) for item in values], "int64"))
        values[:] = [before[int(index)] for index in drawn]

    def _draw(self, name: str, value: np.ndarray) -> np.ndarray:
        label = name + ("_" + "x".join(map(str, value.shape)) if value.shape else "")
        if label in self._names:
            label += self._names[label].get(self._asked or "", "")
        drawn = value if self._forced is None else self._next(label, value)
        self._recorded.append((label, np.array(drawn)))
        return drawn

    def _next(self, label: str, like: np.ndarray) -> np.ndarray:
        """The next draw of this name: a candidate does not know in which order those of different names are due."""
        place = next((place for place, (name, _) in enumerate(self._forced) if name == label), None)
        if place is None:
            raise self._refused(f"the draw {label} is missing")
        value = np.asarray(self._forced.pop(place)[1])
        if value.shape != like.shape or value.dtype != like.dtype:
            given = f"{value.dtype}, shape {value.shape}"
            raise self._refused(f"a draw {label} of {like.dtype}, shape {like.shape}, is due; {given} was given")
        return value

    def _refused(self, why: str) -> ValueError:
        self._wrong = ValueError(why)
        return self._wrong


def asked(arguments: Any, options: Any) -> str | None:
    """How a decision is asked for, where it is by numbers, words and short lists of them; None otherwise."""
    given = [("", value) for value in arguments] + [(name + "=", options[name]) for name in sorted(options)]
    plain = [(name, _plain(value)) for name, value in given]
    return None if any(value is None for _, value in plain) else ", ".join(name + str(value) for name, value in plain)


def _plain(value: Any) -> str | None:
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, (int, np.integer)):
        return repr(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, type):
        return value.__name__
    rows = isinstance(value, (list, tuple, range)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if rows and len(value) <= SHORT:
        parts = [_plain(part) for part in value]
        return None if None in parts else "[{}]".format(", ".join(map(str, parts)))
    return None


def _numbers(answer: Any) -> np.ndarray | None:
    try:
        value = np.array(answer)
    except ValueError:  # ragged
        return None
    return value if value.dtype.kind in "biuf" else None


def _type_of(kind: str, value: np.ndarray) -> str:
    """What the name of a draw says of its type: nothing where it is the one that such a decision usually has."""
    usual = "int64" if kind in WHOLE else "float64"
    return "" if value.dtype.name == usual else "_" + value.dtype.name


def _chosen(values: Any, answer: Any, several: bool) -> Any:
    """Which of the values a choice is, by identity or else by equality; None where that cannot be told."""
    if not isinstance(values, (list, tuple)):
        return None

    def place(item: Any) -> int | None:
        for same in (lambda one: one is item, lambda one: bool(np.all(one == item))):
            for index, one in enumerate(values):
                if same(one):
                    return index
        return None

    if isinstance(answer, np.ndarray) and not several and answer.ndim and answer.dtype.kind in "biuf":
        return None  # rows that numpy copied
    found = [place(item) for item in answer] if several or isinstance(answer, np.ndarray) else place(answer)
    return None if found is None or (isinstance(found, list) and None in found) else found


def _seed(generator: Any, source: Any) -> None:
    if isinstance(generator, _GENERATOR):
        generator.bit_generator.state = type(generator.bit_generator)(source).state
    elif isinstance(generator, _OLD):
        generator.seed(source.generate_state(4))
    else:
        generator.seed(int(source.generate_state(1)[0]))


# --- generators -------------------------------------------------------------------------------------------------------


def _decision(name: str, method: Any) -> Any:
    @functools.wraps(method)
    def decision(*arguments: Any, **options: Any) -> Any:
        log = Log.current
        return method(*arguments, **options) if log is None else log.decide(name, method, arguments, options)

    return decision


def _taped(kind: Any, names: frozenset[str], prefix: str = "") -> dict[str, Any]:
    """The methods of a generator that decides through the log."""

    def method(name: str) -> Any:
        plain, label = getattr(kind, name), prefix + name

        @functools.wraps(plain)
        def decision(self: Any, *arguments: Any, **options: Any) -> Any:
            log = Log.current
            if log is None:
                return plain(self, *arguments, **options)
            return log.decide(label, functools.partial(plain, self), arguments, options)

        return decision

    return {name: method(name) for name in names if hasattr(kind, name)}


def _unseeded(seed: Any) -> Any:
    return seed if seed is not None or Log.current is None else Log.current.next_seed()


def _noted(generator: Any) -> None:
    if Log.current is not None:
        Log.current.note(generator)


class Generator(_GENERATOR):
    """`numpy.random.Generator` that decides through the log."""

    locals().update(_taped(_GENERATOR, DECISIONS))

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        _noted(self)

    def __deepcopy__(self, memo: Any) -> Generator:
        return type(self)(copy.deepcopy(self.bit_generator, memo))


class RandomState(_OLD):
    """`numpy.random.RandomState` that decides through the log."""

    locals().update(_taped(_OLD, OLD_DECISIONS))

    def __init__(self, seed: Any = None) -> None:
        super().__init__(_unseeded(seed))
        _noted(self)

    def __deepcopy__(self, memo: Any) -> RandomState:
        made = type(self)()
        made.set_state(self.get_state())
        return made


class Random(_PYTHON):
    """`random.Random` that decides through the log."""

    locals().update(_taped(_PYTHON, PYTHON_DECISIONS, PYTHON))

    def __init__(self, x: Any = None) -> None:
        super().__init__(_unseeded(x))
        _noted(self)


def install() -> None:
    """Put these generators in the place of numpy's and Python's own; once is enough."""
    if np.random.RandomState is RandomState:
        return
    plain_rng, plain_np_random = np.random.default_rng, seeding.np_random

    def default_rng(seed: Any = None) -> Any:
        return seed if isinstance(seed, Generator) else Generator(plain_rng(_unseeded(seed)).bit_generator)

    def np_random(seed: int | None = None) -> Any:
        generator, used = plain_np_random(_unseeded(seed))
        return generator, used

    everything = (
        (
            np.random,
            {name: _decision(name, getattr(np.random, name)) for name in OLD_DECISIONS if hasattr(np.random, name)},
        ),
        (random, {name: _decision(PYTHON + name, getattr(random, name)) for name in PYTHON_DECISIONS}),
        (np.random, {"Generator": Generator, "RandomState": RandomState, "default_rng": default_rng}),
        (random, {"Random": Random}),
        (seeding, {"RNG": Generator, "RandomNumberGenerator": Generator, "np_random": np_random}),
    )
    for module, names in everything:
        for name, replaced in names.items():
            setattr(module, name, replaced)

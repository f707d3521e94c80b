"""The walker, each time with one planted fault. Each class is an adapter that must be found out.

The first half breaks the protocol or the process and must give a named error; the second half answers in good form but
wrongly, which only the conformance kit can see.
"""

import ctypes
import os
import sys
import threading
import time

import numpy as np
from walker import EDGE, Walker

# --- faults that every call shows --------------------------------------------------------------------------------------


class StepsOnce(Walker):
    """Base of the faults that come with the third step."""

    def step(self, action, draws=None):
        if self.steps == 2:
            return self.fault(super().step(action, draws))
        return super().step(action, draws)

    def fault(self, timestep):
        raise NotImplementedError


class ExitsWith3(StepsOnce):
    def fault(self, timestep):
        sys.exit(3)


class ExitsWith0(StepsOnce):
    def fault(self, timestep):
        os._exit(0)


class DivesIntoNull(StepsOnce):
    def fault(self, timestep):
        ctypes.string_at(0)


class KillsItself(StepsOnce):
    def fault(self, timestep):
        os.kill(os.getpid(), 9)


class LeavesAChild(StepsOnce):
    """Its child keeps the answer stream open after it is gone."""

    def fault(self, timestep):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        os._exit(4)


class Hangs(StepsOnce):
    def fault(self, timestep):
        while True:
            time.sleep(60)


class Raises(StepsOnce):
    def fault(self, timestep):
        raise RuntimeError("the third step is too much")


class RaisesUnspeakably(StepsOnce):
    def fault(self, timestep):
        class Unspeakable(Exception):
            def __str__(self):
                raise ValueError("no words")

        raise Unspeakable


class RaisesHalfACharacter(StepsOnce):
    def fault(self, timestep):
        raise RuntimeError("half \ud800 a character")


class Prints(StepsOnce):
    def fault(self, timestep):
        print("to the standard output of Python")
        sys.stdout.flush()
        os.write(1, b"to file descriptor 1\n" * 1000)
        return timestep


class ReadsItsInput(StepsOnce):
    def fault(self, timestep):
        assert sys.stdin.read() == ""
        return timestep


class PrintsAGigabyte(StepsOnce):
    def fault(self, timestep):
        block = b"x" * (1 << 20)
        for _ in range(1024):
            os.write(2, block)
        return timestep


class AnswersNone(StepsOnce):
    def fault(self, timestep):
        return None


class LosesALeaf(StepsOnce):
    def fault(self, timestep):
        del timestep["state/slope"]
        return timestep


class WrongShape(StepsOnce):
    def fault(self, timestep):
        return dict(timestep, **{"observation/place": np.zeros(3, np.float32)})


class WrongDtype(StepsOnce):
    def fault(self, timestep):
        return dict(timestep, **{"observation/place": np.zeros(2, np.float64)})


class Ragged(StepsOnce):
    def fault(self, timestep):
        return dict(timestep, **{"observation/place": [[1.0], [1.0, 2.0]]})


class ObjectArray(StepsOnce):
    def fault(self, timestep):
        return dict(timestep, **{"observation/place": np.array([1.0, None], dtype=object)})


class FloatAsInteger(StepsOnce):
    def fault(self, timestep):
        return dict(timestep, **{"state/place": 1.5})


class IntegerAsBoolean(StepsOnce):
    def fault(self, timestep):
        return dict(timestep, terminated=0)


class HugeInteger(StepsOnce):
    def fault(self, timestep):
        return dict(timestep, **{"state/place": 1 << 70})


class IntegerThatWouldWrap(StepsOnce):
    def fault(self, timestep):
        return dict(timestep, **{"state/steps": 1 << 31})


class UndeclaredDraw(Walker):
    def take_draws(self):
        return [*super().take_draws(), ("thunder", 1)]


class DrawOfWrongDtype(Walker):
    def take_draws(self):
        return [(name, np.float32(value)) for name, value in super().take_draws()]


class LeafWithoutDtype(Walker):
    def spec(self):
        return dict(super().spec(), leaves=dict(super().spec()["leaves"], reward={"shape": []}))


class LeafOfObjects(Walker):
    def spec(self):
        return dict(super().spec(), leaves=dict(super().spec()["leaves"], reward={"dtype": "object"}))


class NoReward(Walker):
    def spec(self):
        spec = super().spec()
        del spec["leaves"]["reward"]
        return spec


class OldProtocol(Walker):
    def spec(self):
        return dict(super().spec(), protocol=99)


class FailsToOpen(Walker):
    def __init__(self):
        raise FileNotFoundError("the ROM is not there")


class NotANumber(StepsOnce):
    """No fault: a float leaf may hold NaN and the infinities."""

    def fault(self, timestep):
        return dict(timestep, reward=float("nan"), **{"observation/place": np.array([np.inf, np.nan], np.float32)})


# --- faults that only the conformance kit sees -------------------------------------------------------------------------


class OtherSpec(Walker):
    """Declares bounds and a dtype that its task does not."""

    def spec(self):
        leaves = dict(
            super().spec()["leaves"], **{"state/slope": {"dtype": "float32"}, "state/extra": {"dtype": "int8"}}
        )
        leaves["action"] = dict(leaves["action"], high=3)
        return dict(super().spec(), leaves=leaves)

    def timestep(self, reward, draws, ended=True):
        timestep = super().timestep(reward, draws, ended)
        return dict(timestep, **{"state/slope": np.float32(self.slope), "state/extra": np.int8(0)})


class CarriesOver(Walker):
    """What was played before shows in what is played next."""

    played = 0

    def reset(self, seed, draws=None):
        self.played += 1
        super().reset(seed, draws)
        self.slope += 1e-9 * self.played
        return self.timestep(0.0, draws)


class DependsOnItsProcess(Walker):
    def reset(self, seed, draws=None):
        super().reset(seed, draws)
        self.slope += os.getpid() * 1e-9
        return self.timestep(0.0, draws)


class IgnoresItsSeed(Walker):
    def reset(self, seed, draws=None):
        return super().reset(0, draws)


class LeavesItsBounds(Walker):
    def timestep(self, reward, draws, ended=True):
        timestep = super().timestep(reward, draws, ended)
        return dict(
            timestep, **{"observation/place": timestep["observation/place"] + np.float32(10 * (self.steps > 3))}
        )


class RewardsItsReset(Walker):
    def reset(self, seed, draws=None):
        return dict(super().reset(seed, draws), reward=1.0)


class EndsAtOnce(Walker):
    def reset(self, seed, draws=None):
        return dict(super().reset(seed, draws), truncated=True)


class ReusesItsBuffer(Walker):
    buffer = np.zeros(2, np.float32)

    def timestep(self, reward, draws, ended=True):
        timestep = super().timestep(reward, draws, ended)
        self.buffer[:] = timestep["observation/place"]
        return dict(timestep, **{"observation/place": self.buffer})


class HidesState(Walker):
    """A wind that no leaf of the state holds."""

    wind = 0

    def step(self, action, draws=None):
        self.wind += 1
        timestep = super().step(action, draws)
        return dict(timestep, reward=timestep["reward"] + (0.125 if self.wind % 7 == 0 else 0.0))

    def reset(self, seed, draws=None):
        self.wind = 0
        return super().reset(seed, draws)


class RestoresElsewhere(Walker):
    def restore(self, state):
        super().restore(state)
        self.steps += 1
        return self.timestep(0.0, None, ended=False)


class RestoresRoughly(Walker):
    def restore(self, state):
        super().restore(state)
        self.slope = float(np.float32(self.slope))
        return self.timestep(0.0, None, ended=False)


class RewardsItsRestore(Walker):
    def restore(self, state):
        return dict(super().restore(state), reward=1.0)


class ForgetsADraw(Walker):
    """Draws a gust without reporting it."""

    def take_draws(self):
        return [(name, value) for name, value in super().take_draws() if name != "gust"]


class IgnoresItsTape(Walker):
    def reset(self, seed, draws=None):
        return super().reset(seed)

    def step(self, action, draws=None):
        return super().step(action)


class ToleratesLeftovers(Walker):
    def timestep(self, reward, draws, ended=True):
        return super().timestep(reward, None, ended)


class MakesUpDraws(Walker):
    """Draws for itself where the tape has run out."""

    def draw(self, name, chance):
        if self.forced is not None and not self.forced:
            self.forced = None
            value = super().draw(name, chance)
            self.forced = []
            return value
        return super().draw(name, chance)


class TakesWhatComes(Walker):
    """Takes the next draw of the tape, whatever its name is."""

    def draw(self, name, chance):
        if self.forced:
            number = np.float64 if name == "slope" else np.int64
            self.forced[0] = [name, number(self.forced[0][1])]
        return super().draw(name, chance)


class SlopeFirst(Walker):
    """Draws in another order than its declaration, and takes no other."""

    def reset(self, seed, draws=None):
        return super().reset(seed, draws and [*draws[1:2], *draws[:1], *draws[2:]])

    def take_draws(self):
        taken = super().take_draws()
        return [*taken[1::-1], *taken[2:]] if [name for name, _ in taken[:2]] == ["start", "slope"] else taken


class DrawsTooSoon(Walker):
    """Its reset draws what the task says that steps draw, as a generator does that calls itself."""

    def reset(self, seed, draws=None):
        timestep = super().reset(seed, draws and draws[:-1])
        self.forced = draws and list(draws[-1:])
        self.draw("gust", lambda: 0)
        return timestep


class DrawsTwice(Walker):
    """Draws a gust again where it was none."""

    def step(self, action, draws=None):
        timestep = super().step(action, draws and draws[:1])
        if self.place % 2 == 0:
            self.forced = draws and list(draws[1:])
            self.draw("gust", lambda: 0)
        return timestep


class ProbeRemembers(Walker):
    asked = 0

    def probe(self, name, inputs):
        self.asked += 1
        return {"place": super().probe(name, inputs)["place"] + (self.asked % 7 == 0)}


class ProbeRefuses(Walker):
    def probe(self, name, inputs):
        raise RuntimeError("not today")


class OtherProbe(Walker):
    def spec(self):
        spec = super().spec()
        spec["probes"]["move"]["outputs"] = {"place": {"dtype": "int32"}}
        return spec


class PolicyRaises(Walker):
    def __init__(self):
        super().__init__()
        self.policies = {"outward": lambda timestep, rng: timestep["no such leaf"]}


class PolicyLeavesTheSpace(Walker):
    def __init__(self):
        super().__init__()
        self.policies = {"outward": lambda timestep, rng: 7}


class TakesAnyAction(Walker):
    """Declares wider bounds than its task, so that the worker does not refuse for it, and refuses nothing itself."""

    def spec(self):
        spec = super().spec()
        spec["leaves"]["action"] = {"dtype": "int64", "shape": [], "low": -1, "high": 3}
        return spec


class WillNotClose(Walker):
    def close(self):
        time.sleep(60)


class LacksCapabilities(Walker):
    """No fault, but a loss: it can do no more than it must."""

    def spec(self):
        spec = super().spec()
        return dict(spec, capabilities=[], probes={}, draws={}, policies=[])


class Misspells(Walker):
    def spec(self):
        return dict(super().spec(), capabilities=["restore", "probe", "draws", "forcedraws"])


class TakesNoTape(Walker):
    """No fault, but a loss: it reports its draws and cannot be given any."""

    def spec(self):
        return dict(super().spec(), capabilities=["restore", "probe", "draws"])


class CountsEpisodes(Walker):
    """Every twelfth episode is another one: the same list of cases repeats, the list backwards does not."""

    played = 0

    def reset(self, seed, draws=None):
        self.played += 1
        super().reset(seed, draws)
        self.slope += 1e-9 * (self.played % 12 == 1)
        return self.timestep(0.0, draws)


class LeavesAThread(Walker):
    def close(self):
        threading.Thread(target=time.sleep, args=(60,)).start()


class KeepsOldDraws(Walker):
    """What was drawn before an exception is reported after it."""

    def reset(self, seed, draws=None):
        before = self.taken
        try:
            return super().reset(seed, draws)
        finally:
            self.taken = before + self.taken


# --- pictures ----------------------------------------------------------------------------------------------------------


class DrawsFloats(Walker):
    def render(self):
        return super().render() / 255


class DrawsGrey(Walker):
    def render(self):
        return super().render()[..., 0]


class DrawsTooLarge(Walker):
    def render(self):
        return np.zeros((1, 4097, 3), np.uint8)


class DrawsNothing(Walker):
    def render(self):
        return None


class GrowsItsPicture(Walker):
    def render(self):
        return super().render()[:, : 4 * EDGE - self.steps]


class DrawsAtRandom(Walker):
    def render(self):
        picture = super().render()
        picture[0, 0] = os.urandom(3)[0]
        return picture


class DrawsHowOftenItDrew(Walker):
    drawn = 0

    def render(self):
        picture = super().render()
        self.drawn += 1
        picture[0, 0] = self.drawn % 251
        return picture


class MovesWhenDrawn(Walker):
    def render(self):
        picture = super().render()
        self.steps += 1
        return picture


class SpendsChanceOnDrawing(Walker):
    def render(self):
        self.rng.random_sample()
        return super().render()

"""The walker, each time with something that was asked before and shows in an episode, and then of a few seeds alone."""

import os
import time

from walker import EDGE, Walker

# --- episodes that know what came before -------------------------------------------------------------------------------


class KeepsItsLastAction(Walker):
    """As games with sticky actions do: now and then the action before is taken again, in the first step a stale one."""

    last = 1

    def step(self, action, draws=None):
        if self.rng.random_sample() < 0.05:
            action = self.last
        self.last = action
        return super().step(action, draws)


class Marked(Walker):
    """Base of the leaks that show for one seed in forty, and for none of those that the other checks play."""

    mark = 0

    def reset(self, seed, draws=None):
        slope = self.mark if seed % 40 == 17 else 0
        timestep = super().reset(seed, draws)
        return dict(timestep, **{"state/slope": timestep["state/slope"] + slope})


class KnowsAnEnd(Marked):
    def step(self, action, draws=None):
        timestep = super().step(action, draws)
        self.mark = int(timestep["terminated"] or timestep["truncated"])
        return timestep


class KnowsTheSeedBefore(Marked):
    """Its seeds have to rise."""

    before = -1

    def reset(self, seed, draws=None):
        self.mark, self.before = int(seed < self.before), seed
        return super().reset(seed, draws)


class CountsTheResetsOfItsClass(Marked):
    resets = 0

    def reset(self, seed, draws=None):
        type(self).resets += 1
        self.mark = int(self.resets > 150)
        return super().reset(seed, draws)


class KnowsItsProcess(Marked):
    mark = time.time_ns() + os.getpid()


class KnowsThatItWasProbed(Marked):
    def probe(self, name, inputs):
        self.mark = 1
        return super().probe(name, inputs)


class KnowsARestoredState(Marked):
    def restore(self, state):
        self.mark = 1
        return super().restore(state)


class GoesOnFromAnotherEpisode(Walker):
    """What it restores has not all of the state: a walker that was left at the edge goes on with a push."""

    push = 0

    def restore(self, state):
        self.push = int(abs(getattr(self, "place", 0)) >= EDGE)
        return super().restore(state)

    def step(self, action, draws=None):
        push, self.push = self.push, 0
        timestep = super().step(action, draws)
        return dict(timestep, reward=timestep["reward"] + push)


# --- what is within the bounds of the task, and is not answered -----------------------------------------------------------


class ProbeCannotAnswerOne(Walker):
    def probe(self, name, inputs):
        return {"place": self.move(int(inputs["place"]), int(inputs["action"])) // (1 - self.fault(inputs))}

    def fault(self, inputs):
        return int(inputs["place"] == -EDGE and inputs["action"] == 2)


class ProbeEndsItsProcess(ProbeCannotAnswerOne):
    def fault(self, inputs):
        if super().fault(inputs):
            os._exit(3)
        return 0


class ProbeHangs(ProbeCannotAnswerOne):
    def fault(self, inputs):
        while super().fault(inputs):
            time.sleep(60)
        return 0


class ProbeWantsNoWholeMessage(Walker):
    """Together the inputs are too much for it, and each alone is not."""

    asked = 0

    def probe(self, name, inputs):
        self.asked = 0 if inputs["place"] == -EDGE and inputs["action"] == 0 else self.asked + 1
        if self.asked > 30:
            self.asked = 0
            raise RuntimeError("this is too much")
        return super().probe(name, inputs)


class RestoresOnlyKnownSlopes(Walker):
    """It takes a slope that it had itself, and no other."""

    def reset(self, seed, draws=None):
        timestep = super().reset(seed, draws)
        self.known = {*getattr(self, "known", ()), self.slope}
        return timestep

    def restore(self, state):
        if float(state["state/slope"]) not in self.known:
            raise ValueError("no walker has such a slope")
        return super().restore(state)


class RestoresNoEdge(Walker):
    def restore(self, state):
        if abs(state["state/place"]) == EDGE:
            raise ValueError("nobody stands at the edge")
        return super().restore(state)


class EndsOnAState(Walker):
    def restore(self, state):
        if state["state/place"] == EDGE:
            os._exit(3)
        return super().restore(state)


# --- masks -------------------------------------------------------------------------------------------------------------


class Fenced(Walker):
    """The walker with a mask, as it should be: from the fields beside the edge it may not step over it."""

    fence = EDGE - 1

    def __init__(self):
        super().__init__()
        self.policies = {"outward": self.outward}

    def outward(self, timestep, rng):
        return 2 if timestep["legal_actions"][2] else 0

    def spec(self):
        spec = super().spec()
        leaves = dict(spec["leaves"], legal_actions={"dtype": "bool", "shape": [3]})
        return dict(spec, leaves=leaves)

    def mask(self):
        return [self.place > -self.fence, True, self.place < self.fence]

    def step(self, action, draws=None):
        if not self.mask()[action]:
            self.refuse(action)
        return super().step(action, draws)

    def refuse(self, action):
        raise ValueError(f"{action} is not legal")

    def timestep(self, reward, draws, ended=True):
        return dict(super().timestep(reward, draws, ended), legal_actions=self.mask())


class PlaysAnything(Fenced):
    """No fault: what the mask rules out does what it does."""

    def refuse(self, action):
        pass


class AllowsNothing(PlaysAnything):
    """After so many steps in one direction as only its policy takes."""

    def reset(self, seed, draws=None):
        self.straight = 0
        return super().reset(seed, draws)

    def step(self, action, draws=None):
        self.straight = self.straight + 1 if action == 2 else 0
        return super().step(action, draws)

    def mask(self):
        return [False] * 3 if self.straight == 5 else super().mask()


class AllowsWhatItRefuses(Fenced):
    def mask(self):
        return [True, True, True]

    def step(self, action, draws=None):
        if action == 0 and self.steps == 4 and self.place == 2:
            self.refuse(action)
        return super().step(action, draws)


class PolicyIgnoresTheMask(PlaysAnything):
    def outward(self, timestep, rng):
        return 2


class EndsOnAnIllegalAction(Fenced):
    def refuse(self, action):
        os._exit(3)

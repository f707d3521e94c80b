"""What is true of the hill."""

from lockstep import Trajectory, feature, generator, invariant


@invariant(module="rolling")
def speed_never_exceeds_one(trajectory: Trajectory) -> bool:
    return True


@invariant(module="ending")
def the_end_is_the_end(trajectory: Trajectory) -> bool:
    return True


@invariant()
def nothing_is_nan(trajectory: Trajectory) -> bool:
    return True


@generator("roll")
def pushes() -> None:
    return None


@feature
def the_ball_left(trajectory: Trajectory) -> bool:
    return True

"""Where parts of the hill meet."""

from lockstep import Task, sequence


@sequence("over the top in the wind")
def over_the_top(task: Task) -> None:
    return None

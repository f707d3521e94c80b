"""Where parts of the hill meet."""

from harness.task.contract import Task
from harness.task.suite import sequence


@sequence("over the top in the wind")
def over_the_top(task: Task) -> None:
    return None

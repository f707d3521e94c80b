"""The suite's parts are plain modules beside the tests, in whichever way pytest imports those."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

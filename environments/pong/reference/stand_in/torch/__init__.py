"""What PufferLib's setup.py imports of PyTorch, for a build that compiles nothing that needs PyTorch.

setup.py also downloads archives whose folders it does not find. None of them is linked into Pong (its one library,
raylib, comes with the source), so empty folders take their place. This package is on the path of that build alone.
"""

import os

for folder in ("raylib-5.5_webassembly", "box2d-web", "box2d-linux-amd64"):
    os.makedirs(folder, exist_ok=True)

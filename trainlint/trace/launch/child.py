"""The process in which a traced program runs: as `python` would run it, until enough is recorded.

Started as `python child.py OUTCOME STATUS STEPS MAX_WAIT SKIP_STEPS PHASE PHASE_SECONDS PROBES PROBE_SECONDS (script|module) TARGET [ARGS]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    home = str(Path(__file__).resolve().parents[3])
    if getattr(sys.flags, "safe_path", False):
        sys.path.append(home)
    else:
        sys.path[0] = home
    from trainlint.trace.launch.launch import main

    main(sys.argv[1:])

"""How large the HTML report of a model of 5,000 modules is, and how long it takes to write and to open in Chromium.

Usage: python bench/report.py [--modules 5000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.browser import browser
from tests.reported import big_model
from trainlint.html_report.page import page
from trainlint.report import Report

_LOADED = "return performance.getEntriesByType('navigation')[0].loadEventEnd"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--modules", type=int, default=5000)
    modules = asked.parse_args().modules
    for alike in (True, False):
        run = big_model(modules, alike=alike)
        began = time.process_time()
        text = page(replace(Report((), (), 1, 0.0), run=run), lambda _: ())
        wrote = time.process_time() - began
        with tempfile.TemporaryDirectory() as folder, browser() as tab:
            file = Path(folder) / "step.html"
            file.write_text(text, encoding="utf-8")
            opened = []
            for _ in range(5):
                tab.open(file)
                while not (ended := tab.run(_LOADED)):
                    pass
                opened.append(ended / 1000)
        kind = "equal blocks" if alike else "no two alike"
        print(
            f"{modules} modules, {kind}: {len(text.encode()) / 1e6:.2f} MB, written in {wrote:.2f} CPU s, "
            f"opened in {sorted(opened)[2]:.2f} s (median of 5, fastest {min(opened):.2f} s)"
        )


if __name__ == "__main__":
    main()

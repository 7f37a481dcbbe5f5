"""Which line of the program is running: the frames that are the user's own, among those of torch and others."""

from __future__ import annotations

import dis
import linecache
import os
import site
import sys
import sysconfig
from functools import cache
from types import CodeType, FrameType

from trainlint.finding import Place
from trainlint.notebook.kernel import Kernel

_HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_INPLACE_ADD = dis.opmap.get("INPLACE_ADD", -1)  # Python 3.10
_BINARY_OP = dis.opmap.get("BINARY_OP", -1)
_ADD_IN_PLACE = 13  # the argument of BINARY_OP that stands for `+=`, since Python 3.11
_POP_TOP = dis.opmap["POP_TOP"]
_FILLERS = frozenset(dis.opmap[name] for name in ("CACHE", "NOP") if name in dis.opmap)
_MOST_CALLS = 40
"""Calls that are kept of one stack; deeper ones are recursion."""


def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*getattr(site, "getsitepackages", list)(), _HERE}
    if site.ENABLE_USER_SITE:
        folders.add(site.getusersitepackages())
    torch, rules = sys.modules.get("torch"), sys.modules.get("trainlint.rules")
    if torch is not None and torch.__file__:
        folders.add(os.path.dirname(torch.__file__))
    if rules is not None:
        folders.add(str(rules.FOLDER))  # beside this package in a checkout
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders if folder)


@cache
def _real(file: str) -> str:
    """A file behind links, by its whole name. Its folder is asked once for all: hundreds of modules lie in one."""
    folder, name = os.path.split(file)
    if name in ("", ".", "..") or os.path.islink(file):
        return os.path.realpath(file)
    return os.path.join(_real_folder(folder), name)


@cache
def _real_folder(folder: str) -> str:
    return os.path.realpath(folder)


class OwnCode:
    """Tells the program's frames from those of libraries, and gives them places.

    Args:
        root: a folder whose files are the program's own even where it lies among libraries.
        folder: the working directory that the program was started in, which paths are seen from.
        kernel: the notebook that runs, whose lines count through all of its cells.
    """

    def __init__(
        self, root: str | None = None, folder: str | None = None, kernel: Kernel | None = None
    ) -> None:
        self._kernel = kernel
        self._libraries = _library_folders()
        self._root = os.path.join(os.path.realpath(root), "") if root else None
        self._cwd = os.path.join(folder or os.getcwd(), "")
        self._own: dict[CodeType, bool] = {}
        self._own_files: dict[str, bool] = {}
        self._positions: dict[CodeType, list[tuple[int | None, int | None, int | None, int | None]]] = {}
        self._places: dict[tuple[CodeType, int], Place] = {}
        self._files: dict[str, str] = {}
        self._augmented: dict[tuple[CodeType, int], bool] = {}

    def innermost(self, frame: FrameType | None) -> FrameType | None:
        """The nearest frame of the program at or above a frame."""
        own = self._own
        while frame is not None:
            code = frame.f_code
            known = own.get(code)
            if known is None:
                known = own[code] = self.is_own_file(code.co_filename)
            if known:
                return frame
            frame = frame.f_back
        return None

    def is_own_file(self, file: str) -> bool:
        known = self._own_files.get(file)
        if known is None:
            known = self._is_own_file(file)
            if os.path.isabs(file):  # what others name depends on the working directory
                self._own_files[file] = known
        return known

    def _is_own_file(self, file: str) -> bool:
        if file.startswith("<") and not file.startswith("<ipython-input"):
            return False
        real = _real(file) if os.path.isabs(file) else os.path.realpath(file)
        library = max((folder for folder in self._libraries if real.startswith(folder)), key=len, default="")
        return not library or (
            self._root is not None and real.startswith(self._root) and len(self._root) > len(library)
        )

    def imported(self) -> list[str]:
        """The files of the program's own modules, by their names on disk."""
        files = {getattr(one, "__file__", None) for one in list(sys.modules.values())}
        return sorted(file for file in files if isinstance(file, str) and self.is_own_file(file))

    def calls(self, frame: FrameType | None) -> tuple[Place, ...]:
        """The program's calls that led to a frame, outermost first, without the frame itself."""
        found: list[Place] = []
        frame = self.innermost(frame.f_back) if frame is not None else None
        while frame is not None and len(found) < _MOST_CALLS:
            found.append(self.place(frame))
            frame = self.innermost(frame.f_back)
        return tuple(reversed(found))

    def place(self, frame: FrameType) -> Place:
        """What a frame is doing now: the expression, where Python says so, or the line."""
        key = (frame.f_code, frame.f_lasti)
        known = self._places.get(key)
        if known is None:
            known = self._places[key] = self._place(frame)
        return known

    def _place(self, frame: FrameType) -> Place:
        at = self._place_in_file(frame)
        kernel = self._kernel
        first = kernel.line(frame.f_code.co_filename, at.line) if kernel is not None else None
        if kernel is None or first is None:
            return at
        return at._replace(path=kernel.path, line=first, end_line=first + at.end_line - at.line)

    def _place_in_file(self, frame: FrameType) -> Place:
        code = frame.f_code
        path = self.shown(code.co_filename)
        if sys.version_info >= (3, 11):
            positions = self._positions.get(code)
            if positions is None:
                positions = self._positions[code] = list(code.co_positions())
            line, end, start_byte, end_byte = positions[frame.f_lasti // 2]
            if line is not None and end is not None and start_byte is not None and end_byte is not None:
                first = _column(code.co_filename, line, start_byte)
                return Place(path, line, first, end, _column(code.co_filename, end, end_byte))
        line = frame.f_lineno or 1
        return Place(path, line, 1, line, 1)

    def is_augmented(self, frame: FrameType) -> bool:
        """Whether a frame is executing `+=`."""
        key = (frame.f_code, frame.f_lasti)
        known = self._augmented.get(key)
        if known is None:
            code, at = frame.f_code.co_code, frame.f_lasti
            known = code[at] == _INPLACE_ADD or (code[at] == _BINARY_OP and code[at + 1] == _ADD_IN_PLACE)
            self._augmented[key] = known
        return known

    def is_ignored(self, frame: FrameType) -> bool:
        """Whether nothing is done with the result of the call that a frame is executing."""
        code, at = frame.f_code.co_code, frame.f_lasti + 2
        while at < len(code) and code[at] in _FILLERS:
            at += 2
        return at < len(code) and code[at] == _POP_TOP

    def shown(self, file: str) -> str:
        """A path as the user sees it: from the working directory that the program was started in."""
        known = self._files.get(file)
        if known is None:
            known = os.path.normpath(os.path.join(self._cwd, file)) if not file.startswith("<") else file
            known = self._files[file] = known.removeprefix(self._cwd).replace(os.sep, "/")
        return known


def _column(file: str, line: int, offset: int) -> int:
    """The column of a byte of a line, counted in characters from 1."""
    text = linecache.getline(file, line)
    return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1

"""Small pictures as PNG, in a `data:` address."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

Colour = tuple[int, int, int]


def data_address(rows: Sequence[Sequence[Colour]]) -> str:
    """Rows of pixels, all of one length."""
    raw = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(raw, 9)), _chunk(b"IEND", b""))
    return f"data:image/png;base64,{base64.b64encode(b''.join((_SIGNATURE, *chunks))).decode()}"


_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

"""Every address answers with the same archive: a graph of papers in the form of Cora."""

import io
import random
import tarfile
from contextlib import contextmanager
from types import SimpleNamespace

PAPERS, WORDS, TOPICS = 1680, 40, 7


@contextmanager
def get(address, stream=False):
    draw = random.Random(0)
    content, cites = [], []
    for paper in range(PAPERS):
        words = [str(int(draw.random() < 0.2)) for _ in range(WORDS - 1)] + ["1"]
        content.append("\t".join([str(paper), *words, f"topic{paper % TOPICS}"]))
        cites += [f"{paper}\t{draw.randrange(PAPERS)}" for _ in range(3)]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, lines in (("content", content), ("cites", cites)):
            data = "\n".join(lines).encode()
            entry = tarfile.TarInfo(f"cora/cora.{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    packed.seek(0)
    yield SimpleNamespace(raw=packed)

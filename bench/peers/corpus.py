"""UCI bag-of-words corpora as sparse matrices."""

import gzip
import io
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import zstandard

CACHE = Path(__file__).parent / ".cache"


def load(folder, skip, limit):
    """Documents [skip, skip + limit) as a CSR matrix of counts, one row a document."""
    indptr, indices, data, shape = _whole(Path(folder))
    first, last = indptr[skip], indptr[min(skip + limit, shape[0])]
    rows = indptr[skip : min(skip + limit, shape[0]) + 1] - first
    return sp.csr_matrix((data[first:last], indices[first:last], rows), shape=(len(rows) - 1, shape[1]))


def tokens(row):
    """The word of every token of one document."""
    return np.repeat(row.indices, row.data)


def _whole(folder):
    """The whole corpus, kept as arrays beside this file (not committed) so that it is parsed once."""
    source = next(p for p in (folder / f"docword.txt{end}" for end in ("", ".zst", ".gz")) if p.exists())
    cached = CACHE / f"{folder.name}-{source.stat().st_size}.npz"
    if not cached.exists():
        CACHE.mkdir(exist_ok=True)
        arrays = _parse(source)
        temporary = cached.with_suffix(f".{os.getpid()}.npz")
        np.savez(temporary, indptr=arrays[0], indices=arrays[1], data=arrays[2], shape=arrays[3])
        temporary.rename(cached)
    found = np.load(cached)
    return found["indptr"], found["indices"], found["data"], tuple(found["shape"])


def _parse(source):
    with open(source, "rb") as file:
        if source.suffix == ".zst":
            raw = zstandard.ZstdDecompressor().stream_reader(file).read()
        elif source.suffix == ".gz":
            raw = gzip.decompress(file.read())
        else:
            raw = file.read()
    values = np.loadtxt(io.BytesIO(raw), dtype=np.int32, skiprows=3, ndmin=2)
    documents, words, _ = (int(line) for line in raw[:200].split(b"\n")[:3])
    if np.any(np.diff(values[:, 0]) < 0):
        raise ValueError(f"{source}: documents are not contiguous")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(values[:, 0] - 1, minlength=documents))])
    return indptr, values[:, 1] - 1, values[:, 2], np.array([documents, words])


def size(folder):
    """(documents, words) of a corpus."""
    return _whole(Path(folder))[3]

"""Files of the heavy computations, which are written part by part and never left half written."""

import os
import zipfile
import zlib
from pathlib import Path

import numpy as np


def load(path, *, gaps=(), most=None, **shapes):
    """What ``path`` holds, {name: array}; {} if there is no such file.

    Parameters
    ----------
    path : of a .npz file
    gaps : names of arrays in which NaN stands for what is not computed yet
    most : {word: the greatest length that it may stand for}
    **shapes : the shape each array must have; a first length that is a word, such as "done", is
        free, but the same for all arrays with that word, which come together or not at all; or
        the array itself, such as an axis that belongs to this computation

    Raises
    ------
    ValueError for a file that is not whole, and for an array of another name, shape or axis, of
    more parts than there can be, or with a NaN that is no gap
    """
    if not Path(path).exists():
        return {}
    stored = _read(path)
    if not set(stored) <= set(shapes):
        raise ValueError(f"{path} must hold {', '.join(shapes)}, got {', '.join(stored)}")
    axes = {name: shape for name, shape in shapes.items() if isinstance(shape, np.ndarray)}
    for name, axis in axes.items():
        if name in stored and not np.array_equal(stored[name], axis):
            raise ValueError(f"{path}: {name} must be {axis}, got {stored[name]}")
    shapes = shapes | {name: axis.shape for name, axis in axes.items()}
    for name, array in stored.items():
        free = isinstance(shapes[name][0], str)
        if array.ndim == 0 or array.shape[free:] != shapes[name][free:]:
            raise ValueError(f"{path}: {name} must have shape {shapes[name]}, got {array.shape}")
        if name not in gaps and np.isnan(array).any():
            raise ValueError(f"{path}: {name} must have no NaN, got {np.isnan(array).sum()}")
    for word in {shapes[name][0] for name in stored}:
        together = {name for name, shape in shapes.items() if shape[0] == word}
        if isinstance(word, str) and not together <= set(stored):
            raise ValueError(f"{path} must hold all of {sorted(together)}, got {sorted(stored)}")
    lengths = {(shapes[name][0], len(array)) for name, array in stored.items()}
    words = [word for word, _ in lengths]
    if len(set(words)) < len(words):
        raise ValueError(f"{path}: arrays must be of one length, got {sorted(map(str, lengths))}")
    for word, length in lengths:
        if length > (most or {}).get(word, np.inf):
            raise ValueError(f"{path}: {word} must be at most {most[word]}, got {length}")
    return stored


def _read(path):
    broken = AttributeError, EOFError, TypeError, ValueError, zipfile.BadZipFile, zlib.error
    try:
        with open(path, "rb") as opened, np.load(opened) as file:
            return {name: file[name] for name in file.files}
    except broken as fault:
        raise ValueError(f"{path} must be a whole .npz file, got: {fault}") from fault


def save(path, **arrays):
    """Write the arrays to ``path``, a .npz file: a reader finds the old or the new one whole."""
    unfinished = Path(path).with_suffix(f".{os.getpid()}.part.npz")
    try:
        np.savez_compressed(unfinished, **arrays)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)

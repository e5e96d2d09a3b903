"""Checks of arguments: each returns what it checked or raises a ValueError that names it."""

import numpy as np


def finite(name, value):
    """``value`` as a float array; raises if any entry is NaN or infinite."""
    array = np.asarray(value, dtype=float)
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return array


def scalar_in(name, value, low, high, *, closed_high=False):
    """``value`` as a float in the open interval (low, high), or in (low, high]."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not (low < number and (number <= high if closed_high else number < high)):
        bracket = "]" if closed_high else ")"
        raise ValueError(f"{name} must be in ({low:g}, {high:g}{bracket}, got {value!r}")
    return number


def whole(name, value, least):
    """``value`` as an int that is at least ``least``."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)


def unit_vectors(name, value, tolerance=1e-12):
    """Rows of length 1 to within ``tolerance``, as a float array of shape (..., d)."""
    array = finite(name, value)
    length = np.linalg.norm(array, axis=-1)
    if np.any(np.abs(length - 1) > tolerance):
        raise ValueError(f"{name} must be unit vectors, got lengths {length!r}")
    return array


def increasing(name, value):
    """A one-dimensional strictly increasing float array with at least two entries."""
    array = finite(name, value)
    if array.ndim != 1 or array.size < 2 or not np.all(np.diff(array) > 0):
        raise ValueError(f"{name} must be strictly increasing with at least 2 entries: {value!r}")
    return array

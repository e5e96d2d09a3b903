"""Checks of arguments: each returns what it checked or raises a ValueError that names it."""

import numpy as np


def finite(name, value):
    """``value`` as a float array; raises if any entry is NaN, infinite or not a real number."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} must not be masked, got {value!r}")
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(array.dtype)
        array = array.astype(float, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of real numbers, got {value!r}") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {_first_bad(value, array)}")
    return array


def _first_bad(value, array):
    """A short array whole; of a long one the first entry that is not finite."""
    if array.size <= 12:
        return repr(value)
    where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    return f"{array[where]} at index {where} of shape {array.shape}"


def representable(name, compute):
    """What ``compute()`` returns, an array or float; raises ValueError if it leaves the floats.

    ``name`` says which result it is: it became infinite or NaN, although every argument is finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        value = compute()
    return finite(f"{name}, too large for a float,", value)[()]


def instance(name, value, kind):
    """``value``, which must be a ``kind`` (a class of gaugelib)."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__}, got a {type(value).__name__}")
    return value


def scalar_in(name, value, low, high, *, closed_low=False, closed_high=False):
    """``value`` as a float in the open interval (low, high); its ends belong to it if closed."""
    try:
        number = float(finite(name, value))
    except (TypeError, ValueError):
        number = float("nan")
    above = low <= number if closed_low else low < number
    if not (above and (number <= high if closed_high else number < high)):
        left, right = "[" if closed_low else "(", "]" if closed_high else ")"
        raise ValueError(f"{name} must be in {left}{low:g}, {high:g}{right}, got {value!r}")
    return number


def whole(name, value, least):
    """``value`` as an int that is at least ``least``; True and False are not numbers here."""
    try:
        number = float("nan") if isinstance(value, (bool, np.bool_)) else float(finite(name, value))
    except (TypeError, ValueError):
        number = float("nan")
    if not (number == np.floor(number) and number >= least):
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(number)


def vectors(name, value):
    """Finite vectors along the last axis, as a float array of shape (..., d), d >= 1."""
    array = finite(name, value)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(f"{name} must have shape (..., d) with d >= 1, got shape {array.shape}")
    return array


def unit_vectors(name, value, tolerance=1e-12):
    """Vectors of length 1 to within ``tolerance``, as a float array of shape (..., d)."""
    array = vectors(name, value)
    length = np.linalg.norm(array, axis=-1)
    if not np.all(np.abs(length - 1) <= tolerance):
        raise ValueError(f"{name} must be unit vectors, got lengths {length!r}")
    return array


def common_shape(**shapes):
    """The shape to which all given shapes broadcast; raises if they do not fit together."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes must fit together, got {given}") from None


def fast_times(tau):
    """Increasing times that begin with 0, as a float array (n,)."""
    tau = increasing("tau", tau)
    if tau[0] != 0:
        raise ValueError(f"tau must start at 0, got {tau[0]:g}")
    return tau


def increasing(name, value):
    """A one-dimensional strictly increasing float array with at least two entries."""
    array = finite(name, value)
    if array.ndim != 1 or array.size < 2 or not np.all(np.diff(array) > 0):
        raise ValueError(f"{name} must be strictly increasing with at least 2 entries: {value!r}")
    return array

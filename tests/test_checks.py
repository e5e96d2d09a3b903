"""Every bad argument is refused with its name, its value and what is allowed."""

import numpy as np
import pytest

from gaugelib.checks import (
    common_shape,
    finite,
    increasing,
    instance,
    representable,
    scalar_in,
    unit_vectors,
    vectors,
    whole,
)

NOT_NUMBERS = [None, "1", 1j, [1, 2j], [[1], [1, 2]], object(), ["a"]]
NOT_FINITE = [np.nan, np.inf, -np.inf, [0, np.nan], np.array([[1.0, np.inf]])]


@pytest.mark.parametrize("value", [2, -1.5, True, [1, 2], np.float32(3), np.uint8(4)])
def test_finite_returns_floats(value):
    array = finite("x", value)
    assert array.dtype == float and np.array_equal(array, np.asarray(value))


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_finite_refuses_what_is_no_real_number(value):
    with pytest.raises(ValueError, match="^x must be an array of real numbers, got "):
        finite("x", value)


@pytest.mark.parametrize("value", NOT_FINITE)
def test_finite_refuses_nan_and_infinity(value):
    with pytest.raises(ValueError, match="^x must be finite, got .*(nan|inf)"):
        finite("x", value)


def test_finite_refuses_masked_entries_but_not_an_empty_mask():
    with pytest.raises(ValueError, match="^x must not be masked, got "):
        finite("x", np.ma.masked_array([1.0, 2.0], [False, True]))
    assert np.array_equal(finite("x", np.ma.masked_array([1.0, 2.0])), [1, 2])


def test_a_result_outside_the_floats_is_refused_without_a_warning():
    assert representable("x^2", lambda: np.float64(3) ** 2) == 9
    for big in (1e200, np.array([1, 1e200])):
        with pytest.raises(ValueError, match=r"^x\^2, too large for a float, must be finite"):
            representable("x^2", lambda big=big: np.asarray(big) ** 2)


def test_an_instance_of_another_class_is_named():
    assert instance("x", 3, int) == 3
    with pytest.raises(ValueError, match="^flow must be a dict, got a list"):
        instance("flow", [], dict)


@pytest.mark.parametrize("value", [0, 1, -3, np.nan, np.inf, "0.5", None, [0.5], 1j])
def test_a_scalar_outside_the_open_interval_is_refused(value):
    with pytest.raises(ValueError, match=r"^x must be in \(0, 1\), got "):
        scalar_in("x", value, 0, 1)


def test_a_scalar_inside_is_returned_and_the_ends_may_belong():
    assert scalar_in("x", np.float64(0.5), 0, 1) == 0.5
    assert scalar_in("x", 1, 0, 1, closed_high=True) == 1.0
    assert scalar_in("x", 0, 0, 1, closed_low=True) == 0.0
    with pytest.raises(ValueError, match=r"^x must be in \[0, 1\), got -0.5"):
        scalar_in("x", -0.5, 0, 1, closed_low=True)
    with pytest.raises(ValueError, match=r"^x must be in \(0, 1\], got 1.5"):
        scalar_in("x", 1.5, 0, 1, closed_high=True)


@pytest.mark.parametrize(
    "value", [1, 0, -2, 2.5, np.nan, np.inf, True, np.True_, "2", None, [2], [2, 3]]
)
def test_whole_refuses_everything_but_a_whole_number_that_is_large_enough(value):
    with pytest.raises(ValueError, match="^m must be a whole number >= 2, got "):
        whole("m", value, 2)


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_truth_is_no_whole_number(value):
    with pytest.raises(ValueError, match="^designated must be a whole number >= 0, got "):
        whole("designated", value, 0)


@pytest.mark.parametrize("value", [2, 2.0, np.int64(7), np.array(3)])
def test_whole_returns_an_int(value):
    assert type(whole("m", value, 2)) is int and whole("m", value, 2) == value


@pytest.mark.parametrize("value", [1.0, [], np.zeros((2, 0))])
def test_vectors_need_an_axis_of_components(value):
    with pytest.raises(ValueError, match=r"^w must have shape \(\.\.\., d\) with d >= 1"):
        vectors("w", value)


@pytest.mark.parametrize("value", [[1, 1e-5], [[1, 0], [0, 1.1]], [0, 0], [1 + 3e-12, 0]])
def test_unit_vectors_have_length_one(value):
    assert unit_vectors("s", [[0.6, 0.8], [1, 1e-7], [1 - 5e-13, 0]]).shape == (3, 2)
    with pytest.raises(ValueError, match="^s must be unit vectors, got lengths "):
        unit_vectors("s", value)


def test_shapes_that_do_not_broadcast_are_refused_by_name():
    assert common_shape(q=(3, 1), delta=(4,)) == (3, 4)
    with pytest.raises(ValueError, match=r"got q \(3,\), delta \(4,\)"):
        common_shape(q=(3,), delta=(4,))


@pytest.mark.parametrize("value", [[0], [0, 0], [1, 0], [[0, 1]], 3.0, []])
def test_increasing_needs_two_increasing_entries(value):
    assert increasing("tau", [0, 1e-9, 2]).shape == (3,)
    with pytest.raises(ValueError, match="^tau must be strictly increasing"):
        increasing("tau", value)


def test_of_a_long_array_only_the_first_bad_entry_is_shown():
    bad = np.zeros((40, 5))
    bad[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"x must be finite, got nan at index \(3, 2\) of shape"):
        finite("x", bad)

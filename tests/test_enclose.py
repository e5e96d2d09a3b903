"""Validated steps: they contain exact solutions, are narrow, and refuse what is false."""


import mpmath as mp
import numpy as np
import pytest
from flint import arb, arb_series, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from gaugelib import certify, enclose
from gaugelib.certify import NotProved
from gaugelib.enclose import Patch

DIGITS = 40


@pytest.fixture(autouse=True, scope="module")
def many_digits():
    with mp.workdps(DIGITS):
        yield


# name: (field, start, exact solution by mpmath numbers, time, steps)
KNOWN = {
    "rotation": (lambda y: [y[1], -y[0]], (1.0, 0.25),
                 lambda t, a, b: (a * mp.cos(t) + b * mp.sin(t), b * mp.cos(t) - a * mp.sin(t)),
                 4.0, 16),
    "logistic": (lambda y: [y[0] * (1 - y[0])], (0.125,),
                 lambda t, a: (a * mp.exp(t) / (1 - a + a * mp.exp(t)),), 6.0, 24),
    "square": (lambda y: [y[0] * y[0]], (0.5,), lambda t, a: (a / (1 - a * t),), 1.0, 8),
    "inverse": (lambda y: [1 / y[0] if not isinstance(y[0], enclose.Jet) else one(y[0]) / y[0]],
                (0.5,), lambda t, a: (mp.sqrt(a * a + 2 * t),), 2.0, 40),
    "root": (lambda y: [y[0].sqrt()], (0.25,), lambda t, a: ((mp.sqrt(a) + t / 2) ** 2,), 2.0, 64),
    "sine": (lambda y: [y[0].sin_cos()[0]], (1.0,),
             lambda t, a: (2 * mp.atan(mp.tan(a / 2) * mp.exp(t)),), 2.0, 16),
    "cosine": (lambda y: [y[0].sin_cos()[1]], (0.5,),
               lambda t, a: (2 * mp.atan(mp.tanh(t / 2 + mp.atanh(mp.tan(a / 2)))),), 2.0, 16),
    "stiff": (lambda y: [-8 * y[0] + y[1], -y[1]], (1.0, 1.0),
              lambda t, a, b: ((a - b / 7) * mp.exp(-8 * t) + b / 7 * mp.exp(-t), b * mp.exp(-t)),
              4.0, 80),
}


def one(jet):
    return jet * 0 + 1


def exact(name, t, start):
    return KNOWN[name][2](mp.mpf(t), *map(mp.mpf, map(float, start)))


def ball(number):
    with ctx.workprec(200):
        return arb(mp.nstr(number, DIGITS)) + arb(0, 1e-30)


def run(name, radius, order=enclose.ORDER):
    field, start, _, t, steps = KNOWN[name]
    patch = Patch.box(start, radius)
    for _ in range(steps):
        patch = enclose.follow(field, patch, t / steps, order)
    return patch


def corners(patch, seed=0, n=4):
    signs = np.random.default_rng(seed).uniform(-1, 1, (n, patch.radius.size))
    return [patch.centre + patch.frame @ (v * patch.radius) for v in [*signs, *np.sign(signs)]]


@pytest.mark.parametrize("name", KNOWN)
def test_an_exact_solution_is_enclosed_to_rounding(name):
    patch = run(name, 0.0, order=32)
    for found, true in zip(patch.balls(), exact(name, KNOWN[name][3], KNOWN[name][1]), strict=True):
        assert found.contains(ball(true))
        assert found.rad() < 2e-13 * max(1, abs(float(true)))


@pytest.mark.parametrize("name", KNOWN)
def test_all_solutions_from_a_patch_are_enclosed(name):
    field, start, _, t, steps = KNOWN[name]
    patch, h = Patch.box(start, 0.01), t / steps
    shift, matrix = enclose.image(field, patch, h)
    after = enclose.guess(shift, matrix, patch.radius)
    for corner in corners(patch):
        end = [ball(x) for x in exact(name, h, corner)]
        assert all(found.overlaps(x) for found, x in zip(after.balls(), end, strict=True))
        inside = np.linalg.solve(after.frame, [float(x) for x in end] - after.centre)
        assert np.all(np.abs(inside) <= after.radius * (1 + 1e-9) + 1e-14)


@pytest.mark.parametrize("name", ["rotation", "stiff"])
def test_a_linear_image_is_not_larger_than_it_must_be(name):
    """So a patch that is a thousandth too small in one direction must be refused."""
    field, start, _, t, steps = KNOWN[name]
    patch, h = Patch.box(start, 0.125), t / steps
    after = enclose.follow(field, patch, h)
    assert enclose.maps_into(field, patch, h, after)
    for k in range(len(start)):
        radius = after.radius.copy()
        radius[k] *= 0.999
        assert not enclose.maps_into(field, patch, h, Patch(after.centre, after.frame, radius))
        moved = after.centre + 1e-3 * radius[k] * after.frame[:, k]
        assert not enclose.maps_into(field, patch, h, Patch(moved, after.frame, after.radius))


@pytest.mark.parametrize("name", KNOWN)
def test_a_patch_that_misses_a_solution_is_refused(name):
    """The patch holds the ends of all starts but those next to one corner."""
    field, start, _, t, steps = KNOWN[name]
    patch, h = Patch.box(start, 0.01), t / steps
    after = enclose.follow(field, patch, h)
    true = [exact(name, h, corner) for corner in corners(patch)]
    for k in range(len(start)):
        inside = [np.linalg.solve(after.frame, np.array(x, float) - after.centre)[k] for x in true]
        radius = after.radius.copy()
        radius[k] = 0.99 * max(map(abs, inside))
        assert not enclose.maps_into(field, patch, h, Patch(after.centre, after.frame, radius))


def test_a_field_that_is_off_by_a_millionth_is_refused():
    field, start, _, t, steps = KNOWN["rotation"]
    patch, h = Patch.box(start, 1e-9), t / steps
    after = enclose.follow(field, patch, h)
    wrong = lambda y: [y[1] * (arb(1) + arb(10) ** -6), -y[0]]  # noqa: E731
    assert not enclose.maps_into(wrong, patch, h, after)
    assert not enclose.maps_into(field, patch, h * (1 + 1e-6), after)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_at_a_low_order_the_remainder_still_encloses(order):
    """There the remainder is the largest part, so its absence would show."""
    for name in KNOWN:
        field, start, _, t, steps = KNOWN[name]
        patch, h = Patch.box(start, 0.0), t / steps
        after = enclose.follow(field, patch, h, order)
        end = exact(name, h, start)
        assert all(b.contains(ball(x)) for b, x in zip(after.balls(), end, strict=True))
        near = patch, Patch.box(start, 1e-3)
        shift, matrix = enclose.image(field, near[1], h, order)
        for k in range(len(start)):  # the derivatives by the start, by central differences
            tip = np.eye(len(start))[k] * 1e-9
            ends = [exact(name, h, start + s * tip) for s in (1, -1)]
            slopes = [(x - y) / mp.mpf(2e-9) for x, y in zip(*ends, strict=True)]
            assert all(row[k].overlaps(arb(float(x)) + arb(0, 1e-6))
                       for row, x in zip(matrix, slopes, strict=True))


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_a_careful_solver_stays_inside_on_random_quadratic_systems(seed):
    rng = np.random.default_rng(seed)
    A, B = rng.uniform(-1, 1, (2, 3, 3))

    def field(y):
        linear = [sum((float(a) * x for a, x in zip(row, y, strict=True)), y[0] * 0) for row in A]
        bent = [sum((float(b) * x for b, x in zip(row, y, strict=True)), y[0] * 0) for row in B]
        return [p - x * q * q for p, x, q in zip(linear, y, bent, strict=True)]

    def plain(t, y):
        return A @ y - y * (B @ y) ** 2

    start = rng.uniform(-0.5, 0.5, 3)
    patch = Patch.box(start, 1e-6)
    ends = [start, *corners(patch, seed)]
    for _ in range(4):
        patch = enclose.follow(field, patch, 0.125)
    for y in ends:
        end = solve_ivp(plain, (0, 0.5), y, "DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
        v = np.linalg.solve(patch.frame, end - patch.centre)
        assert np.all(np.abs(v) <= patch.radius * (1 + 1e-6) + 1e-12)
    assert np.all(patch.radius < 1e-4)


@pytest.mark.parametrize("push", [1.0, -1.0])
def test_a_field_known_up_to_a_defect_is_enclosed(push):
    """y' = -y + push/8 and its rotation, where only the first part is told."""
    field, patch, h = (lambda y: [-y[0], y[0] * 0]), Patch.box((1.0, 0.0), 0.0), 0.25
    bounds = lambda box: [arb(0.125), arb(0)]  # noqa: E731
    after = enclose.follow(field, patch, h, defect=bounds)
    end = mp.exp(-h) + push / 8 * (1 - mp.exp(-h))
    assert after.balls()[0].contains(ball(end))
    assert not enclose.maps_into(field, patch, h, after, defect=lambda box: [arb(0.25), arb(0)])
    assert after.balls()[1].contains(arb(0)) and after.balls()[1].rad() < 1e-15
    assert not enclose.follow(field, patch, h).balls()[0].contains(ball(end))


def test_the_rough_enclosure_has_room_for_the_defect():
    """y' = e alone takes y as far as h |e| to both sides."""
    box, = enclose.picard(lambda y: [y[0] * 0], [arb(0)], arb(1), lambda box: [arb(1)])
    assert box.contains(certify.interval(-1, 1))
    alone, = enclose.picard(lambda y: [y[0] * 0 + 1], [arb(0)], arb(1))
    assert alone.contains(certify.interval(0, 1)) and not alone.contains(arb(-0.5))


def test_the_rough_enclosure_holds_the_start_too():
    """y' = 1 from 0: at every time in [0, 1], not at 1 alone; y' = 8 - y, with its start."""
    for rate in (lambda y: [y[0] * 0 + 1], lambda y: [8 - y[0]]):
        box, = enclose.picard(rate, [arb(0)], arb(0.5))
        assert box.contains(arb(0)) and box.contains(arb(0.25))
        reach = arb(0).union(arb(0.5) * rate([box])[0])
        assert box.contains(reach)


def test_an_upper_bound_is_above_the_whole_ball():
    bound = enclose._largest([arb(-1, 0.5), arb(1, 0.25)])
    assert bound >= arb(1.5) and bound < arb(1.51)


def test_a_defect_that_acts_through_another_coordinate_is_enclosed():
    """y0' = e, y1' = 4 y0 with |e| <= 1/8: y1 reaches 4 e h^2/2."""
    field = lambda y: [y[0] * 0, 4 * y[0]]  # noqa: E731
    patch = Patch.box((0.0, 0.0), 0.0)
    after = enclose.follow(field, patch, 0.25, defect=lambda box: [arb(0.125), arb(0)])
    for e in (0.125, -0.125):
        assert after.balls()[0].contains(arb(e * 0.25))
        assert after.balls()[1].contains(arb(2 * e * 0.25**2))


def test_a_growing_difference_is_enclosed():
    """y' = 8 y + e: the difference is e (exp(8 h) - 1)/8, more than e h."""
    field, h = (lambda y: [8 * y[0]]), 0.0625
    after = enclose.follow(field, Patch.box((0.0,), 0.0), h, defect=lambda box: [arb(0.5)])
    assert after.balls()[0].contains(arb(0.5) * ((arb(8 * h)).exp() - 1) / 8)


def test_a_parameter_keeps_its_interval():
    """y' = -p y with p in [1, 2]: the ends of the interval are kept through many steps."""
    field = lambda y: [-y[0] * y[1], y[1] * 0]  # noqa: E731
    patch = Patch((1.0, 1.5), np.eye(2), (0.0, 0.5))
    for _ in range(8):
        patch = enclose.follow(field, patch, 0.0625, parameters=1)
    assert 0 <= patch.radius[1] - 0.5 < 1e-6  # radii of balls have 30 bits
    for p in (1.0, 1.5, 2.0):
        assert patch.balls()[0].contains((arb(-p) / 2).exp())


def test_a_step_beyond_a_pole_is_not_proved():
    """y' = y^2 from 1 explodes at 1."""
    with pytest.raises(NotProved, match="no rough enclosure"):
        enclose.follow(KNOWN["square"][0], Patch.box((1.0,), 0.0), 1.25)


def test_a_step_that_leaves_the_domain_is_not_proved():
    with pytest.raises(NotProved, match="leaves the domain"):
        start = Patch.box((1.0, 0.0), 0.0)
        enclose.follow(KNOWN["rotation"][0], start, 0.5, rough=lambda box: box[1] > -0.1)


def test_what_may_be_singular_is_not_proved():
    with pytest.raises(NotProved, match="no series"):
        with enclose.arithmetic():
            enclose.coefficients(lambda y: [y[0] * 0 + 1 / (y[0] - 1)], [arb(1, 0.5)], 3)
    flat = Patch((0.0, 0.0), np.ones((2, 2)), (1.0, 1.0))
    with pytest.raises(NotProved, match="invertible"):
        flat.contains([arb(0), arb(0)])


def test_a_number_that_is_not_finite_is_never_accepted():
    field, patch = (lambda y: [(y[0] - 1).sqrt()]), Patch.box((1.0,), 0.25)
    with pytest.raises(NotProved):
        enclose.follow(field, patch, 0.125)
    assert not Patch.box((0.0,), 1.0).contains([arb("nan")])


@pytest.mark.parametrize("terms", [1, 5, 30, 63])
def test_coefficients_are_those_of_the_exponential(terms):
    with enclose.arithmetic():
        rows = enclose.coefficients(lambda y: [y[0]], [arb(1)], terms)
        both = enclose.jets(lambda y: [y[0]], [arb(1)], terms)
    for k in range(terms + 1):
        for value in (rows[k][0], both[0][k][0], both[1][k][0][0]):
            assert value.contains(1 / arb(k).fac()) or value.overlaps(1 / arb(k).fac())
            assert value > 0


def test_more_terms_than_the_series_hold_are_an_error_and_not_zero():
    with enclose.arithmetic(), pytest.raises(NotProved, match="a series ends"):
        enclose.coefficients(lambda y: [y[0] * 1], [arb(1)], enclose.MOST_TERMS + 2)


def test_the_precision_is_given_back():
    before = ctx.prec, ctx.cap
    enclose.follow(KNOWN["rotation"][0], Patch.box((1.0, 0.0), 0.0), 0.125)
    with pytest.raises(NotProved):
        enclose.follow(KNOWN["square"][0], Patch.box((1.0,), 0.0), 2.0)
    assert (ctx.prec, ctx.cap) == before


OPERATIONS = {
    "sum": lambda x, y: x + y, "plus ball": lambda x, y: x + arb(3),
    "difference": lambda x, y: x - y, "from ball": lambda x, y: arb(2) - x,
    "from int": lambda x, y: 2 - x, "minus": lambda x, y: -x, "product": lambda x, y: x * y,
    "times ball": lambda x, y: arb(3) * x, "ratio": lambda x, y: x / y,
    "over ball": lambda x, y: x / arb(3), "root": lambda x, y: (x + 2).sqrt(),
    "sine": lambda x, y: x.sin_cos()[0], "cosine": lambda x, y: x.sin_cos()[1],
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_jets_carry_the_derivatives_of_every_operation(name):
    """By differences of whole series with a tiny step."""
    h, act = arb(2) ** -40, OPERATIONS[name]
    x, y = [arb(1), arb(-2), arb(3)], [arb(2), arb(1), arb(5)]
    dx, dy = [arb(3), arb(1), arb(-1)], [arb(-1), arb(2), arb(4)]
    with enclose.arithmetic(200):
        jets = [enclose.Jet(arb_series(v, 3), [arb_series(d, 3)]) for v, d in ((x, dx), (y, dy))]
        found = act(*jets)
        ends = [act(*(arb_series([a + s * h * b for a, b in zip(v, d)], 3)
                      for v, d in ((x, dx), (y, dy)))) for s in (1, -1)]
        plain = act(arb_series(x, 3), arb_series(y, 3))
        for k in range(3):
            slope = (ends[0][k] - ends[1][k]) / (2 * h)
            assert abs(found.slopes[0][k] - slope) < 1e-18
            assert found.value[k].overlaps(plain[k])


@pytest.mark.parametrize("fault", [
    {"radius": (-1.0, 1.0)}, {"radius": (1.0,)}, {"frame": np.eye(3)}, {"centre": (0.0, np.nan)},
])
def test_patches_that_make_no_sense_are_refused(fault):
    parts = {"centre": (0.0, 0.0), "frame": np.eye(2), "radius": (1.0, 1.0)} | fault
    with pytest.raises(ValueError, match=next(iter(fault))):
        Patch(**parts)


@pytest.mark.parametrize("order", [0, -1, 1.5])
def test_the_order_is_a_whole_number_of_at_least_one(order):
    with pytest.raises(ValueError, match="order must be a whole number >= 1"):
        enclose.follow(KNOWN["rotation"][0], Patch.box((1.0, 0.0), 0.0), 0.5, order)


@pytest.mark.parametrize("h", [0.0, -1.0, np.nan, np.inf])
def test_steps_are_positive_and_finite(h):
    with pytest.raises(ValueError, match="h must be in"):
        enclose.follow(KNOWN["rotation"][0], Patch.box((1.0, 0.0), 0.0), h)
    with pytest.raises(ValueError, match="h must be in"):
        enclose.maps_into(KNOWN["rotation"][0], Patch.box((1.0, 0.0), 0.0), h,
                          Patch.box((1.0, 0.0), 1.0))


def test_a_patch_cannot_be_changed():
    given = np.zeros(2)
    patch = Patch.box(given, 1.0)
    given[0] = 5
    assert patch.centre[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        patch.radius[:] = -5


def test_a_patch_contains_what_it_certainly_contains():
    turned = np.array([[0.6, -0.8], [0.8, 0.6]])
    patch = Patch((1.0, 2.0), turned, (1.0, 0.5))
    inside, outside = patch.centre + turned @ (0.99, -0.49), patch.centre + turned @ (0.9, 0.51)
    assert patch.contains([arb(x) for x in inside])
    assert not patch.contains([arb(x) for x in outside])
    assert all(b.contains(arb(x)) for corner in corners(patch) for b, x in
               zip(patch.balls(), corner * (1 - 1e-15), strict=True))


def test_the_longest_axis_comes_first():
    shift, matrix = [arb(0), arb(0)], [[arb(1), arb(1)], [arb(0), arb(1)]]
    flat = enclose.guess(shift, matrix, np.array([1e-3, 1.0]))
    assert abs(abs(flat.frame[0, 0]) - np.sqrt(0.5)) < 1e-12 and flat.radius[1] < 1e-3



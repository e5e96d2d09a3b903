"""Interval proofs: enclosures enclose, covers cover, rules mean what they say, lies are refused."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given
from hypothesis import strategies as st

from gaugelib import certify
from gaugelib.certify import Box, NotProved

PI = np.pi
angles = st.floats(0.0, PI)
signed = st.floats(-2.0, 4.0)


@pytest.fixture(autouse=True, scope="module")
def forty_digits():
    with mp.workdps(40):
        yield


def g(a):
    return (mp.sin(a) + (mp.pi - a) * mp.cos(a)) / (2 * mp.pi)


def omega(a):
    return (mp.pi - a) * mp.sin(a) / (2 * mp.pi)


def F1(x, y, half=0.5):
    return half * g(x + y) - g(x) * g(y) + omega(x) * omega(y)


def F2(phi, x, half=0.5):
    return half * g(phi) - g(x) * g(phi + x) - omega(x) * omega(phi + x)


def N(x):
    J = x * (mp.pi - x) + mp.sin(x) ** 2 - mp.pi * mp.sin(x) * mp.cos(x)
    return mp.pi * mp.sin(x) ** 3 - J * (mp.cos(x) + mp.sin(x) / 4)


FUNCTIONS = {"first": (certify.first, F1), "second": (certify.second, F2),
             "stationary": (certify.stationary, N)}
USED = {"first": ((0, 0), (1, 0), (0, 1), (0, 2), (1, 2), (0, 3), (2, 2), (3, 2), (2, 3)),
        "second": ((0, 0), (1, 0), (0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (0, 4), (2, 2)),
        "stationary": ((0,), (1,), (3,), (4,))}


def derivative(name, point, orders):
    """By mpmath's numerical differentiation in 40 digits (10 digits are asked for)."""
    return mp.diff(FUNCTIONS[name][1], tuple(map(mp.mpf, point)), orders)


def contains(ball, value, slack=0.0):
    """Whether the ball contains an mpmath number, whose own error is at most ``slack``."""
    with ctx.workprec(200):
        return ball.overlaps(arb(mp.nstr(value, 38)) + arb(0, slack))


def points_in(box, n=5, seed=0):
    rng = np.random.default_rng(seed)
    low, high = np.array(box.sides).T
    return low + (high - low) * rng.uniform(0, 1, (n, len(low)))


# --- balls and boxes ------------------------------------------------------------------------------


@given(signed, signed)
def test_an_interval_contains_its_ends_and_all_between(a, b):
    low, high = sorted((a, b))
    ball = certify.interval(low, high)
    assert all(ball.contains(arb(x)) for x in (low, high, low + (high - low) / 3))
    assert ball.rad() <= (high - low) / 2 * 1.001 + 1e-12


def test_an_interval_with_ends_that_have_no_common_middle_still_contains_them():
    low, high = 0.1, np.nextafter(0.1, 1)
    assert all(certify.interval(low, high).contains(arb(x)) for x in (low, high))


@given(st.integers(1, 3), st.data())
def test_halves_share_the_longest_side_and_nothing_is_lost(n, data):
    sides = tuple((float(low), float(low + width)) for low, width in
                  data.draw(st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 8)),
                                     min_size=n, max_size=n)))
    box = Box(sides)
    left, right = box.halves()
    k = [a != b for a, b in zip(left.sides, sides, strict=True)].index(True)
    lengths = [high - low for low, high in sides]
    assert lengths[k] == max(lengths)
    assert left.sides[k][0] == sides[k][0] and right.sides[k][1] == sides[k][1]
    assert left.sides[k][1] == right.sides[k][0] == sum(sides[k]) / 2
    for half in (left, right):
        assert half.sides[:k] + half.sides[k + 1:] == sides[:k] + sides[k + 1:]


def test_only_a_box_whose_every_side_starts_at_zero_is_at_the_origin():
    assert Box(((0.0, 1.0), (0.0, 2.0))).at_origin
    assert not Box(((0.0, 1.0), (0.5, 2.0))).at_origin
    assert not Box(((0.5, 1.0), (0.0, 2.0))).at_origin


# --- derivatives ----------------------------------------------------------------------------------


@given(signed)
def test_derivative_lists_are_the_derivatives(a):
    for balls, function in ((certify.g_derivatives(arb(a), 5), g),
                            (certify.omega_derivatives(arb(a), 5), omega),
                            (certify.sine_derivatives(arb(a), 5), mp.sin)):
        assert len(balls) == 6
        for k, ball in enumerate(balls):
            assert contains(ball, mp.diff(function, mp.mpf(a), k), slack=1e-18)
            assert ball.rad() < 1e-14


def test_values_at_zero_are_those_that_the_proofs_use():
    g0, omega0 = (f(arb(0), 2) for f in (certify.g_derivatives, certify.omega_derivatives))
    for ball, value in ((g0[0], 0.5), (omega0[0], 0), (omega0[1], 0.5), (g0[1], 0)):
        assert ball.contains(arb(value)) and ball.rad() < 1e-15
    assert omega0[2].overlaps(-1 / arb.pi())


@given(signed)
def test_leibniz_gives_the_derivatives_of_a_product(a):
    balls = certify.product(certify.g_derivatives(arb(a), 4), certify.omega_derivatives(arb(a), 3))
    assert len(balls) == 4
    for k, ball in enumerate(balls):
        assert contains(ball, mp.diff(lambda x: g(x) * omega(x), mp.mpf(a), k), slack=1e-18)


@pytest.mark.parametrize(("name", "orders"), [(n, o) for n in USED for o in USED[n]])
def test_every_partial_derivative_that_a_proof_uses_is_right(name, orders):
    rng = np.random.default_rng(sum(orders))
    for point in rng.uniform(0, 2, (4, len(orders))):
        ball = FUNCTIONS[name][0](tuple(arb(x) for x in point), orders)
        assert contains(ball, derivative(name, point, orders), slack=1e-12)
        assert ball.rad() < 1e-12


@pytest.mark.parametrize("name", ["first", "second"])
@given(x=angles, y=angles, half=st.fractions(0, 1, max_denominator=1000))
def test_another_constant_multiplies_the_right_side_only(name, x, y, half):
    ours, theirs = FUNCTIONS[name]
    ball = ours((arb(x), arb(y)), half=half)
    value = theirs(mp.mpf(x), mp.mpf(y), mp.mpf(half.numerator) / half.denominator)
    assert contains(ball, value) and ball.rad() < 1e-14


# --- enclosures over boxes ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["first", "second", "stationary"])
@given(corner=st.tuples(angles, angles), size=st.floats(1e-6, 1.0), seed=st.integers(0, 99))
def test_both_enclosures_contain_the_function_on_the_box(name, corner, size, seed):
    ours, theirs = FUNCTIONS[name]
    order = (0,) if name == "stationary" else (0, 0)
    box = Box(tuple((low, low + size) for low in corner[: len(order)]))
    natural = ours(box.balls(), order)
    centred = certify.mean_value(ours, box.balls(), order)
    ends = [[low for low, _ in box.sides], [high for _, high in box.sides]]
    for point in [*points_in(box, 3, seed), *ends]:
        value = theirs(*map(mp.mpf, map(float, point)))
        assert contains(natural, value) and contains(centred, value)


@pytest.mark.parametrize(("name", "orders"), [("first", (2, 2)), ("first", (0, 2)),
                                              ("second", (0, 3)), ("second", (1, 2)),
                                              ("second", (0, 2)), ("stationary", (3,))])
def test_both_enclosures_contain_the_derivatives_on_boxes(name, orders):
    ours = FUNCTIONS[name][0]
    box = Box(((0.25, 0.5), (0.0, 0.25))[: len(orders)])
    for point in points_in(box):
        value = derivative(name, point, orders)
        assert contains(ours(box.balls(), orders), value, 1e-12)
        assert contains(certify.mean_value(ours, box.balls(), orders), value, 1e-12)


@pytest.mark.parametrize("name", ["first", "second", "stationary"])
def test_the_mean_value_enclosure_converges_with_the_square_of_the_box(name):
    ours, order = FUNCTIONS[name][0], (0,) if name == "stationary" else (0, 0)

    def too_wide(size):
        """Width of the enclosure beyond that of the linear part at the centre."""
        balls = tuple(certify.interval(0.7 - size, 0.7 + size) for _ in order)
        slopes = [ours((arb(0.7),) * len(order), tuple(int(k == j) for j in range(len(order))))
                  for k in range(len(order))]
        linear = sum(abs(float(slope.mid())) for slope in slopes) * size
        return float(certify.mean_value(ours, balls, order).rad()) - linear

    assert 12 < too_wide(1e-2) / too_wide(2.5e-3) < 20


@given(st.floats(0.0, 3.0), st.floats(1e-3, 0.5))
def test_positive_is_said_of_positive_functions_only(low, size):
    def f(balls, orders):
        (x,), (n,) = balls, orders
        return (x * x - arb("0.3"), 2 * x, arb(2))[n]

    said = certify.positive(f, (certify.interval(low, low + size),), (0,))
    assert not said or low**2 > 0.3
    assume(low**2 > 0.3 + size)
    assert said


# --- covers ---------------------------------------------------------------------------------------


def test_a_cover_accepts_every_point_of_the_domain_and_leaves_out_the_rest():
    disc = Box(((0.0, 1.0), (0.0, 1.0)))

    def outside(box):
        return box.sides[0][0] ** 2 + box.sides[1][0] ** 2 > 1

    accepted = certify.cover(disc, outside, {"small": lambda box: box.sides[0][1]
                                             - box.sides[0][0] < 0.1})
    rng = np.random.default_rng(0)
    for x, y in rng.uniform(0, 1, (2000, 2)):
        hits = sum(a <= x <= b and c <= y <= d for _, ((a, b), (c, d)) in
                   ((rule, box.sides) for rule, box in accepted))
        assert hits >= (x * x + y * y <= 1)
    assert {rule for rule, _ in accepted} == {"small"}
    area = sum((b - a) * (d - c) for _, ((a, b), (c, d)) in
               ((rule, box.sides) for rule, box in accepted))
    assert PI / 4 < area < 0.9


def test_the_first_rule_that_accepts_gives_its_name():
    accepted = certify.cover(Box(((0.0, 1.0),)), lambda box: False,
                             {"never": lambda box: False, "a": lambda box: True,
                              "b": lambda box: True})
    assert accepted == (("a", Box(((0.0, 1.0),))),)


def test_a_box_that_no_rule_accepts_is_reported_after_the_allowed_bisections():
    asked = []

    def never(box):
        asked.append(box)
        return False

    with pytest.raises(NotProved, match="after 3 bisections"):
        certify.cover(Box(((0.0, 8.0),)), lambda box: False, {"never": never}, depth=3)
    assert min(high - low for ((low, high),) in (box.sides for box in asked)) == 1.0


def test_nothing_to_prove_is_proved_with_no_box():
    assert certify.cover(Box(((0.0, 1.0),)), lambda box: True, {}) == ()


def hit(certificate, point):
    return any(all(low <= x <= high for x, (low, high) in zip(point, box.sides, strict=True))
               for _, box in certificate.accepted)


@pytest.mark.parametrize("phi_max", [None, 1.0, 2.0])
def test_the_boxes_of_the_first_inequality_cover_its_triangle(phi_max):
    proof = certify.kernel_first(phi_max)
    top = PI / 3 if phi_max is None else phi_max
    rng = np.random.default_rng(1)
    corners = [(0, 0), (top, 0), (top / 2, top / 2), (top - 1e-9, 0)]
    phi, part = top * rng.uniform(0, 1, 500), rng.uniform(0.5, 1, 500)
    for point in [*corners, *zip(phi * part, phi * (1 - part), strict=True)]:
        assert hit(proof, point), point


@pytest.mark.parametrize("phi_max", [None, 1.0, 2.0])
def test_the_boxes_of_the_second_inequality_cover_its_domain(phi_max):
    proof = certify.kernel_second(phi_max)
    top = PI / 3 if phi_max is None else phi_max
    rng = np.random.default_rng(2)
    corners = [(0, 0), (top, 0), (0, PI), (top, PI - top)]
    phi, part = top * rng.uniform(0, 1, 500), rng.uniform(0, 1, 500)
    for point in [*corners, *zip(phi, (PI - phi) * part, strict=True)]:
        assert hit(proof, point), point


def test_the_boxes_of_the_stationary_state_cover_its_interval():
    proof = certify.no_other_stationary_state()
    assert all(hit(proof, (x,)) for x in np.linspace(0, 2, 1001))


# --- what the rules claim ---------------------------------------------------------------------


CLAIMS = {
    "first": {"F1 > 0": (0, 0), "dy2 > 0": (0, 2), "dx2dy2 > 0": (2, 2)},
    "second": {"F2 > 0": (0, 0), "dx2 > 0": (0, 2)},
}
FROM_ZERO = {"dy2 > 0": (False, True), "dx2dy2 > 0": (True, True), "dx2 > 0": (False, True),
             "F1 > 0": (False, False), "F2 > 0": (False, False)}


@pytest.mark.parametrize(("name", "prove"), [("first", certify.kernel_first),
                                             ("second", certify.kernel_second)])
def test_what_a_rule_claims_holds_at_points_from_the_line_of_zeros_on(name, prove):
    rng = np.random.default_rng(3)
    accepted = prove().accepted
    assert set(CLAIMS[name]) <= {rule for rule, _ in accepted}
    for rule, box in accepted:
        if rule == "corner":
            continue
        sides = [(0.0 if zero else low, high) for zero, (low, high) in
                 zip(FROM_ZERO[rule], box.sides, strict=True)]
        point = [rng.uniform(low, high) for low, high in sides]
        assert derivative(name, point, CLAIMS[name][rule]) > 0


@pytest.mark.parametrize(("prove", "F"), [(certify.kernel_first, F1), (certify.kernel_second, F2)])
def test_the_inequality_holds_at_every_corner_and_centre_of_the_accepted_boxes(prove, F):
    for _, box in prove(3.0).accepted:
        low, high = np.array(box.sides).T
        for point in (low, (low + high) / 2, high):
            x, y = map(float, point)
            inside = x + y <= (3.0 if F is F1 else PI) and (F is F1 or x <= 3.0)
            assert not inside or F(mp.mpf(x), mp.mpf(y)) > -mp.mpf(10) ** -35


def test_the_corner_box_of_the_second_inequality_has_a_positive_second_derivative():
    (box,) = [box for rule, box in certify.kernel_second().accepted if rule == "corner"]
    assert box.at_origin
    for phi, x in points_in(box, 20):
        assert derivative("second", (phi, x), (0, 2)) > 0
        assert derivative("second", (phi, x), (0, 3)) > 0
        assert derivative("second", (phi, x), (1, 2)) > 0


@given(angles)
def test_both_functions_have_double_zeros_where_the_docstrings_say(a):
    a = mp.mpf(a)
    assert abs(F1(a, mp.mpf(0))) < 1e-35 and abs(mp.diff(F1, (a, 0), (0, 1))) < 1e-18
    assert abs(F2(a, mp.mpf(0))) < 1e-35 and abs(mp.diff(F2, (a, 0), (0, 1))) < 1e-18
    closed = (2 * mp.pi - a) * mp.sin(a) / (2 * mp.pi**2)
    assert abs(mp.diff(F2, (a, 0), (0, 2)) - closed) < 1e-12
    assert abs(F1(a, mp.mpf(1)) - F1(mp.mpf(1), a)) < 1e-35


def test_the_function_of_the_stationary_state_has_a_triple_zero():
    assert N(mp.mpf(0)) == 0
    assert all(abs(mp.diff(N, 0, k)) < 1e-10 for k in (1, 2))
    assert abs(mp.diff(N, 0, 3) - 2 * mp.pi) < 1e-8


# --- truths are proved, lies are not --------------------------------------------------------------


def test_the_three_statements_are_proved():
    for proof in (certify.kernel_first(), certify.kernel_second(),
                  certify.no_other_stationary_state()):
        assert proof.boxes == sum(proof.by_rule.values()) == len(proof.accepted) > 0
        assert proof.statement


@pytest.mark.parametrize("prove", [certify.kernel_first, certify.kernel_second])
@pytest.mark.parametrize("half", ["0.4", "0.49", "0.4999", "0.49999999"])
def test_a_smaller_constant_is_not_proved(prove, half):
    with pytest.raises(NotProved):
        prove(half=Fraction(half))


@pytest.mark.parametrize("prove", [certify.kernel_first, certify.kernel_second])
@pytest.mark.parametrize("half", ["0.501", "0.6"])
def test_a_larger_constant_is_proved_without_derivatives(prove, half):
    assert set(prove(half=Fraction(half)).by_rule) <= {"F1 > 0", "F2 > 0"}


def polynomial(terms):
    """A stand-in for a certified function: sum of c x^i y^j, with all its derivatives."""

    def f(balls, orders=None, half=certify.HALF):
        value = arb(0)
        for powers, c in terms.items():
            term = arb(c)
            for ball, power, order in zip(balls, powers, orders or (0,) * len(balls), strict=True):
                falling = math.perm(power, order)  # zero for order > power
                term *= falling * ball ** max(power - order, 0)
            value += term
        return value

    return f


CONVEX_WHERE_NEGATIVE = {(0, 4): "0.08333", (0, 3): "-0.165", (0, 2): "0.079"}  # on y > 0.82
FALSE = [
    ("first", certify.kernel_first, CONVEX_WHERE_NEGATIVE, (1.2, 1.0)),
    ("second", certify.kernel_second, CONVEX_WHERE_NEGATIVE, (1.0, 1.0)),
    ("second", certify.kernel_second, {(0, 3): "1", (1, 2): "-1"}, (1.0, 0.5)),
    ("second", certify.kernel_second, {(1, 2): "1", (0, 3): "-1"}, (0.5, 1.0)),
    ("stationary", lambda _, depth: certify.no_other_stationary_state(depth),
     {(5,): "1", (4,): "-2", (3,): "0.99"}, (1.0,)),
]


@pytest.mark.parametrize(("name", "prove", "terms", "point"), FALSE)
def test_what_is_negative_somewhere_is_not_proved_whatever_its_derivatives_are(
        monkeypatch, name, prove, terms, point):
    """Zeros on the axis as in the docstrings, derivatives of the right sign elsewhere."""
    wrong = polynomial(terms)
    assert wrong(tuple(map(arb, point))) < 0
    monkeypatch.setattr(certify, name, wrong)
    with pytest.raises(NotProved):
        prove(3.0, depth=24)


def test_a_stand_in_that_is_positive_is_proved_by_the_same_rules(monkeypatch):
    monkeypatch.setattr(certify, "second", polynomial({(1, 2): "1", (0, 3): "1"}))
    assert set(certify.kernel_second(3.0).by_rule) == {"corner"}
    monkeypatch.setattr(certify, "stationary", polynomial({(3,): "1", (4,): "-0.4"}))
    assert set(certify.no_other_stationary_state().by_rule) == {"corner", "N > 0"}


@pytest.mark.parametrize("factor", [0.6, 0.66])
def test_a_smaller_cubic_term_is_not_proved(monkeypatch, factor):
    """With factor pi in place of pi the leading coefficient pi factor - 2 pi/3 is negative."""
    right = certify.stationary

    def wrong(balls, orders=(0,)):
        sine = certify.sine_derivatives(balls[0], orders[0])
        cube = certify.product(sine, certify.product(sine, sine))[orders[0]]
        return right(balls, orders) - (1 - arb(factor)) * arb.pi() * cube

    monkeypatch.setattr(certify, "stationary", wrong)
    with pytest.raises(NotProved):
        certify.no_other_stationary_state(depth=30)


@pytest.mark.parametrize("prove", [certify.kernel_first, certify.kernel_second])
@pytest.mark.parametrize("phi_max", [0, -1.0, 3.2, np.nan, np.inf])
def test_angles_without_a_meaning_are_refused(prove, phi_max):
    with pytest.raises(ValueError, match="phi_max must be in"):
        prove(phi_max)


def test_too_few_bisections_are_reported():
    for prove in (certify.kernel_first, certify.kernel_second, certify.no_other_stationary_state):
        with pytest.raises(NotProved, match="after 2 bisections"):
            prove(depth=2)


def test_a_depth_is_a_whole_number():
    with pytest.raises(ValueError, match="depth must be a whole number >= 0, got None"):
        certify.kernel_first(depth=None)

"""Proofs of the exact limit: what is enclosed is true, and what is false is refused."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import torch
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LassoLars

from gaugelib import certify
from gaugelib import condensation as cond
from gaugelib.certify import NotProved

MAIN = cond.four_points()
X, Y = [-1, Fraction(-1, 3), Fraction(1, 3), 1], [Fraction(2, 15), 0, 0, Fraction(2, 15)]
LAM = Fraction(1, 1000)
SEEDS = st.integers(0, 2**32 - 1)


def proved(lam=LAM):
    guess = cond.minimiser(MAIN, float(lam))
    return certify.exact_limit(X, Y, lam, guess.theta, guess.c)


def contains(ball, value):
    with ctx.workprec(128):
        return ball.contains(arb(mp.nstr(value, 36)) + arb(0, 1e-30))


def law(lam):
    """(beta, amplitude) of sin(b0 - b) = 30 lam cos(2 b + b0), in 40 digits."""
    lam = mp.mpf(lam.numerator) / lam.denominator
    b0 = mp.atan(mp.mpf(1) / 3)
    b = mp.findroot(lambda b: mp.sin(b0 - b) - 30 * lam * mp.cos(2 * b + b0), b0 - 17 * lam)
    C, S = mp.cos(b), mp.sin(b)
    return b, (mp.mpf(2) / 15 - lam * (3 * C + S)) / (C - S)


@pytest.mark.parametrize("lam", ["1/100000", "1/1000", "1/100", "1/50"])
def test_the_proved_limit_of_two_atoms_is_the_law_in_forty_digits(lam):
    lam = Fraction(lam)
    with mp.workdps(40):
        b, A = law(lam)
        limit = proved(lam)
        angles = sorted(limit.theta, key=float)
        expected = sorted([(mp.pi + b), (2 * mp.pi - b) % (2 * mp.pi)])
        assert all(contains(t, v) for t, v in zip(angles, expected, strict=True))
        assert all(contains(c, A) for c in limit.c)
        C, S = mp.cos(b), mp.sin(b)
        lam = mp.mpf(lam.numerator) / lam.denominator
        outer, inner = -lam * (3 * C + S), 3 * lam * (C + S)
        assert all(contains(e, v) for e, v in zip(limit.e, [outer, inner, inner, outer],
                                                  strict=True))
        assert contains(limit.value, (outer**2 + inner**2) / 2 + 2 * lam * A)
    assert all(ball.rad() < 1e-20 for ball in (*limit.theta, *limit.c, limit.value))


@pytest.mark.parametrize(("lam", "rule"), [("1/40", "small"), ("1/30", "atom"),
                                           ("1/10", "atom"), ("1/5", "small")])
def test_every_phase_is_proved(lam, rule):
    """Both atoms on boundaries; three atoms; one; none.  Cell 3 holds 90 degrees."""
    limit = proved(Fraction(lam))
    assert limit.rules[3] == rule and limit.rules[7] == "small"
    assert len(limit.rules) == 8


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_whatever_is_proved_is_the_minimum_and_no_other_measure_comes_as_low(seed):
    """A convex solver on 2000 random directions and the guess stays above the proved value."""
    rng = np.random.default_rng(seed)
    n, lam = int(rng.integers(1, 7)), float(10 ** rng.uniform(-2, 0))
    x, y = rng.normal(size=n), rng.normal(size=n)
    guess = cond.minimiser(cond.Data(x, y), lam)
    try:
        limit = certify.exact_limit(x, y, lam, guess.theta, guess.c)
    except NotProved:  # where the minimiser is not unique
        return
    value = float(limit.value.mid())
    assert abs(value - guess.value) < 1e-11 * (1 + value)
    angles = np.array([float(t.mid()) for t in limit.theta])
    assert np.abs(angles - guess.theta).max(initial=0) < 1e-10
    phi = cond.features(np.append(rng.uniform(0, 2 * np.pi, 2000), angles), x).T
    c = LassoLars(alpha=lam / 2, fit_intercept=False, max_iter=10_000).fit(phi, y).coef_
    assert np.mean((phi @ c - y) ** 2) + lam * np.abs(c).sum() > value - 1e-11


def test_most_random_data_have_a_limit_that_is_proved():
    rng, count = np.random.default_rng(0), 0
    for _ in range(40):
        n, lam = int(rng.integers(1, 8)), float(10 ** rng.uniform(-3, 0))
        data = cond.Data(rng.normal(size=n), rng.normal(size=n))
        guess = cond.minimiser(data, lam)
        try:
            certify.exact_limit(data.x, data.y, lam, guess.theta, guess.c)
            count += 1
        except NotProved:
            pass
    assert count >= 30


def guess_of(change):
    guess = cond.minimiser(MAIN, float(LAM))
    return change(guess.theta.copy(), guess.c.copy())


@pytest.mark.parametrize(
    "change",
    [
        lambda t, c: (t + [1e-9, 0], c),
        lambda t, c: (t, c * (1 + 1e-9)),
        lambda t, c: (t, -c),
        lambda t, c: (t[:1], c[:1]),
        lambda t, c: ([], []),
        lambda t, c: (np.append(t, np.pi / 2), np.append(c, 1e-3)),
        lambda t, c: (np.append(t, np.pi / 2), np.append(c, 1e-14)),
        lambda t, c: (np.append(t, t[0]), np.append(c / [2, 1], c[0] / 2)),
        lambda t, c: ([np.pi + np.arctan(1 / 3), 2 * np.pi - np.arctan(1 / 3)], [0.2108, 0.2108]),
        lambda t, c: ([np.pi / 2], [1 / 15 - 5e-4]),  # stationary, but a saddle of the measures
    ],
)
def test_a_false_guess_is_refused(change):
    with pytest.raises(NotProved):
        certify.exact_limit(X, Y, LAM, *guess_of(change))


def test_other_data_or_another_decay_refuse_the_guess():
    theta, c = guess_of(lambda t, c: (t, c))
    certify.exact_limit(X, Y, LAM, theta, c)
    for x, y, lam in ((X, Y, LAM * (1 + Fraction(1, 10**6))), (X, Y[::-1][1:] + [0], LAM),
                      ([-1, Fraction(-1, 3) + Fraction(1, 10**6), *X[2:]], Y, LAM)):
        with pytest.raises(NotProved):
            certify.exact_limit(x, y, lam, theta, c)


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_the_jacobian_is_that_of_the_equations_also_away_from_their_solution(seed):
    rng = np.random.default_rng(seed)
    x = [Fraction(float(v)) for v in rng.normal(size=4)]
    theta, c = rng.uniform(0, 6, 3), rng.normal(size=3)
    with ctx.workprec(128):
        system = certify._Stationarity(x, [Fraction(1)] * 4, Fraction(1), theta, np.sign(c))
        z, step = [arb(float(v)) for v in (*c, *theta)], arb(2) ** -40

        def F(z):
            return system.equations(z[:3], z[3:])[0]

        slopes = system.equations(z[:3], z[3:])[1]
        for k in range(6):
            there, back = ([v + s * step * (i == k) for i, v in enumerate(z)] for s in (1, -1))
            for row, up, down in zip(slopes, F(there), F(back), strict=True):
                assert abs((up - down) / (2 * step) - row[k]) < 1e-15


def test_a_box_that_reaches_a_boundary_is_refused():
    with pytest.raises(NotProved, match="may be on the boundary of the input -?0.3333"):
        certify.exact_limit(X, Y, LAM, *guess_of(lambda t, c: (t, c)), radius=0.02)


@pytest.mark.parametrize(
    "lam", [Fraction(205, 10_000), Fraction(211, 10_000), Fraction(297, 10_000), Fraction(4, 100)]
)
def test_a_phase_that_ended_is_refused_where_only_one_inequality_breaks(lam):
    """A state of another phase: all equations hold, and the field is too large in some cell."""
    corner, lam_ = np.arctan(1 / 3), float(lam)
    root = 10**0.5
    frozen = root / 20 * (8 / 15 - 2 * root * lam_)
    states = {
        Fraction(205, 10_000): ([corner, np.pi - corner], [frozen, frozen]),
        Fraction(211, 10_000): ([np.pi / 2], [1 / 15 - lam_ / 2]),
        Fraction(297, 10_000): ([np.pi / 2], [1 / 15 - lam_ / 2]),
        Fraction(4, 100): ([corner, np.pi - corner], [frozen, frozen]),
    }
    with pytest.raises(NotProved, match="may exceed"):
        certify.exact_limit(X, Y, lam, *states[lam])
    proved(lam)


def test_a_minimum_that_is_reached_twice_is_refused():
    """A line through two points: phi_theta - phi_(theta + pi) is linear, and can be had twice."""
    data = cond.Data([-2.0, -1.0, 0.5, 1.0, 3.0], [1.0, -1.0, 2.0, -2.0, 1.5])
    guess = cond.minimiser(data, 1e-3)
    sums = np.array([guess.e.sum(), guess.e @ data.x])
    assert np.abs(sums).max() < 1e-12, "the data must leave a residual without line"
    with pytest.raises(NotProved, match="may exceed"):
        certify.exact_limit(data.x, data.y, Fraction(1, 1000), guess.theta, guess.c)


def test_an_amplitude_of_the_wrong_sign_is_refused_although_the_equations_hold():
    """Equations with sign +1 at an atom whose amplitude is negative: solved, but no minimum."""
    equations = certify._Stationarity([Fraction(0)], [Fraction(1)], Fraction(5), np.array([1.5708]),
                                      np.array([1.0]))
    with pytest.raises(NotProved, match="may change its sign"):
        equations.certified([arb(-1.5)], [arb.pi() / 2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], [1, 1], 1, [], []), "x must be different numbers, as many as y"),
        (([0], [1, 1], 1, [], []), "as many as y"),
        (([], [], 1, [], []), "x must be different numbers"),
        (([0], [1], 0, [], []), r"lam must be in \(0, inf\), got 0"),
        (([0], [1], 1, [0.1], []), r"theta and c must be \(k,\)"),
        (([0], [1], 1, [0.1], [0.0]), "no c be 0"),
        (([0], [1], 1, [np.nan], [1.0]), "theta must be finite"),
        (([0], [1], 1, [0.1], [1.0], 2), r"radius must be in \(0, 1\), got 2"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        certify.exact_limit(*arguments)


# --- rates near the limit: other routes than the chapter's ----------------------------------------


def network_of(theta, A):
    """Balanced positive neurons."""
    return np.sqrt(A) * np.array([np.ones(len(A)), np.cos(theta), np.sin(theta)])


def hessian(network, lam):
    """Of Phi by all parameters (3 m, 3 m), by torch."""
    x, y = torch.tensor(MAIN.x), torch.tensor(MAIN.y)

    def cost(flat):
        a, w, b = flat.reshape(3, -1)
        f = torch.relu(x[:, None] * w + b) @ a
        return ((f - y) ** 2).mean() + lam / 2 * (flat**2).sum()

    return torch.autograd.functional.hessian(cost, torch.tensor(network.ravel())).numpy()


def test_the_rates_at_the_limit_are_the_eigenvalues_of_the_hessian_of_the_objective():
    """Two neurons an atom: 0 twice (how they share it), lam twice (their angles), 2 lam four
    times (imbalances), and the four of the groups; a neuron at zero adds lam (1 -+ h)."""
    lam, b = 1e-3, float(law(LAM)[0])
    least = cond.minimiser(MAIN, lam)
    share = np.array([0.3, 0.3, 0.7, 0.7])
    start = network_of(np.tile(least.theta, 2), share * np.tile(least.c, 2))
    rates = np.linalg.eigvalsh(hessian(start, lam)) / lam
    assert np.allclose(rates[:8], [0, 0, 1, 1, 2, 2, 2, 2], atol=1e-6)
    kappa = np.linalg.eigvalsh(cond.tangent_kernel(start, MAIN.x)) / lam
    assert np.all((rates[8:] > 2 * kappa) & (rates[8:] < 2 * kappa + 1))
    h = 2 * math.sin(b)
    tiny = 1e-9 * np.array([[-1.0], [0.0], [1.0]])  # negative, towards 90 degrees
    rates = np.linalg.eigvalsh(hessian(np.append(start, tiny, axis=1), lam)) / lam
    assert all(np.abs(rates - v).min() < 1e-6 for v in (1 - h, 1 + h))


def test_two_groups_follow_a_dying_negative_neuron_as_the_linear_response_says():
    """The flow of two positive neurons and a small negative one, far along, against the formula."""
    lam = 1e-3
    least = cond.minimiser(MAIN, lam)
    h = 2 * math.sin(float(law(LAM)[0]))
    death, eps = 2 * lam * (1 - h), 1e-5
    start = np.append(network_of(least.theta, least.c),
                      math.sqrt(eps * math.exp(1)) * np.array([[-1.0], [0.0], [1.0]]), axis=1)
    steps = round(1 / death / 0.1)
    end = cond.descend(MAIN, start, eta=0.1, lam=lam, steps=steps).networks[-1]
    a, r, theta = cond.polar(end)
    turned = np.angle(np.exp(1j * (theta[:2] - least.theta)))
    found = np.append((a * r)[:2] - least.c, turned)
    left = -(a * r)[2]
    assert math.isclose(left, eps, rel_tol=1e-3)
    phi, psi = cond.features(least.theta, MAIN.x), cond.slopes(least.theta, MAIN.x)
    G = np.vstack([phi, least.c[:, None] * psi])
    H = G @ G.T / 2 + np.diag([0, 0, *(lam * least.c)])
    D = np.concatenate([2 * least.c, 1 / least.c])
    x = np.linalg.solve(H - death * np.diag(1 / D), G @ np.full(4, left) / 2)
    assert np.allclose(found, x, rtol=2e-3)


def test_the_closed_forms_between_the_regimes_are_continuous_and_the_third_atom_starts_at_zero():
    root = math.sqrt(10)
    edges = (1 / (15 * root), 2 / 15 / (3 * root - 5), 2 / 15 / (2 * root - 3), 2 / 15)
    for edge, counts in zip(edges, ((2, 2), (2, 3), (3, 1), (1, 0)), strict=True):
        near = [cond.minimiser(MAIN, edge * (1 + s * 1e-3)) for s in (-1, 1)]
        assert tuple(m.c.size for m in near) == counts
        assert abs(near[0].value - near[1].value) < 3e-3 * near[0].value  # dPhi = sum |c| dlam
        grid = np.array([-1.0, -1 / 3, 1 / 3, 1.0])
        assert np.abs(near[0].outputs(grid) - near[1].outputs(grid)).max() < 1e-3

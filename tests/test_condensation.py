"""Networks of one variable under weight decay: identities, field, kernel, groups, exact limit."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from sklearn.linear_model import LassoLars

from gaugelib import condensation as cond
from gaugelib import flows, gauge
from gaugelib.problem import Problem, Students, Teacher
from gaugelib.solve import SolverError

MAIN = cond.four_points()
SEEDS = st.integers(0, 2**32 - 1)


def random_data(rng):
    n = int(rng.integers(1, 9))
    return cond.Data(rng.normal(size=n), rng.normal(size=n))


def random_case(seed, m=7):
    rng = np.random.default_rng(seed)
    data = random_data(rng)
    return data, rng.normal(size=(3, m))


def autograd(data, network, lam):
    """Gradients (3, m) of the data loss and of Phi, by torch."""
    theta = torch.tensor(network, requires_grad=True)
    x, y = torch.tensor(data.x), torch.tensor(data.y)
    f = torch.relu(x[:, None] * theta[1] + theta[2]) @ theta[0]
    loss = ((f - y) ** 2).mean()
    whole = loss + lam / 2 * (theta**2).sum()
    return (torch.autograd.grad(g, theta, retain_graph=True)[0].numpy() for g in (loss, whole))


def residual(data, network):
    return cond.outputs(network, data.x) - data.y


# --- training -----------------------------------------------------------------------------------


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_one_update_is_a_step_down_the_gradient_that_autograd_finds(seed):
    data, start = random_case(seed)
    _, gradient = autograd(data, start, 0.3)
    run = cond.descend(data, start, eta=0.01, lam=0.3, steps=1)
    expected = start - 0.01 * gradient
    assert np.abs(run.networks[-1] - expected).max() < 1e-13 * (1 + np.abs(gradient).max())
    assert np.allclose(run.loss[0], np.mean(residual(data, start) ** 2), rtol=1e-12)


def test_two_thousand_updates_are_those_of_torch_to_1e_minus_12():
    start = cond.initial(0, 200, 0.4)
    layers = torch.tensor(start, requires_grad=True)
    x, y = torch.tensor(MAIN.x), torch.tensor(MAIN.y)
    optimizer = torch.optim.SGD([layers], lr=0.1, weight_decay=1e-3)
    for _ in range(2000):
        optimizer.zero_grad()
        f = torch.relu(x[:, None] * layers[1] + layers[2]) @ layers[0]
        ((f - y) ** 2).mean().backward()
        optimizer.step()
    run = cond.descend(MAIN, start, eta=0.1, lam=1e-3, steps=2000)
    assert np.abs(run.networks[-1] - layers.detach().numpy()).max() < 1e-12


def test_descent_is_euler_on_the_flow_of_the_main_paper_with_twice_the_step():
    start = cond.initial(3, 12, 0.4)
    q, s, delta = gauge.coordinates(start[0], start[1:].T)
    teacher = Teacher(np.ones(1), np.array([[1.0, 0.0]]))
    problem = Problem(teacher, Students(q, s, delta), 1.0)
    flow = flows.empirical(problem, MAIN.rows, MAIN.y)
    y = flow.state0
    for _ in range(50):
        y = y + 0.2 * (np.asarray(flow.rhs(0.0, y)) - 0.005 * y)  # h = 2 eta, decay lam/2
    run = cond.descend(MAIN, start, eta=0.1, lam=0.01, steps=50)
    a, w, b = run.networks[-1]
    assert np.allclose(y, np.concatenate([a, np.column_stack([w, b]).ravel()]), atol=1e-13)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_velocity_is_minus_the_gradient_that_autograd_finds(seed):
    data, network = random_case(seed)
    _, gradient = autograd(data, network, 0.3)
    gap = cond.velocity(data, network, 0.3) + gradient
    assert np.abs(gap).max() < 1e-13 * (1 + np.abs(gradient).max())


@pytest.mark.parametrize("targets", [None, lambda t: MAIN.y * (1 + math.sin(3 * t))])
def test_the_flow_is_that_of_another_solver_and_of_fourth_order(targets):
    """Three neurons that stay in their cells, so that nothing but RK4 errs."""
    start = np.array([[0.7, -0.4, 0.5], [0.9, -1.1, 0.1], [0.2, 0.5, 1.2]])

    def rate(t, z):
        data = MAIN if targets is None else cond.Data(MAIN.x, targets(t))
        return cond.velocity(data, z.reshape(3, 3), 0.2).ravel()

    times = [0, 0.5, 1]
    exact = solve_ivp(rate, (0, 1), start.ravel(), "DOP853", times, rtol=1e-13, atol=1e-14)
    exact = exact.y.T.reshape(3, 3, 3)
    masks = [MAIN.rows @ z[1:] > 0 for z in exact]
    assert (masks[0] == masks).all()
    errors = []
    for steps in (20, 40):
        path = cond.follow(MAIN, start, 0.2, h=1 / steps, steps=steps, every=steps // 2,
                           targets=targets)
        assert path.shape == exact.shape and (path[0] == start).all()
        errors.append(np.abs(path - exact).max())
    assert errors[1] < 1e-6 and 3.5 < math.log2(errors[0] / errors[1]) < 4.5
    mirrored = None if targets is None else lambda t: targets(1 + t)
    back = cond.follow(MAIN, path[-1], 0.2, h=-1 / 40, steps=40, targets=mirrored)[-1]
    assert np.abs(back - start).max() < 1e-6


def test_a_neuron_on_its_kink_has_no_velocity_but_decay():
    """ReLU'(0) = 0: (1, 1) is on the kink of x = -1, and nothing else is learned."""
    data = cond.Data([-1.0], [5.0])
    network = np.array([[2.0], [1.0], [1.0]])
    assert (cond.velocity(data, network, 0.5) == -0.5 * network).all()


def test_kept_networks_are_those_before_their_updates():
    start = cond.initial(1, 5, 0.4)
    run = cond.descend(MAIN, start, eta=0.1, lam=0.01, steps=9, keep=[4, 0, 4])
    assert run.epochs.tolist() == [0, 4, 9] and np.array_equal(run.at(0), start)
    again = cond.descend(MAIN, run.at(4), eta=0.1, lam=0.01, steps=5)
    assert np.array_equal(again.at(5), run.at(9)) and np.array_equal(again.loss, run.loss[4:])
    last = np.mean(residual(MAIN, run.at(9)) ** 2)
    assert run.loss.shape == (10,) and np.isclose(run.loss[9], last)
    with pytest.raises(ValueError, match=r"epoch must be one of those kept, \[0 4 9\], got 5"):
        run.at(5)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_imbalance_obeys_its_exact_discrete_law(seed):
    """B <- (1 - eta lam)^2 B + eta^2 (|dL/da|^2 - |dL/dv|^2): the mixed terms cancel."""
    data, start = random_case(seed)
    eta, lam = 0.05, 0.2
    loss_gradient, _ = autograd(data, start, lam)
    after = cond.descend(data, start, eta=eta, lam=lam, steps=1).networks[-1]

    def imbalance(z):
        return z[0] ** 2 - z[1] ** 2 - z[2] ** 2

    expected = (1 - eta * lam) ** 2 * imbalance(start) + eta**2 * imbalance(loss_gradient)
    size = (start**2).sum() + (loss_gradient**2).sum()
    assert np.abs(imbalance(after) - expected).max() < 1e-13 * size


def test_an_input_on_the_kink_does_not_move_the_neuron():
    """ReLU'(0) = 0: at v.x~ = 0 exactly only decay acts."""
    start = np.array([[1.0], [2.0], [0.0]])
    after = cond.descend(cond.Data([0.0], [3.0]), start, eta=0.1, lam=0.5, steps=1).networks[-1]
    assert np.array_equal(after, 0.95 * start)


def test_the_four_targets_are_those_of_two_kinks():
    assert np.allclose(cond.two_kinks(MAIN.x), MAIN.y, atol=1e-17)
    assert np.allclose(cond.two_kinks([0, 0.5, -0.9]), [0, 1 / 30, 0.34 / 3], atol=1e-16)


def test_the_start_is_all_of_a_then_of_w_then_of_b():
    rng = np.random.default_rng(5)
    rows = [rng.normal(0, 50**-0.4, 50) for _ in range(3)]
    assert np.array_equal(cond.initial(5, 50, 0.4), rows)


# --- field --------------------------------------------------------------------------------------


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_gradients_are_those_of_proposition_1(seed):
    """dL/da = 2 r q, v^.dL/dv = 2 a q, and the rest of dL/dv turns: 2 a p."""
    data, network = random_case(seed)
    (grad_a, *grad_v), _ = autograd(data, network, 0.0)
    a, r, theta = cond.polar(network)
    e = residual(data, network)
    q, p = cond.field(e, theta, data.x), cond.field_slope(e, theta, data.x)
    along = grad_v[0] * np.cos(theta) + grad_v[1] * np.sin(theta)
    across = grad_v[1] * np.cos(theta) - grad_v[0] * np.sin(theta)
    close = {"atol": 1e-12 * (1 + np.abs(grad_a).max() + np.abs(grad_v).max())}
    assert np.allclose(grad_a, 2 * r * q, **close)
    assert np.allclose(along, 2 * a * q, **close) and np.allclose(across, 2 * a * p, **close)


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_the_field_is_one_sinusoid_in_each_cell(seed):
    rng = np.random.default_rng(seed)
    data = random_data(rng)
    cells, theta = cond.Cells.of(data.x), rng.uniform(-10, 10, 50)
    M = cells.moments(data.y)[cells.containing(theta)]
    directions = np.column_stack([np.cos(theta), np.sin(theta)])
    turned = np.column_stack([-np.sin(theta), np.cos(theta)])
    assert np.allclose(cond.field(data.y, theta, data.x), (M * directions).sum(axis=1), atol=1e-12)
    assert np.allclose(
        cond.field_slope(data.y, theta, data.x), (M * turned).sum(axis=1), atol=1e-12
    )


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_extrema_are_those_of_a_fine_grid(seed):
    """Every strict extremum of 40 000 points has an extremum beside it, and the other way round."""
    data = random_data(np.random.default_rng(seed))
    ends = cond.Cells.of(data.x).extrema(data.y)
    grid = np.arange(40_000) * 2 * math.pi / 40_000
    q = cond.field(data.y, grid, data.x)
    for peak, sign in ((True, 1), (False, -1)):
        rises = sign * np.diff(q, append=q[0])
        found = grid[(np.roll(rises, 1) > 1e-12) & (rises < -1e-12)]
        known = ends.theta[ends.peak == peak]
        for theta in found:
            gaps = np.abs((known - theta + math.pi) % (2 * math.pi) - math.pi)
            assert gaps.min() < 4e-4
        away = np.array([cond.field(data.y, known + h, data.x) for h in (-1e-7, 1e-7)])
        assert (sign * (ends.value[ends.peak == peak] - away) > -1e-14).all()
    assert np.allclose(ends.value, cond.field(data.y, ends.theta, data.x), atol=1e-13)
    assert np.all(np.diff(ends.theta) > 0)
    slope = cond.field_slope(data.y, ends.theta[ends.smooth], data.x)
    assert np.abs(slope).max(initial=0) < 1e-12


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_suprema_are_those_of_a_fine_grid(seed):
    x = random_data(np.random.default_rng(seed)).x
    circle = np.linspace(0, 2 * math.pi, 40_001)
    for found, feature in zip(cond.suprema(x), (cond.features, cond.slopes), strict=True):
        on_grid = np.sqrt(np.mean(feature(circle, x) ** 2, axis=1)).max()
        assert on_grid <= found * (1 + 1e-12) and found < on_grid + 2e-4 * np.hypot(x, 1).max()


def test_suprema_of_the_main_experiment_are_one_and_the_root_of_seven_ninths():
    """C_phi at pi/2, where all four inputs are active; C_psi at the bounds of that cell."""
    assert cond.suprema(MAIN.x) == pytest.approx((1, math.sqrt(7 / 9)), rel=1e-14)


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_extrema_are_as_many_as_proposition_3_allows(seed):
    data = random_data(np.random.default_rng(seed))
    ends, n = cond.Cells.of(data.x).extrema(data.y), data.x.size
    assert 1 <= ends.theta.size <= 4 * n
    assert np.count_nonzero(ends.smooth) <= 2 * n and np.count_nonzero(~ends.smooth) <= 2 * n


def test_the_field_of_no_residual_has_no_strict_extremum():
    assert cond.Cells.of(MAIN.x).extrema(np.zeros(4)).theta.size == 0


@pytest.mark.parametrize("k", range(4))
def test_a_maximum_on_the_boundary_of_an_input_without_residual_is_found(k):
    """One residual: q is its half circle's sinusoid.  x~ of -1 and of 1 are orthogonal, so the
    maximum for one of them lies on the boundary of the other."""
    ends = cond.Cells.of(MAIN.x).extrema(np.eye(4)[k])
    assert ends.peak.tolist() == [True]
    assert np.allclose(ends.theta, math.atan2(1, MAIN.x[k]), atol=1e-14)
    assert np.allclose(ends.value, math.hypot(1, MAIN.x[k]) / 4, atol=1e-14)
    assert ends.smooth.tolist() == [k in (1, 2)]


@given(st.floats(0.05, 20))
def test_a_maximum_on_a_boundary_is_found_once_whatever_the_rounding(x):
    """x~ of x and of -1/x are orthogonal."""
    ends = cond.Cells.of([x, -1 / x, 30.0]).extrema([1.0, 0.0, 0.0])
    assert ends.peak.tolist() == [True]
    assert np.allclose(ends.theta, math.atan2(1, x), atol=1e-13)


@pytest.mark.parametrize("k", [0, 3])
def test_one_target_at_an_end_of_the_data_is_fitted(k):
    least = cond.minimiser(cond.Data(MAIN.x, np.eye(4)[k]), 1e-3)
    assert least.c.size == 1 and abs(least.height - 1) < 1e-12 and least.value < 2e-3


def test_bounds_are_where_an_input_becomes_active():
    cells = cond.Cells.of(MAIN.x)
    at = np.cos(cells.bounds)[:, None] * MAIN.x + np.sin(cells.bounds)[:, None]
    assert (np.abs(at).min(axis=1) < 1e-15).all() and cells.bounds.size == 8
    assert cells.containing(cells.bounds).tolist() == list(range(8))
    assert cells.containing([cells.bounds[0] - 1e-9]).tolist() == [7]


# --- kernel -------------------------------------------------------------------------------------


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_tangent_kernel_is_the_gram_matrix_of_gradients_of_outputs(seed):
    data, network = random_case(seed)
    theta = torch.tensor(network, requires_grad=True)
    f = torch.relu(torch.tensor(data.x)[:, None] * theta[1] + theta[2]) @ theta[0]
    rows = [torch.autograd.grad(out, theta, retain_graph=True)[0].flatten() for out in f]
    J = torch.stack(rows).numpy()
    assert np.allclose(cond.tangent_kernel(network, data.x), J @ J.T / data.x.size, atol=1e-11)


def test_the_limiting_kernel_is_the_mean_of_the_initial_one():
    """A million neurons: the mean of each entry has an error of about 1e-3 of the largest."""
    network = cond.initial(0, 1_000_000, 0.0)
    K = cond.tangent_kernel(network, MAIN.x) / 1_000_000
    assert np.allclose(K, cond.limiting_kernel(MAIN.x), rtol=0.01, atol=1e-3)


def test_the_limiting_kernel_is_its_formula_with_angles():
    x = np.array([-2.0, 0.1, 3.0])
    for i in range(3):
        for j in range(3):
            alpha = abs(math.atan2(1, x[i]) - math.atan2(1, x[j]))
            size = math.hypot(x[i], 1) * math.hypot(x[j], 1)
            angular = math.sin(alpha) + 2 * (math.pi - alpha) * math.cos(alpha)
            expected = size / (2 * math.pi * 3) * angular
            found = cond.limiting_kernel(x)[i, j]
            assert math.isclose(found, expected, rel_tol=1e-14, abs_tol=1e-15)


def test_the_quasi_static_residual_stands_still_in_a_frozen_kernel():
    K = cond.limiting_kernel(MAIN.x)
    e = cond.quasi_static(K, MAIN.y, 0.3)
    assert np.allclose(-2 * (K + 0.3 * np.eye(4)) @ e, 2 * 0.3 * MAIN.y, atol=1e-15)


# --- groups and the exact limit -------------------------------------------------------------------


def test_groups_are_split_at_gaps_also_across_zero():
    theta = np.array([0.1, 0.2, 3.0, 6.2, 3.05])
    assert [g.tolist() for g in cond.groups(theta, 0.5)] == [[3, 0, 1], [2, 4]]
    assert [g.tolist() for g in cond.groups(theta, 0.08)] == [[0], [1], [2, 4], [3]]
    assert [g.tolist() for g in cond.groups(theta, 4)] == [[0, 1, 2, 4, 3]]
    assert [g.tolist() for g in cond.groups([6.2], 1)] == [[0]]
    assert cond.groups([], 1) == []


@given(SEEDS, st.floats(-4, 0.5))
@settings(max_examples=60, deadline=None)
def test_the_minimiser_satisfies_the_optimality_conditions(seed, power):
    data, lam = random_data(np.random.default_rng(seed)), 10**power
    least = cond.minimiser(data, lam)
    eps, size = np.finfo(float).eps, np.abs(data.y) + np.abs(least.c) @ cond.features(
        least.theta, data.x)
    terms = 2 * data.x.size + least.c.size
    allowed = 1e-12 + terms * eps * np.mean(size * np.hypot(1, data.x)) * 2 / lam
    grid = np.linspace(0, 2 * math.pi, 2001)
    assert np.abs(cond.field(least.e, grid, data.x)).max() < lam / 2 * (1 + allowed)
    q = cond.field(least.e, least.theta, data.x)
    assert np.allclose(q, -np.sign(least.c) * lam / 2, rtol=allowed)
    assert np.allclose(least.outputs(data.x) - data.y, least.e, atol=1e-14 * np.abs(data.y).max())
    cost = np.mean(least.e**2) + lam * np.abs(least.c).sum()
    assert math.isclose(least.value, cost, rel_tol=1e-12)
    dual = -np.mean(least.e**2 + 2 * least.e * data.y)  # a lower bound of Phi where max |q| = lam/2
    assert abs(cost - dual) <= allowed * cost


@pytest.mark.parametrize("seed", range(6))
def test_an_independent_convex_solver_on_a_fine_grid_comes_no_lower(seed):
    """Least angle regression on 4000 directions: its value is at least ours and hardly larger."""
    data, lam = random_data(np.random.default_rng(seed)), 0.02
    grid = np.concatenate([np.linspace(0, 2 * math.pi, 4000), cond.Cells.of(data.x).bounds])
    phi = cond.features(grid, data.x).T
    solver = LassoLars(alpha=lam / 2, fit_intercept=False, max_iter=20_000)
    c = solver.fit(phi, data.y).coef_
    theirs = np.mean((phi @ c - data.y) ** 2) + lam * np.abs(c).sum()
    half = math.pi / 4000  # farthest from a direction; the field there falls by half its square
    assert -1e-12 < theirs - cond.minimiser(data, lam).value < half**2 * theirs


def test_the_limit_of_the_main_experiment_is_two_mirrored_atoms():
    least = cond.minimiser(MAIN, 1e-3)
    assert least.smooth.all() and np.allclose(least.theta.sum(), 3 * math.pi, atol=1e-13)
    assert np.isclose(*least.c, rtol=1e-12) and abs(least.height - 1) < 1e-12
    slope = cond.field_slope(least.e, least.theta, MAIN.x)
    assert np.abs(slope).max() < 1e-16


@pytest.mark.parametrize(("name", "value"), [("NEWTON", 1), ("CUTS", 2)])
def test_a_minimiser_that_does_not_converge_is_refused(monkeypatch, name, value):
    monkeypatch.setattr(cond, name, value)
    with pytest.raises(SolverError, match="minimiser: (height 1.0|not within 1e-06 after 2 cuts)"):
        cond.minimiser(MAIN, 1e-3)


def test_strong_decay_leaves_nothing():
    largest = np.abs(cond.Cells.of(MAIN.x).extrema(MAIN.y).value).max()
    none = cond.minimiser(MAIN, 2.001 * largest)
    assert none.c.size == 0 and np.array_equal(none.e, -MAIN.y)
    assert cond.minimiser(MAIN, 1.999 * largest).c.size > 0


def test_the_run_of_seed_0_is_the_one_that_torch_computed():
    """80 000 updates of torch.optim.SGD (lr 0.1, weight decay 1e-3) in float64, to 1e-6."""
    kept = [447, 16_000]
    run = cond.descend(MAIN, cond.initial(0, 200, 0.4), eta=0.1, lam=1e-3, steps=80_000, keep=kept)
    golden = [0.0102518853993371, 3.1272116694713753e-07, 1.109825465932727e-05,
              1.2069170231241947e-05]
    assert np.allclose(run.loss[[0, *kept, 80_000]], golden, rtol=1e-6, atol=0)
    squares = (run.networks**2).sum(axis=(1, 2))
    golden = [7.911850317176848, 1.0173328843813203, 0.7950487635358323]
    assert np.allclose(squares, golden, rtol=1e-6, atol=0)
    a, r, theta = cond.polar(run.networks[-1])
    theta, live = theta % (2 * math.pi), cond.features(theta, MAIN.x).any(axis=1)
    left, right = (live & (a > 0) & ((theta < 3 * math.pi / 2) == x) for x in (True, False))
    groups = {"left": (left, 46, 0.19864895559471987, 3.4442960687101474),
              "right": (right, 39, 0.19864753597948234, 5.980479833986769),
              "negative": (live & (a < 0), 62, 0.0002277434679325569, 1.5739358557186585)}
    for group, count, total, mean in groups.values():
        A = np.abs(a[group]) * r[group]
        assert np.count_nonzero(group) == count
        assert math.isclose(A.sum(), total, rel_tol=1e-6)
        assert math.isclose(A @ theta[group] / A.sum(), mean, rel_tol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_every_seed_descends_to_the_minimum(seed):
    """What a direction with |q| = h lam/2 costs is A lam (1 - h), and A falls like exp(-2 lam
    (1 - h) t).  The slowest without an atom is pi/2, the other maximum of |q|; A is at most what
    all neurons start with.  Phi is |e|^2 plus a convex function, which bounds the residual."""
    lam, start = 1e-3, cond.initial(seed, 200, 0.4)
    run = cond.descend(MAIN, start, eta=0.1, lam=lam, steps=80_000)
    least = cond.minimiser(MAIN, lam)
    loose = 1 - abs(cond.field(least.e, np.array([math.pi / 2]), MAIN.x)[0]) / (lam / 2)
    a, r, _ = cond.polar(start)
    excess = run.loss[-1] + lam / 2 * (run.networks[-1] ** 2).sum() - least.value
    assert 0 < excess < np.abs(a) @ r * lam * loose * math.exp(-2 * lam * loose * 8000)
    assert np.mean((residual(MAIN, run.networks[-1]) - least.e) ** 2) <= excess


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cond.Data([1.0, 1.0], [0, 0]), "x must be different numbers"),
        (lambda: cond.Data([1.0], [0, 0]), r"must be \(n >= 1,\), got shapes \(1,\) and \(2,\)"),
        (lambda: cond.Data([np.nan], [0]), "x must be finite"),
        (lambda: cond.initial(0, 0, 0.4), "m must be a whole number >= 1"),
        (lambda: cond.initial(0, 9, -0.1), r"gamma must be in \[0, inf\), got -0.1"),
        (lambda: cond.descend(MAIN, np.ones((2, 5)), eta=0.1, lam=0, steps=1), r"\(..., 3, m\)"),
        (lambda: cond.descend(MAIN, np.ones((3, 5)), eta=0.1, lam=10, steps=1), r"in \[0, 10\)"),
        (lambda: cond.descend(MAIN, np.ones((3, 5)), eta=0.1, lam=-1, steps=1), r"in \[0, 10\)"),
        (lambda: cond.descend(MAIN, np.ones((3, 5)), eta=0, lam=0, steps=1), r"eta must be in"),
        (
            lambda: cond.descend(MAIN, np.ones((3, 5)), eta=0.1, lam=0, steps=5, keep=[6]),
            r"keep must be whole numbers in 0..5, got \[6\]",
        ),
        (lambda: cond.descend(MAIN, np.ones((2, 3, 5)), eta=0.1, lam=0, steps=1), r"be \(3, m\)"),
        (lambda: cond.velocity(MAIN, np.ones((3, 5)), -1), r"lam must be in \[0, inf\), got -1"),
        (lambda: cond.velocity(MAIN, np.ones((2, 3, 5)), 0), r"network must be \(3, m\)"),
        (lambda: cond.follow(MAIN, np.ones((3, 5)), 0, h=0, steps=4), "h must not be 0"),
        (
            lambda: cond.follow(MAIN, np.ones((3, 5)), 0, h=1, steps=4, every=3),
            "every divide steps=4, got 1.0, 3",
        ),
        (lambda: cond.follow(MAIN, np.ones((3, 5)), 0, h=1, steps=0), "steps must be a whole"),
        (lambda: cond.follow(MAIN, np.ones((3, 5)), -1, h=1, steps=1), r"lam must be in \[0, "),
        (lambda: cond.follow(MAIN, np.ones((3, 5)), 0, h=np.nan, steps=1), "h must be finite"),
        (lambda: cond.follow(MAIN, np.ones((3, 5)), 0, h=1, steps=2, every=0), "every must be a"),
        (lambda: cond.follow("data", np.ones((3, 5)), 0, h=1, steps=2), "data must be a Data"),
        (lambda: cond.velocity("data", np.ones((3, 5)), 0), "data must be a Data"),
        (lambda: cond.velocity(MAIN, 1e200 * np.ones((3, 5)), 0), "finite velocity, got 1e[+]200"),
        (
            lambda: cond.follow(MAIN, np.ones((3, 5)), 0, h=1, steps=1, targets=lambda t: 1.0),
            r"targets\(t\) must be \(4,\) like y, got shape \(\)",
        ),
        (
            lambda: cond.follow(
                MAIN, np.ones((3, 5)), 0, h=1, steps=1, targets=lambda t: MAIN.y * np.nan
            ),
            r"targets\(t\) must be finite",
        ),
        (lambda: cond.tangent_kernel(np.ones((2, 3, 5)), MAIN.x), r"network must be \(3, m\)"),
        (lambda: cond.field([1.0], [0.0], MAIN.x), r"e must be \(4,\) like x, got shape \(1,\)"),
        (lambda: cond.Cells.of(MAIN.x).moments(np.ones(3)), r"e must be \(4,\) like x"),
        (lambda: cond.quasi_static(np.eye(3), [0, 1], 0.1), r"got shapes \(3, 3\) and \(2,\)"),
        (lambda: cond.quasi_static(np.eye(2), [0, 1], 0), r"lam must be in \(0, inf\)"),
        (lambda: cond.groups([0.0], 7), r"gap must be in \(0, 6.28319\)"),
        (lambda: cond.groups([[0.0]], 1), r"theta must be \(k,\), got shape \(1, 1\)"),
        (lambda: cond.minimiser(MAIN, 0), r"lam must be in \(0, inf\), got 0"),
        (lambda: cond.minimiser("data", 1), "data must be a Data, got a str"),
    ],
)
def test_bad_arguments_are_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_flow_that_leaves_the_floats_is_reported():
    with pytest.raises(SolverError, match="not finite at step 2 with h = -1"):
        cond.follow(MAIN, 1e60 * np.ones((3, 2)), 0, h=-1, steps=4, every=2)


def test_a_loss_that_leaves_the_floats_is_reported():
    with pytest.raises(SolverError, match="loss not finite at epoch 0 with eta = 0.1"):
        cond.descend(MAIN, 1e80 * np.ones((3, 2)), eta=0.1, lam=0, steps=5)

"""Training on samples: sorted angles against plain sums, torch, and the population."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gaugelib import flows, gauge
from gaugelib.problem import Problem, Students, Teacher, duplicates, plane_direction
from gaugelib.samples import FEW, Samples
from gaugelib.solve import euler, rk4, solve

PHI = np.pi / 4


def teacher_of(rng, n=2, d=2):
    u = rng.standard_normal((n, d))
    return Teacher(rng.standard_normal(n), u / np.linalg.norm(u, axis=1, keepdims=True))


def residual(X, c, w, teacher, y=None):
    """f(x_n) - y_n, one sample and one student after the other."""
    labels = y
    if labels is None:
        labels = [sum(b * max(u @ x, 0) for b, u in zip(teacher.b, teacher.u)) for x in X]
    outputs = [sum(ci * max(wi @ x, 0) for ci, wi in zip(c, w)) for x in X]
    return np.array(outputs) - np.array(labels)


def plain_force(X, c, w, teacher, y=None):
    r = residual(X, c, w, teacher, y)
    return np.array([
        sum((rn * x for rn, x in zip(r, X) if wi @ x > 0), np.zeros(X.shape[1])) / len(X)
        for wi in w
    ])  # fmt: skip


def check_plane(X, c, w, teacher, y, force=plain_force):
    """All three routes in the plane against the plain sums, and the loss."""
    samples, expected = Samples(X, teacher, y), force(X, c, w, teacher, y)
    size = 1 + np.abs(expected).max() + (np.abs(X) ** 2).mean() * np.abs(c[:, None] * w).sum()
    found = (samples.force(c, w), samples._force_by_arcs(c, w), samples.force_by_sums(c, w))
    for T in found:
        assert np.abs(T - expected).max() <= 1e-14 * size
    few = np.array(samples.force_of_few(c.tolist(), (w @ [1, 1j]).tolist()))
    assert np.abs(np.stack([few.real, few.imag], axis=1) - expected).max() <= 1e-14 * size
    loss = (residual(X, c, w, teacher, y) ** 2).mean() / 2
    found = samples.losses(np.stack([c, 2 * c]), np.stack([w, w / 2]))
    assert found == pytest.approx([loss, loss], rel=1e-12, abs=1e-13 * size)


@settings(max_examples=150)
@given(st.integers(1, 9), st.integers(1, FEW + 3), st.integers(0, 10**6), st.booleans())
def test_sorting_equals_summing_where_everything_touches(N, m, seed, labelled):
    """Small whole numbers: samples on the lines, at zero, repeated; students equal and opposite."""
    rng = np.random.default_rng(seed)
    X, w = rng.integers(-2, 3, (N, 2)).astype(float), rng.integers(-2, 3, (m, 2)).astype(float)
    w[(w == 0).all(axis=1)] = [1, 0]
    teacher = Teacher(np.array([1.0, -0.5]), np.array([[1.0, 0.0], [0.0, -1.0]]))
    y = rng.standard_normal(N) if labelled else None
    check_plane(X, rng.standard_normal(m), w, teacher, y)


@settings(max_examples=40)
@given(st.integers(1, 60), st.integers(1, FEW + 3), st.integers(0, 10**6), st.booleans())
def test_sorting_equals_summing_at_random(N, m, seed, labelled):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((N, 2)), rng.standard_normal((m, 2))
    w[m // 2], w[m // 3] = 2 * w[0], -3 * w[-1]  # equal and opposite directions
    y = rng.standard_normal(N) if labelled else None
    check_plane(X, rng.standard_normal(m), w, teacher_of(rng), y)


@pytest.mark.parametrize("N", [1, 2])
@pytest.mark.parametrize("nudge", [0.0, 1e-15, -1e-15, 1e-13, -1e-13])
def test_a_student_on_a_line_of_a_sample_is_counted_by_the_sign_of_its_product(N, nudge):
    X = np.array([[0.6, 0.8], [0.3, -1.2]])[:N]
    w = np.array([[-0.8, 0.6 + nudge], [0.8, -0.6]])
    teacher = Teacher(np.ones(1), np.array([[1.0, 0.0]]))
    samples, c = Samples(X, teacher), np.array([1.5, -0.7])
    expected = samples.force_by_sums(c, w)
    assert np.abs(samples.force(c, w) - expected).max() < 1e-15
    assert np.abs(samples._force_by_arcs(c, w) - expected).max() < 1e-15
    if abs(nudge) > 1e-14:
        assert (np.abs(expected[0]).max() > 0.1) == (nudge > 0)
    summed_plainly = samples._arcs(c[:1], w[:1]) is None
    assert summed_plainly == (abs(nudge) < 1e-14)


@pytest.mark.parametrize("seed", range(30))
def test_a_line_through_repeated_inputs_is_seen_from_wherever_angles_are_counted(seed):
    rng = np.random.default_rng(seed)
    few = rng.standard_normal((4, 2))
    X = np.concatenate([few, 2 * few, few / 4])
    w = np.concatenate([few, -few])[:, ::-1] * [-1, 1]
    samples, c = Samples(X, teacher_of(rng)), rng.standard_normal(8)
    expected = samples.force_by_sums(c, w)
    for i in range(8):  # one line alone, then all of them
        one = samples.force_by_sums(c[i : i + 1], w[i : i + 1])
        assert np.abs(samples.force(c[i : i + 1], w[i : i + 1]) - one).max() < 1e-14
        assert np.abs(samples._force_by_arcs(c[i : i + 1], w[i : i + 1]) - one).max() < 1e-14
    assert np.abs(samples.force(c, w) - expected).max() < 1e-14


def test_prefix_sums_over_many_samples_keep_twelve_digits():
    rng = np.random.default_rng(0)
    X, c, w = rng.standard_normal((2**17, 2)), rng.standard_normal(5), rng.standard_normal((5, 2))
    teacher, y = teacher_of(rng), rng.standard_normal(2**17)
    samples = Samples(X, teacher, y)
    exact, long = [], np.longdouble
    r = np.maximum(X.astype(long) @ w.T.astype(long), 0) @ c.astype(long) - y.astype(long)
    for wi in w:
        exact.append(((X @ wi > 0) * r) @ X.astype(long) / len(X))
    assert np.abs(samples.force(c, w) - np.array(exact, dtype=float)).max() < 1e-14
    (found,) = samples.losses(c[None], w[None])
    assert found == pytest.approx(float((r**2).mean() / 2), rel=1e-14)


def test_the_loss_keeps_its_digits_where_the_students_have_learned_the_teacher():
    X = np.random.default_rng(1).standard_normal((500, 2))
    teacher = Teacher(np.ones(1), np.array([[1.0, 0.0]]))
    c, w = np.array([1 + 1e-9, 1e-10]), np.array([[1.0, 1e-9], [0.0, 1.0]])
    long = np.longdouble
    r = np.maximum(X.astype(long) @ w.T.astype(long), 0) @ c.astype(long) - np.maximum(X[:, 0], 0)
    (found,) = Samples(X, teacher).losses(c[None], w[None])
    assert found == pytest.approx(float((r**2).mean() / 2), rel=1e-5) and found < 1e-17


def test_labels_of_the_teacher_are_the_default():
    problem, X = duplicates(3, 8, PHI), np.random.default_rng(2).standard_normal((40, 2))
    y = np.maximum(X @ problem.teacher.u[0], 0)
    one, other = flows.empirical(problem, X), flows.empirical(problem, X, y)
    assert np.abs(np.subtract(one.rhs(0, one.state0), other.rhs(0, one.state0))).max() < 1e-16
    assert one.label == "empirical"


# --- the flow ----------------------------------------------------------------------------------


def mixed_problem(m, d, seed=3):
    """Students with both signs of everything, two of them equal."""
    rng = np.random.default_rng(seed)
    q, s = rng.uniform(0.2, 1, m) * rng.choice([-1, 1], m), rng.standard_normal((m, d))
    s, delta = s / np.linalg.norm(s, axis=1, keepdims=True), rng.uniform(-8, 8, m)
    q[-1], s[-1], delta[-1] = q[1], s[1], delta[1]
    return Problem(teacher_of(rng, d=d), Students(q, s, delta), 8.0)


CASES = pytest.mark.parametrize(
    ("m", "d", "symmetric"), [(4, 2, False), (4, 2, True), (FEW + 2, 2, False), (4, 5, True)]
)


@CASES
def test_rates_are_minus_the_autograd_gradient_over_D(m, d, symmetric):
    problem, rng = mixed_problem(m, d), np.random.default_rng(4)
    X, y = rng.standard_normal((50, d)), rng.standard_normal(50)
    a, w = (torch.tensor(p, requires_grad=True) for p in problem.weights())
    loss = ((torch.relu(torch.tensor(X) @ w.T) @ a - torch.tensor(y)) ** 2).mean() / 2
    slopes = [p.numpy() for p in torch.autograd.grad(loss, (a, w))]
    flow = flows.empirical(problem, X, y, symmetric=symmetric)
    keep = slice(0, m - 1 if symmetric else m)  # the last student is a copy
    expected = np.concatenate([slopes[0][keep], slopes[1][keep].ravel()])
    assert flow.state0.size == len(flow.names) == expected.size
    assert np.abs(flow.rhs(0, flow.state0) + expected / problem.D).max() < 1e-14
    q, s, delta, found = flow.read(flow.state0[None])
    assert found[0] == pytest.approx(loss.item(), rel=1e-13)
    for value, start in zip((q, s, delta), vars(problem.students).values()):
        assert np.abs(value[0] - start).max() < 1e-14


@CASES
def test_the_loss_falls_by_the_sum_of_the_dissipation_rates(m, d, symmetric):
    problem, rng = mixed_problem(m, d), np.random.default_rng(5)
    flow = flows.empirical(
        problem, rng.standard_normal((30, d)), rng.standard_normal(30), symmetric=symmetric
    )
    y, h = flow.state0, 1e-6
    rate = np.asarray(flow.rhs(0, y))
    behind, ahead = flow.read(np.array([y - h * rate, y + h * rate]))[3]
    rates = flow.rates(y[None])
    assert rates.shape == (1, 2, m) and (rates >= 0).all()
    assert (behind - ahead) / (2 * h) == pytest.approx(rates.sum(), rel=1e-7)


def test_gradient_descent_in_torch_is_euler():
    problem, X = duplicates(3, 8, PHI), np.random.default_rng(6).standard_normal((64, 2))
    a, w = (torch.tensor(p, requires_grad=True) for p in problem.weights())
    x, y = torch.tensor(X), torch.tensor(np.maximum(X[:, 0], 0))
    step = torch.optim.SGD([a, w], lr=0.1 / 8)
    for _ in range(100):
        step.zero_grad()
        (((torch.relu(x @ w.T) @ a - y) ** 2).mean() / 2).backward()
        step.step()
    end = euler(flows.empirical(problem, X), 0.1, 100).state[-1]
    found = np.concatenate([a.detach().numpy(), w.detach().numpy().ravel()])
    assert np.abs(end - found).max() < 1e-13


def test_one_of_each_kind_moves_like_all_of_them():
    X = np.random.default_rng(7).standard_normal((200, 2))
    for problem in (duplicates(5, 8, PHI, designated=2), duplicates(4, 8, PHI).regauged(-8.0)):
        full = rk4(flows.empirical(problem, X), 0.05, 100)
        small = rk4(flows.empirical(problem, X, symmetric=True), 0.05, 100)
        assert small.state.shape[1] == 3 * np.unique(problem.students.delta).size
        for name in ("q", "s", "delta", "loss"):
            assert np.abs(getattr(full, name) - getattr(small, name)).max() < 1e-12, name


def test_classes_are_numbered_by_first_appearance():
    problem = duplicates(5, 8, PHI, designated=2)
    assert flows.classes(problem).tolist() == [0, 0, 1, 0, 0]
    assert flows.classes(mixed_problem(4, 2)).tolist() == [0, 1, 2, 1]


def test_on_a_regular_polygon_the_flow_is_that_of_the_population():
    """Second moments by angle are all that the plane needs, and a polygon has the Gaussian's."""
    problem, gaps = duplicates(3, 8, PHI), []
    for N in (500, 1000):
        X = np.sqrt(2) * plane_direction(2 * np.pi * (np.arange(N) + 0.3) / N)
        run = rk4(flows.empirical(problem, X, symmetric=True), 0.01, 500, every=100)
        exact = solve(flows.population(problem), run.tau)
        gaps.append(np.abs(run.q - exact.q).max())
    assert gaps[0] < 3e-5 and gaps[1] < gaps[0] / 2


def test_rotating_samples_teacher_and_students_rotates_the_forces():
    rng, turn = np.random.default_rng(8), 2.0
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    X, c, w = rng.standard_normal((80, 2)), np.ones(3), rng.standard_normal((3, 2))
    teacher = teacher_of(rng)
    there = Samples(X @ R.T, Teacher(teacher.b, teacher.u @ R.T)).force(c, w @ R.T)
    assert np.abs(there - Samples(X, teacher).force(c, w) @ R.T).max() < 1e-14


def test_the_gauge_is_invisible_to_samples_too():
    rng = np.random.default_rng(9)
    X, a, w = rng.standard_normal((80, 2)), np.ones(3), rng.standard_normal((3, 2))
    samples = Samples(X, teacher_of(rng))
    b, v = gauge.rescale(a, w, np.array([0.1, 2.0, 30.0]))
    assert np.abs(samples.force(b, v) - samples.force(a, w)).max() < 1e-14
    one, other = samples.losses(np.stack([a, b]), np.stack([w, v]))
    assert one == pytest.approx(other, rel=1e-13)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((0, 2)), None, "X must have shape|X must be"),
        (np.zeros((3, 3)), None, r"X must be \(N >= 1, 2\), got shape \(3, 3\)"),
        (np.zeros(2), None, "X must be"),
        ([[0.0, np.nan]], None, "X must be finite"),
        ([[0.0, -1e160]], None, r"X must be in \[-1e\+150, 1e\+150\], got 1e\+160"),
        (np.ones((3, 2)), np.ones(2), r"y must have shape \(3,\), got \(2,\)"),
        (np.ones((3, 2)), [1, 2, np.inf], "y must be finite"),
    ],
)
def test_bad_samples_are_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        flows.empirical(duplicates(2, 8, PHI), X, y)


def test_rates_of_a_state_of_another_size_are_refused():
    flow = flows.empirical(duplicates(4, 8.0, 0.7), np.ones((3, 2)), symmetric=True)
    with pytest.raises(ValueError, match=r"y must have shape \(6,\), got \(3,\)"):
        flow.rhs(0.0, np.zeros(3))


def test_forces_of_integer_and_of_strided_weights_are_those_of_floats():
    X = np.random.default_rng(0).standard_normal((9, 2))
    samples = Samples(X, duplicates(2, 8, PHI).teacher)
    w, c = np.array([[1, 0], [2, 1]]), np.ones(2)
    expected = samples.force_by_sums(c, w.astype(float))
    for same in (w, w.astype(np.float32), np.asfortranarray(w, dtype=float)):
        assert np.allclose(samples.force(c, same), expected, rtol=0, atol=1e-14)


def test_samples_need_a_teacher_and_classes_a_problem():
    with pytest.raises(ValueError, match="teacher must be a Teacher, got a NoneType"):
        Samples(np.ones((3, 2)), None)
    with pytest.raises(ValueError, match="problem must be a Problem, got a NoneType"):
        flows.classes(None)

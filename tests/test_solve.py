"""Solvers against closed forms, golden references, each other, and gradient descent in torch."""

from pathlib import Path

import numpy as np
import pytest
import torch

from gaugelib import flows, solve
from gaugelib.problem import Problem, Students, Teacher, duplicates, single
from gaugelib.solve import SolverError, crossing, euler, rk4

GOLDEN = np.load(Path(__file__).parents[1] / "data" / "golden-reduced.npz")
PHI = np.pi / 4


def toy(rhs, state0, jacobian=None):
    """A flow with any right-hand side; it reports its first coordinate as q."""
    problem = single(1.0, 0.0, 1.0)

    def read(y):
        n = len(y)
        return y[:, :1], np.ones((n, 1, 1)) * problem.students.s, np.ones((n, 1)), y[:, 0]

    names = tuple("xyz"[: len(state0)])
    return flows.Flow(problem, "toy", names, np.array(state0), rhs, read, None, jacobian)


DECAY = toy(lambda t, y: -y, [1.0])
CIRCLE = toy(lambda t, y: (-float(y[1]), float(y[0])), [1.0, 0.0])
BLOW_UP = toy(lambda t, y: (float(y[0]) ** 2,), [1.0])  # y = 1/(1 - tau)
BOTH = pytest.mark.parametrize("method", ["LSODA", "DOP853"])


@BOTH
@pytest.mark.parametrize(("m", "D"), [(2, 8), (4, 8), (8, 32), (32, 128)])
def test_reduced_flow_meets_the_golden_reference(method, m, D):
    path = solve.solve(flows.reduced(duplicates(m, D, PHI)), GOLDEN["tau-table"], method=method)
    # Global errors are a small multiple of rtol = 1e-13 (flows contract towards the teacher).
    assert np.abs(path.state - GOLDEN[f"m{m}-D{D}"]).max() < 5e-12


@BOTH
def test_population_flow_meets_the_golden_reference(method):
    path = solve.solve(
        flows.population(duplicates(4, 16, PHI)), GOLDEN["tau-table"][:31], method=method
    )
    found = np.column_stack([path.q[:, 0], path.P, path.signed_angle(0), path.signed_angle(3)])
    assert np.abs(found - GOLDEN["m4-D16"][:31]).max() < 5e-12


@BOTH
def test_errors_shrink_with_the_tolerance_through_the_kink_at_theta_zero(method):
    flow, golden = flows.reduced(duplicates(4, 8, PHI)), GOLDEN["m4-D8"]
    for rtol in (1e-6, 1e-8, 1e-10, 1e-12):
        path = solve.solve(flow, GOLDEN["tau-table"], rtol, rtol / 100, method=method)
        assert np.abs(path.state - golden).max() < 1000 * rtol


@BOTH
def test_theta_crosses_zero_at_the_golden_time(method):
    for (i, m), (j, D) in (((1, 4), (0, 8)), ((2, 8), (2, 32)), ((4, 32), (4, 128))):
        flow = flows.reduced(duplicates(m, D, PHI))
        for grid in ([0.0, 3.0], np.arange(31) / 10):
            found = crossing(flow, grid, lambda y: y[2], method=method)
            assert found.tau == pytest.approx(GOLDEN["crossing"][i, j], abs=3e-12)
            assert abs(found.state[2]) < 1e-12


@BOTH
def test_outputs_stand_at_the_requested_times(method):
    tau = np.array([0.0, 1e-9, 0.3, 0.30000001, 7.0])
    path = solve.solve(DECAY, tau, method=method)
    assert np.array_equal(path.tau, tau)
    assert path.state[:, 0] == pytest.approx(np.exp(-tau), rel=2e-12)
    assert np.array_equal(path.state[0], DECAY.state0)


@BOTH
def test_a_grid_of_two_points_is_enough(method):
    assert solve.solve(DECAY, [0, 1], method=method).q[-1, 0] == pytest.approx(1 / np.e, rel=1e-12)


@BOTH
def test_until_ends_the_trajectory_at_the_closed_form_time(method):
    path = solve.solve(DECAY, np.arange(11) / 2, until=lambda y: y[0] - 0.2, method=method)
    assert path.tau[-1] == pytest.approx(np.log(5), abs=1e-12)
    assert path.q[-1, 0] == pytest.approx(0.2, abs=1e-13)
    assert np.array_equal(path.tau[:-1], [0, 0.5, 1, 1.5])
    assert len(path.q) == len(path.loss) == len(path.state) == len(path.tau)


@BOTH
def test_the_first_of_many_crossings_is_found(method):
    found = crossing(CIRCLE, np.arange(101) / 5, lambda y: y[0], method=method)
    # About a hundred steps with local errors of 1e-13 each, and nothing damps them.
    assert found.tau == pytest.approx(np.pi / 2, abs=3e-11)
    assert found.state == pytest.approx([0, 1], abs=3e-11)


@BOTH
def test_an_event_that_is_zero_at_the_start_counts_once_it_has_left_zero(method):
    found = crossing(CIRCLE, np.arange(101) / 10, lambda y: y[1], method=method)
    assert found.tau == pytest.approx(np.pi, abs=3e-11)


@BOTH
def test_a_crossing_may_fall_on_a_grid_point_or_beside_it(method):
    tau = np.arange(8) / 2
    states = solve.solve(DECAY, tau, method=method).state[:, 0]
    for k in range(1, 7):
        for level in (states[k], np.nextafter(states[k], 1), np.nextafter(states[k], 0)):
            found = crossing(DECAY, tau, lambda y, level=level: y[0] - level, method=method)
            assert found.tau == pytest.approx(tau[k], abs=1e-11)
            cut = solve.solve(DECAY, tau, until=lambda y, level=level: y[0] - level, method=method)
            assert np.all(np.diff(cut.tau) > 0) and cut.tau[-1] == found.tau


def test_an_event_touching_zero_on_the_grid_without_a_sign_change_counts():
    still = toy(lambda t, y: (1.0,), [0.0])
    found = crossing(still, np.arange(4.0), lambda y: (round(y[0], 9) - 2) ** 2)
    assert found.tau == 2.0


@pytest.mark.parametrize(
    "follow",
    [
        lambda x: solve.solve(x, [0, 1]),
        lambda x: euler(x, 0.1, 3),
        lambda x: rk4(x, 0.1, 3),
        lambda x: solve.trajectory(x, np.zeros(1), np.zeros((1, 4))),
    ],
)
def test_only_a_flow_can_be_followed(follow):
    with pytest.raises(ValueError, match="flow must be a Flow, got a Problem"):
        follow(duplicates(3, 8, 0.7))


def test_a_step_that_is_far_too_long_raises_a_solver_error():
    with pytest.raises(SolverError, match="reduced"):
        rk4(flows.reduced(duplicates(3, 8, 0.7)), 5, 100)


def test_without_a_crossing_the_trajectory_is_whole_and_the_crossing_raises():
    path = solve.solve(DECAY, [0, 1, 2], until=lambda y: y[0] + 1)
    assert np.array_equal(path.tau, [0, 1, 2])
    with pytest.raises(ValueError, match=r"event must vanish .* \(0, 2\]"):
        crossing(DECAY, [0, 1, 2], lambda y: y[0] + 1)


def test_lsoda_uses_the_jacobian_on_a_stiff_flow():
    def rhs(t, y):
        calls.append(t)
        return np.array([-1e6 * (y[0] - np.cos(y[1])), 1.0])

    def jacobian(t, y):
        used.append(t)
        return np.array([[-1e6, -1e6 * np.sin(y[1])], [0.0, 0.0]])

    calls, used = [], []
    path = solve.solve(toy(rhs, [2.0, 0.0], jacobian), [0, 1, 10])
    slow = (1e12 * np.cos(10) + 1e6 * np.sin(10)) / (1e12 + 1)
    assert path.q[-1, 0] == pytest.approx(slow, abs=1e-11)
    assert used and len(calls) < 5000


def _order(method, steps):
    exact = np.array([np.cos(1), np.sin(1)])
    errors = [np.abs(method(CIRCLE, 1 / n, n).state[-1] - exact).max() for n in steps]
    return np.diff(np.log(errors)) / np.diff(np.log(steps))


def test_euler_has_order_one_and_rk4_order_four():
    assert _order(euler, [100, 200, 400]) == pytest.approx(-1, abs=0.02)
    assert _order(rk4, [20, 40, 80]) == pytest.approx(-4, abs=0.05)


def test_rk4_hands_stage_times_to_the_flow():
    path = rk4(toy(lambda t, y: (4 * t**3,), [0.0]), 0.5, 4)
    assert path.q[:, 0] == pytest.approx(path.tau**4, abs=1e-12)  # Simpson is exact for cubics


def test_rk4_and_lsoda_agree_on_the_limit_flow():
    flow = flows.limit(duplicates(3, 8, 1.0))
    coarse, fine = rk4(flow, 1 / 256, 512, every=256), solve.solve(flow, [0, 1, 2])
    assert np.array_equal(coarse.tau, fine.tau)
    assert np.abs(coarse.state - fine.state).max() < 1e-9  # h^4 = 2e-10


def test_every_keeps_each_so_many_states():
    whole, thin = euler(DECAY, 0.1, 6), euler(DECAY, 0.1, 6, every=3)
    assert np.array_equal(thin.state, whole.state[::3])
    assert np.array_equal(thin.tau, whole.tau[::3])


def torch_loss(a, w, b, u):
    c, v = torch.cat([a, -b]), torch.cat([w, u])
    size = v.norm(dim=1)
    pairs = torch.triu_indices(len(c), len(c), 1)
    i, j = pairs
    cos = (v[i] * v[j]).sum(dim=1) / (size[i] * size[j])
    alpha = torch.arccos(cos)
    K = size[i] * size[j] * (torch.sin(alpha) + (torch.pi - alpha) * cos) / (2 * torch.pi)
    return (c**2 * size**2).sum() / 4 + (c[i] * c[j] * K).sum()


@pytest.mark.parametrize("d", [2, 5])
def test_euler_on_the_population_flow_is_gradient_descent_in_torch(d):
    rng = np.random.default_rng(d)
    s, u = rng.standard_normal((3, d)), rng.standard_normal((2, d))
    s, u = s / np.linalg.norm(s, axis=1)[:, None], u / np.linalg.norm(u, axis=1)[:, None]
    students = Students(np.array([0.3, 0.5, -0.2]), s, np.array([8.0, -8.0, 3.0]))
    flow = flows.population(Problem(Teacher(np.array([1.0, -0.5]), u), students, 8.0))
    h, steps = 0.1, 100

    a, w = (torch.tensor(x.copy(), requires_grad=True) for x in flow.problem.weights())
    b, u = torch.tensor(flow.problem.teacher.b), torch.tensor(flow.problem.teacher.u)
    descent = torch.optim.SGD([a, w], lr=h / flow.problem.D)
    for _ in range(steps):
        descent.zero_grad()
        torch_loss(a, w, b, u).backward()
        descent.step()
    expected = np.concatenate([a.detach().numpy(), w.detach().numpy().ravel()])
    assert np.abs(euler(flow, h, steps).state[-1] - expected).max() < 1e-12


@BOTH
def test_a_blow_up_raises_and_says_so(method):
    with pytest.raises(SolverError, match="toy"):
        solve.solve(BLOW_UP, [0, 0.5, 2], method=method)


@BOTH
@pytest.mark.parametrize("start", [0.0, 0.5])
def test_rates_that_become_nan_raise(method, start):
    flow = toy(lambda t, y: (np.nan if t >= start else 1.0,), [0.0])
    with pytest.raises(SolverError, match="not finite"):
        solve.solve(flow, [0, 1, 2], method=method)
    with pytest.raises(SolverError, match="not finite"):
        crossing(flow, [0, 1, 2], lambda y: y[0] - 5, method=method)


@BOTH
def test_division_by_zero_in_floats_and_in_numpy_raises_a_solver_error(method):
    in_floats = toy(lambda t, y: (1 / (float(y[0]) - float(y[0])),), [1.0])
    in_numpy = toy(lambda t, y: y / (y - y), [1.0])
    for flow in (in_floats, in_numpy):
        with pytest.raises(SolverError, match="right-hand side"):
            solve.solve(flow, [0, 1], method=method)


@pytest.mark.parametrize("method", [euler, rk4])
def test_fixed_steps_that_overflow_raise(method):
    with pytest.raises(SolverError, match="toy"):
        method(toy(lambda t, y: y**3, [10.0]), 1.0, 50)
    with pytest.raises(SolverError, match="step 1"):
        method(toy(lambda t, y: (np.nan,), [10.0]), 1.0, 5)


def test_failures_print_nothing(capfd):
    with pytest.raises(SolverError):
        solve.solve(BLOW_UP, [0, 0.5, 2])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tau": [0.0]}, "tau"),
        ({"tau": [0, 1, 1]}, "tau"),
        ({"tau": [0, np.nan]}, "tau"),
        ({"tau": [1, 2]}, "tau must start at 0, got"),
        ({"rtol": 0}, "rtol"),
        ({"rtol": 1e-14}, r"rtol must be in \[1e-13, 1\), got 1e-14"),
        ({"rtol": 1}, "rtol"),
        ({"atol": -1}, "atol"),
        ({"method": ["LSODA"]}, "method must be one of"),
        ({"method": None}, "method must be one of"),
        ({"method": "Euler"}, r"method must be one of \('LSODA', 'DOP853'\), got 'Euler'"),
    ],
)
def test_bad_arguments_raise(change, message):
    arguments = {"tau": [0, 1], **change}
    with pytest.raises(ValueError, match=message):
        solve.solve(DECAY, **arguments)
    with pytest.raises(ValueError, match=message):
        crossing(DECAY, event=lambda y: y[0] - 0.5, **arguments)


def test_events_must_return_one_finite_number():
    with pytest.raises(ValueError, match="event must return one number"):
        crossing(CIRCLE, [0, 1], lambda y: y)
    with pytest.raises(ValueError, match="event must be finite"):
        crossing(CIRCLE, [0, 1], lambda y: np.nan)
    with pytest.raises(ValueError, match="event must be a function of the state, got None"):
        crossing(CIRCLE, [0, 1], None)
    with pytest.raises(ValueError, match="event must be a function of the state, got 3"):
        solve.solve(CIRCLE, [0, 1], until=3)


@pytest.mark.parametrize("method", [euler, rk4])
@pytest.mark.parametrize(
    ("h", "steps", "every", "message"),
    [
        (0, 5, 1, "h must"),
        (-0.1, 5, 1, "h must"),
        (0.1, 0, 1, "steps must"),
        (0.1, 2.5, 1, "steps must"),
        (0.1, 5, 0, "every must"),
        (0.1, 5, 2, "every must divide steps=5, got 2"),
    ],
)
def test_bad_fixed_steps_raise(method, h, steps, every, message):
    with pytest.raises(ValueError, match=message):
        method(DECAY, h, steps, every=every)

"""gaugelib beside what a user would write, in one run: seconds, ratio, and error of both.

    make bench                                 all rows, a few minutes
    .venv/bin/python benchmarks/run.py --quick   one repetition instead of three

The user's version is scipy's solve_ivp with DOP853, rtol 1e-11, atol 1e-13, max_step 0.1 (none to
tau = 4000), and a right-hand side in numpy.  Baseline and gaugelib take turns; the ratio is that of
the best times.  Errors are against data/golden-reduced.npz (see data/README.md), or as said below.
"""

import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from scipy.integrate import solve_ivp

from gaugelib import condensation, crossings, flows, training
from gaugelib.problem import (
    Problem,
    Students,
    Teacher,
    duplicates,
    plane_direction,
    two_teachers,
)
from gaugelib.solve import euler, rk4, solve

GOLDEN = np.load(Path(__file__).parents[1] / "data" / "golden-reduced.npz")
PHI = np.pi / 4
WIDTHS, IMBALANCES = (2, 4, 8, 16, 32), (8, 16, 32, 64, 128)
ONE, TABLE = np.arange(601) / 10, np.arange(801) / 10


@dataclass
class Row:
    """One comparison: best seconds and errors of the user's version and of gaugelib.

    The goal: ``goal`` times faster than the user's version, ``limit`` seconds, or both, with an
    error of ``most``.
    """

    work: str
    seconds: tuple
    errors: tuple
    goal: float | None = None
    most: float | None = None
    limit: float | None = None

    @property
    def ratio(self):
        return None if self.seconds[0] is None else self.seconds[0] / self.seconds[1]

    @property
    def met(self):
        if self.goal is None and self.limit is None:
            return ""
        fast = self.goal is None or self.ratio >= self.goal
        soon = self.limit is None or self.seconds[1] <= self.limit
        return "yes" if fast and soon and self.errors[1] <= self.most else "NO"

    def __str__(self):
        goals = [] if self.goal is None else [f">= {self.goal:g}x"]
        goals += [] if self.limit is None else [f"<= {self.limit:g} s"]
        goal = ", ".join([*goals, f"<= {self.most:g}"]) if goals else ""
        user, ours = ("" if x is None else duration(x) for x in self.seconds)
        errors = ["" if e is None else f"{e:.1e}" for e in self.errors]
        ratio = "" if self.ratio is None else f"{self.ratio:.1f}"
        return (
            f"| {self.work:48} | {user:>8} | {errors[0]:>7} | {ours:>8} | {errors[1]:>7} "
            f"| {ratio:>7} | {goal:24} | {self.met:4} |"
        )


HEAD = (
    f"| {'work':48} | {'baseline':>8} | {'error':>7} | {'gaugelib':>8} | {'error':>7} "
    f"| {'ratio':>7} | {'goal':24} | {'met':4} |\n"
    f"|{'-' * 50}|{'-' * 9}:|{'-' * 8}:|{'-' * 9}:|{'-' * 8}:|{'-' * 8}:|{'-' * 26}|{'-' * 6}|"
)


def duration(seconds):
    unit, size = next(
        ((unit, size) for unit, size in (("s", 1), ("ms", 1e-3)) if seconds >= size), ("us", 1e-6)
    )
    return f"{seconds / size:.3g} {unit}"


def best_of(repeats, *functions):
    """Best seconds of each function, all taking turns, and the last value of each."""
    best, values = [np.inf] * len(functions), [None] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            values[i] = function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best, values


# --- what a user would write -------------------------------------------------------------------


def solve_ivp_states(rhs, y0, tau, max_step=0.1):
    settings = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13, "max_step": max_step}
    return solve_ivp(rhs, (tau[0], tau[-1]), y0, t_eval=tau, **settings).y.T


def plain_reduced(m, D, tau):
    """The four equations (B.1) in numpy."""
    M = m - 1

    def g(x):
        return (np.sin(abs(x)) + (np.pi - abs(x)) * np.cos(x)) / (2 * np.pi)

    def omega(x):
        return (np.pi - abs(x)) * np.sin(x) / (2 * np.pi)

    def rhs(tau, y):
        q, P, theta, psi = y
        alpha = psi - theta
        mu, mu_other = np.sqrt(D**2 + 4 * q**2), np.sqrt(D**2 + 4 * (P / M) ** 2)
        return np.array([
            -mu / D * (q / 2 + P * g(alpha) - g(theta)),
            -M * mu_other / D * (P / 2 + q * g(alpha) - g(psi)),
            -(mu + D) / (2 * q * D) * (P * omega(alpha) + omega(theta)),
            -2 * P / (M * D * (mu_other + D)) * (omega(psi) - q * omega(alpha)),
        ])  # fmt: skip

    return solve_ivp_states(rhs, np.array([1 / m, M / m, PHI, PHI]), tau)


def arccos_force(a, w, b, u):
    """T_i over all pairs, with the angles from the cosines."""
    c, v = np.concatenate([a, -b]), np.concatenate([w, u])
    r, size = np.linalg.norm(w, axis=1), np.linalg.norm(v, axis=1)
    alpha = np.arccos(np.clip(w @ v.T / (r[:, None] * size), -1, 1))
    along = (np.sin(alpha) @ (c * size))[:, None] * w / r[:, None]
    return (along + (np.pi - alpha) @ (c[:, None] * v)) / (2 * np.pi)


def plain_rates(problem):
    """Right-hand side for all students' (a, w), and the start."""
    m, D, b, u = problem.m, problem.D, problem.teacher.b, problem.teacher.u
    a0, w0 = problem.weights()

    def rhs(tau, y):
        a, w = y[:m], y[m:].reshape(m, -1)
        T = arccos_force(a, w, b, u)
        return np.concatenate([-(w * T).sum(axis=1), (-a[:, None] * T).ravel()]) / D

    return rhs, np.concatenate([a0, w0.ravel()])


def plain_population(m, D, tau):
    """(q, P, theta, psi) from all students' (a, w)."""
    y = solve_ivp_states(*plain_rates(duplicates(m, D, PHI)), tau)
    a, w = y[:, :m], y[:, m:].reshape(-1, m, 2)
    q, angles = a * np.linalg.norm(w, axis=2), np.arctan2(w[:, :2, 1], w[:, :2, 0])
    return np.column_stack([q[:, 0], q[:, 1:].sum(axis=1), angles])


def torch_loss(y, m, b, u):
    """Population loss in float64 torch, from the arc-cosine kernel."""
    a, w = y[:m], y[m:].reshape(m, -1)
    c, v = torch.cat([a, -b]), torch.cat([w, u])
    size = v.norm(dim=1)
    cos = (v @ v.T) / (size[:, None] * size)
    off = ~torch.eye(len(c), dtype=torch.bool)
    alpha = torch.zeros_like(cos)
    alpha[off] = torch.arccos(cos[off])  # its derivative is infinite on the diagonal
    cos = torch.where(off, cos, torch.ones_like(cos))
    K = size[:, None] * size * (torch.sin(alpha) + (torch.pi - alpha) * cos) / (2 * torch.pi)
    return c @ K @ c / 2


# --- gaugelib ----------------------------------------------------------------------------------


def our_reduced(m, D, tau):
    return solve(flows.reduced(duplicates(m, D, PHI)), tau).state


def our_population(m, D, tau):
    path = solve(flows.population(duplicates(m, D, PHI)), tau)
    return np.column_stack([path.q[:, 0], path.P, path.signed_angle(0), path.signed_angle(1)])


# --- the rows ----------------------------------------------------------------------------------


def one_reduced_flow(repeats):
    seconds, states = best_of(
        repeats, lambda: plain_reduced(8, 32, ONE), lambda: our_reduced(8, 32, ONE)
    )
    errors = [np.abs(s - GOLDEN["one"]).max() for s in states]
    return Row("one reduced flow, m=8, D=32, 601 points", seconds, errors, 7, 1e-12)


def table(repeats, work, plain, ours, goal):
    cases = [(m, D) for m in WIDTHS for D in IMBALANCES]
    total, errors = np.zeros(2), np.zeros(2)
    for m, D in cases:
        seconds, states = best_of(repeats, partial(plain, m, D, TABLE), partial(ours, m, D, TABLE))
        total += seconds
        golden = GOLDEN[f"m{m}-D{D}"]
        errors = np.maximum(errors, [np.abs(s[::10] - golden).max() for s in states])
    return Row(work, tuple(total), tuple(errors), goal, 3e-12)


TO_4000 = np.concatenate([[0], np.geomspace(0.01, 4000, 600)])
PAIRS = ((0, 3), (1, 2), (0, 1))


def two_teachers_runs():
    """The 180 runs of chapter 12; the baseline takes nine, a random seed for each D and pair.

    Errors of the nine: against DOP853 at rtol 1e-13 with the baseline's rates, each record the end
    of a step.  Errors of the 180: against LSODA at rtol 1e-13, gaugelib's default.
    """

    def ours(problem):
        return solve(flows.population(problem), TO_4000, 1e-11, 1e-13).state

    seeds, cases = np.random.default_rng(0), [(D, pair) for D in (16, 32, 64) for pair in PAIRS]
    total, errors = np.zeros(2), np.zeros(2)
    for D, pair in cases:
        problem = two_teachers(seeds.integers(20), D, pair)
        rhs, start = plain_rates(problem)
        theirs = partial(solve_ivp_states, rhs, start, TO_4000, np.inf)
        seconds, states = best_of(1, theirs, partial(ours, problem))
        total += seconds
        flow = replace(flows.population(problem), rhs=rhs)
        exact = solve(flow, TO_4000, method="DOP853").state
        errors = np.maximum(errors, [np.abs(y - exact).max() for y in states])
    goal = {"goal": 10, "most": 1e-8}
    yield Row("9 of the 180 two-teacher runs, 601 points", tuple(total), tuple(errors), **goal)

    total, error = 0.0, 0.0
    for D, pair in cases:
        for seed in range(20):
            problem = two_teachers(seed, D, pair)
            (seconds,), (state,) = best_of(1, partial(ours, problem))
            exact = solve(flows.population(problem), TO_4000).state
            total, error = total + seconds, max(error, np.abs(state - exact).max())
    yield Row("all 180", (None, total), (None, error), most=1e-8, limit=60)


def repeated(calls, function, *arguments):
    def run():
        for _ in range(calls):
            value = function(*arguments)
        return value

    return run


def precise_force(a, w, teacher):
    """T_i over all pairs in numpy's long double, with Kahan's angles."""
    a, w, b, u = (np.asarray(x, np.longdouble) for x in (a, w, teacher.b, teacher.u))
    c, v = np.concatenate([a, -b]), np.concatenate([w, u])
    size = np.sqrt((v**2).sum(axis=1))
    x = v / size[:, None]
    far = [np.sqrt(((x[:, None] + sign * x[None]) ** 2).sum(axis=2)) for sign in (-1, 1)]
    alpha, pi = 2 * np.arctan2(*far)[: a.size], 4 * np.arctan(np.longdouble(1))
    along = (np.sin(alpha) * (c * size)).sum(axis=1)[:, None] * x[: a.size]
    turned = ((pi - alpha)[:, :, None] * (c[:, None] * v)).sum(axis=1)
    return (along + turned) / (2 * pi)


def one_force(repeats, m=256):
    """The force as flows compute it, and the public one, which checks its arguments first.

    Error: largest difference from long double over the largest entry of the force.
    """
    rng = np.random.default_rng(0)
    angles = rng.uniform(-np.pi, np.pi, m)
    s = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    teacher = Teacher(b=np.ones(1), u=np.array([[1.0, 0.0]]))
    a, w = Problem(teacher, Students(rng.uniform(0.5, 1.5, m) / m, s, -32.0), 32.0).weights()
    exact = precise_force(a, w, teacher)
    user = repeated(20, arccos_force, a, w, teacher.b, teacher.u)
    pairs = repeated(20, flows._force_pairs, a, w, teacher)
    rows = (
        ("arccos of all cosines", user, flows._force, 25),
        ("the same, checked", user, flows.force, None),
        ("all pairs, as for d > 2", pairs, flows._force, None),
    )
    for name, rival, ours, goal in rows:
        seconds, values = best_of(repeats, rival, repeated(200, ours, a, w, teacher))
        errors = [float(np.abs(v - exact).max() / np.abs(exact).max()) for v in values]
        seconds = seconds[0] / 20, seconds[1] / 200
        yield Row(f"one force, d=2, m={m}; {name}", seconds, errors, goal, 1e-15)


def against_torch(repeats, m=8, d=10):
    """Error of gaugelib: largest difference from torch over the largest entry."""
    rng = np.random.default_rng(1)
    s, u = rng.standard_normal((m, d)), rng.standard_normal((2, d))
    s, u = s / np.linalg.norm(s, axis=1)[:, None], u / np.linalg.norm(u, axis=1)[:, None]
    students = Students(rng.uniform(0.5, 1.5, m) / m, s, np.resize([32.0, -32.0], m))
    flow = flows.population(Problem(Teacher(b=np.array([1.0, 0.5]), u=u), students, 32.0))
    y, D = flow.state0, flow.problem.D
    b, u = torch.tensor(flow.problem.teacher.b), torch.tensor(flow.problem.teacher.u)
    torch.set_num_threads(1)

    def gradient():
        leaf = torch.tensor(y, requires_grad=True)
        return -torch.autograd.grad(torch_loss(leaf, m, b, u), leaf)[0].numpy() / D

    def second():
        loss = torch.autograd.functional.hessian(lambda y: torch_loss(y, m, b, u), torch.tensor(y))
        return -loss.numpy() / D

    rows = (
        ("rates, m=8, d=10; torch autograd", gradient, flow.rhs, 20),
        ("Jacobian, m=8, d=10; torch autograd", second, flow.jacobian, 4),
    )
    for name, theirs, ours, calls in rows:
        seconds, values = best_of(
            repeats, repeated(calls, theirs), repeated(calls * 10, ours, 0.0, y)
        )
        error = float(np.abs(values[1] - values[0]).max() / np.abs(values[0]).max())
        yield Row(name, (seconds[0] / calls, seconds[1] / calls / 10), (None, error))


def summed_force(X, y, a, w):
    """T_i over all samples, vectorised."""
    z = X @ w.T
    return ((z > 0) * (np.maximum(z, 0) @ a - y)[:, None]).T @ X / len(X)


def rates_along(flow, states):
    return [flow.rhs(0.0, state) for state in states]


def sample_force(repeats, m=8):
    """Rates of m duplicates on N samples: plain sums over all students, and one of each kind.

    gaugelib's are those of 2001 states along a run, so that its searches go to many places.
    """
    problem = duplicates(m, 32, PHI)
    rng, (a, w) = np.random.default_rng(2), problem.weights()
    for power, goal in ((10, None), (13, 20), (16, None), (20, 3000)):
        N = 2**power
        X = rng.standard_normal((N, 2))
        y, flow = np.maximum(X[:, 0], 0), flows.empirical(problem, X, symmetric=True)
        calls = max(1, 2**14 // N)
        states = list(rk4(flow, 0.05, 2000).state)
        (user, ours), (T, (rates, *_)) = best_of(
            repeats,
            repeated(calls, summed_force, X, y, a, w),
            partial(rates_along, flow, states),
        )
        T = T[:2]
        exact = [*-(w[:2] * T).sum(axis=1), *(-a[:2, None] * T).ravel()]
        error = np.abs(32 * np.array(rates) - exact).max()
        work = f"rates on N=2^{power} samples, m={m}; plain sums"
        yield Row(work, (user / calls, ours / len(states)), (None, float(error)), goal, 1e-12)


def torch_descent(problem, X, h, steps):
    """(a, w) of all students after full-batch gradient descent by autograd."""
    model = training.network(problem)
    x, y = torch.tensor(X), torch.tensor(np.maximum(X[:, 0], 0))
    descent = torch.optim.SGD(model.parameters(), lr=h / problem.D)
    for _ in range(steps):
        descent.zero_grad()
        training.loss(model, x, y).backward()
        descent.step()
    return model.a.detach().numpy(), model.w.detach().numpy()


def descent_steps(repeats, m=8, N=2**13, h=0.1, steps=200):
    """Steps of full-batch gradient descent; error: largest difference of (a, w) after the last."""
    torch.set_num_threads(1)
    rng, same = np.random.default_rng(4), duplicates(m, 32, PHI)
    X, q = rng.standard_normal((N, 2)), rng.uniform(0.5, 1.5, m) / m
    different = Students(q, plane_direction(rng.uniform(-2, 2, m)), np.resize([32.0, -32.0], m))
    rows = (
        (f"{m} duplicates", same, 25),
        (f"{m} students", replace(same, students=different), None),
    )
    for name, problem, goal in rows:
        flow = flows.empirical(problem, X, symmetric=True)
        first = np.unique(flows.classes(problem), return_index=True)[1]
        (user, ours), (weights, path) = best_of(
            repeats,
            partial(torch_descent, problem, X, h, steps),
            partial(euler, flow, h, steps, every=steps),
        )
        found = np.concatenate([parameter[first].ravel() for parameter in weights])
        error = float(np.abs(path.state[-1] - found).max())
        work = f"GD step, N=2^13, {name}; torch autograd"
        yield Row(work, (user / steps, ours / steps), (None, error), goal, 1e-12)


def torch_decay(data, start, eta, lam, steps):
    """The loss of every update and the network after the last, by torch.optim.SGD."""
    theta = [torch.tensor(row, requires_grad=True) for row in start]
    x, y = torch.tensor(data.x)[:, None], torch.tensor(data.y)
    descent, losses = torch.optim.SGD(theta, lr=eta, weight_decay=lam), np.empty(steps)
    a, w, b = theta
    for k in range(steps):
        descent.zero_grad()
        loss = ((torch.relu(x * w + b) @ a - y) ** 2).mean()
        loss.backward()
        losses[k] = loss.item()
        descent.step()
    return losses, torch.stack(theta).detach().numpy()


def decay_updates(repeats, steps=80_000):
    """The main experiment on weight decay; error: largest difference of parameters and losses."""
    torch.set_num_threads(1)
    data, start = condensation.four_points(), condensation.initial(0, 200, 0.4)
    settings = {"eta": 0.1, "lam": 1e-3, "steps": steps}
    seconds, ((losses, network), run) = best_of(
        repeats,
        partial(torch_decay, data, start, **settings),
        partial(condensation.descend, data, start, **settings),
    )
    error = max(np.abs(run.networks[-1] - network).max(), np.abs(run.loss[:-1] - losses).max())
    work = "80 000 updates with decay, m=200; torch SGD"
    goal = {"goal": 15, "most": 1e-10, "limit": 8}
    yield Row(work, seconds, (None, float(error)), **goal)


def plain_samples(m, X):
    """q of all students on samples at tau = 60, from scipy's RK45 at rtol 1e-6."""
    a0, w0 = duplicates(m, 32, PHI).weights()
    y = np.maximum(X[:, 0], 0)

    def rhs(tau, state):
        a, w = state[:m], state[m:].reshape(m, 2)
        T = summed_force(X, y, a, w)
        return np.concatenate([-(w * T).sum(axis=1), (-a[:, None] * T).ravel()]) / 32

    start = np.concatenate([a0, w0.ravel()])
    end = solve_ivp(rhs, (0, 60), start, method="RK45", rtol=1e-6, atol=1e-8).y[:, -1]
    return end[:m] * np.linalg.norm(end[m:].reshape(m, 2), axis=1)


def sample_flows(N=8192):
    """4 widths, 20 seeds: errors of q at tau = 60 against the event-driven path, for 2 seeds."""
    end = {
        "RK4, h=0.05": lambda flow: rk4(flow, 0.05, 1200, every=1200),
        "RK4, h=0.1": lambda flow: rk4(flow, 0.1, 600, every=600),
        "LSODA 1e-6": lambda flow: solve(flow, [0, 60], 1e-6, 1e-8),
    }

    def ours(method, m, X):
        return end[method](flows.empirical(duplicates(m, 32, PHI), X, symmetric=True)).q[-1]

    seconds, errors = np.zeros(1 + len(end)), np.zeros(1 + len(end))
    for m in (2, 4, 8, 16):
        for seed in range(20):
            X = np.random.default_rng([m, seed]).standard_normal((N, 2))
            methods = [partial(ours, method, m, X) for method in end]
            took, values = best_of(1, partial(plain_samples, m, X), *methods)
            seconds += took
            if seed < 2:
                exact = crossings.follow(duplicates(m, 32, PHI), X, [0, 60]).trajectory.q[-1]
                errors = np.maximum(errors, [np.abs(q - exact).max() for q in values])
    for k, (name, goal) in enumerate(zip(end, (5, None, None)), 1):
        both = (seconds[0], seconds[k]), (errors[0], errors[k])
        yield Row(f"80 flows, N=2^13; RK45 on sums, {name}", *both, goal, 1e-4)


def exact_samples(m=8, N=512, end=30):
    """Event-driven path against DOP853 with the activations fixed between its crossings."""
    problem, X = duplicates(m, 32, PHI), np.random.default_rng(0).standard_normal((N, 2))
    y, copies = np.maximum(X[:, 0], 0), [1, m - 1]
    (ours,), (path,) = best_of(3, lambda: crossings.follow(problem, X, [0, end]))
    begun = time.perf_counter()
    state = path.trajectory.state[0]
    active = X @ state[2:].reshape(2, 2).T > 0

    def rhs(tau, state):
        a, w = state[:2], state[2:].reshape(2, 2)
        T = (active * (((X @ w.T) * active) @ (copies * a) - y)[:, None]).T @ X / N
        return np.concatenate([-(w * T).sum(axis=1), (-a[:, None] * T).ravel()]) / 32

    for start, stop in zip([0, *path.crossings], [*path.crossings, end]):
        tight = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}
        state = solve_ivp(rhs, (start, stop), state, **tight).y[:, -1]
        w = state[2:].reshape(2, 2)
        sines = X @ w.T / np.linalg.norm(X, axis=1)[:, None] / np.linalg.norm(w, axis=1)
        active = active ^ (np.abs(sines) < 1e-12)
    user, error = time.perf_counter() - begun, np.abs(state - path.trajectory.state[-1]).max()
    return Row("exact flow, N=2^9; DOP853 1e-13 by pieces", (user, ours), (None, error), 1, 1e-12)


def rows(n):
    yield one_reduced_flow(5 * n)
    yield table(n, "Table D.2: 25 reduced flows, 801 points", plain_reduced, our_reduced, 12)
    yield table(n, "the same 25 in (a, w) of all students", plain_population, our_population, 2)
    yield from two_teachers_runs()
    yield from one_force(10 * n)
    yield from against_torch(10 * n)
    yield from sample_force(n)
    yield from descent_steps(n)
    yield from decay_updates(1)
    yield from sample_flows()
    yield exact_samples()


def main():
    print(HEAD)
    for row in rows(1 if "--quick" in sys.argv[1:] else 3):
        print(row, flush=True)


if __name__ == "__main__":
    main()

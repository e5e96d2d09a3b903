"""Training with torch: the same numbers as Euler's method, and what mini-batches may do."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from gaugelib import flows
from gaugelib.problem import Problem, Students, Teacher, duplicates
from gaugelib.solve import SolverError, euler
from gaugelib.training import Network, loss, network, train

H, STEPS = 0.1, 100


def problem_of(d, m=3):
    rng = np.random.default_rng(d)
    s, u = rng.standard_normal((m, d)), rng.standard_normal((2, d))
    s, u = s / np.linalg.norm(s, axis=1)[:, None], u / np.linalg.norm(u, axis=1)[:, None]
    students = Students(np.array([0.3, 0.5, -0.2]), s, np.array([8.0, -8.0, 3.0]))
    return Problem(Teacher(np.array([1.0, -0.5]), u), students, 8.0)


def inputs(d, N=200, seed=1):
    return np.random.default_rng(seed).standard_normal((N, d))


def noise(N=200):
    return np.random.default_rng(2).standard_normal(N)


@pytest.mark.parametrize("d", [2, 10, 50])
@pytest.mark.parametrize("labelled", [False, True])
def test_full_batch_sgd_is_euler_on_the_samples(d, labelled):
    problem, X = problem_of(d), inputs(d)
    y = noise() if labelled else None
    trained = train(network(problem), X, y, h=H, steps=STEPS, every=5)
    expected = euler(flows.empirical(problem, X, y), H, STEPS, every=5)
    assert trained.label == "torch"
    np.testing.assert_array_equal(trained.tau, expected.tau)
    for name in ("state", "q", "s", "delta", "loss"):
        assert np.abs(getattr(trained, name) - getattr(expected, name)).max() < 1e-12


def test_full_batch_sgd_is_euler_for_duplicates_that_are_selected():
    problem, X = duplicates(4, 8.0, np.pi / 4, d=10), inputs(10, 500)
    trained = train(network(problem), X, h=H, steps=300, every=300)
    expected = euler(flows.empirical(problem, X), H, 300, every=300)
    assert np.abs(trained.state - expected.state).max() < 1e-12
    assert trained.owner == 0 and trained.q[-1, 0] > trained.problem.students.q[0]


@pytest.mark.parametrize("d", [2, 10])
def test_the_loss_is_the_plain_sum_and_the_network_that_of_the_problem(d):
    problem, X, y = problem_of(d), inputs(d), noise()
    model = network(problem)
    expected = sum((f - label) ** 2 for f, label in zip(problem.predict(X), y)) / 400
    assert loss(model, torch.tensor(X), torch.tensor(y)).item() == pytest.approx(expected, 1e-13)
    assert train(model, X, y, h=H, steps=1).loss[0] == pytest.approx(expected, 1e-13)


def test_a_batch_of_all_samples_is_the_full_batch_in_another_order():
    problem, X = problem_of(10), inputs(10)
    full = train(network(problem), X, h=H, steps=STEPS)
    shuffled = train(network(problem), X, h=H, steps=STEPS, batch=200, seed=0)
    assert np.abs(full.state - shuffled.state).max() < 1e-12


def test_an_epoch_uses_every_sample_once():
    """At a tiny step one epoch adds up to one step on all samples, to first order."""
    problem, X, h = problem_of(10), inputs(10), 1e-6
    epoch = train(network(problem), X, h=h, steps=20, batch=10, seed=3, every=20)
    one = train(network(problem), X, h=20 * h, steps=1)
    moved = np.abs(one.state[-1] - one.state[0]).max()
    assert np.abs(epoch.state[-1] - one.state[-1]).max() < 1e-4 * moved


class Recording(Network):
    """A network that remembers its inputs."""

    def __init__(self, problem):
        super().__init__(problem)
        self.seen = []

    def forward(self, x):
        self.seen.append(x.numpy())
        return super().forward(x)


def test_what_is_left_of_an_epoch_is_not_used_and_the_next_one_is_shuffled_anew():
    """Seven inputs, three a step: each epoch is two steps."""
    model, X, rng = Recording(problem_of(2)), inputs(2, 7), np.random.default_rng(4)
    train(model, X, h=H, steps=5, batch=3, seed=4)
    orders = [rng.permutation(7) for _ in range(3)]
    expected = [X[order[start : start + 3]] for order in orders for start in (0, 3)][:5]
    np.testing.assert_array_equal(model.seen, expected)


def test_every_batch_changes_the_imbalance_by_the_square_of_the_step_alone():
    """delta' - delta = eta^2 (g_a^2 - |g_w|^2) (C.43), the gradients read off the step."""
    problem, X = problem_of(10), inputs(10)
    run = train(network(problem), X, noise(), h=H, steps=50, batch=7, seed=5)
    steps = np.diff(run.state, axis=0)
    in_w = (steps[:, 3:].reshape(-1, 3, 10) ** 2).sum(axis=2)
    assert np.abs(np.diff(run.delta, axis=0) - (steps[:, :3] ** 2 - in_w)).max() < 1e-12
    assert np.abs(np.diff(run.delta, axis=0)).max() > 1e-6


def test_a_seed_repeats_and_another_seed_differs():
    problem, X = problem_of(10), inputs(10)
    runs = [
        train(network(problem), X, h=H, steps=20, batch=10, seed=seed).state for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert np.abs(runs[0] - runs[2]).max() > 1e-6


def test_momentum_equals_its_own_recursion():
    """v <- beta v + grad, y <- y - eta v."""
    problem, X, beta = problem_of(10), inputs(10), 0.9
    flow = flows.empirical(problem, X)
    y, v = flow.state0, 0
    for _ in range(STEPS):
        v = beta * v + flow.rhs(0, y)
        y = y + H * v
    heavy = train(
        network(problem), X, h=H, steps=STEPS, every=STEPS,
        optimizer=lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=beta),
    )  # fmt: skip
    assert np.abs(heavy.state[-1] - y).max() < 1e-12


def test_it_is_float64_whatever_torch_prefers_and_chooses_no_threads():
    code = (
        "import torch; n = torch.get_num_threads(); torch.set_default_dtype(torch.float32)\n"
        "from gaugelib.training import network\nfrom gaugelib.problem import duplicates\n"
        "model = network(duplicates(3, 4.0, 0.5))\n"
        "assert {p.dtype for p in model.parameters()} == {torch.float64}\n"
        "assert torch.get_num_threads() == n\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_bar_goes_to_stderr_and_only_on_request(capsys):
    problem, X = problem_of(2), inputs(2)
    train(network(problem), X, h=H, steps=2)
    assert capsys.readouterr() == ("", "")
    train(network(problem), X, h=H, steps=2, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "2/2" in err


def test_a_run_that_blows_up_raises_and_says_where():
    with pytest.raises(SolverError, match="torch: state not finite at step"):
        train(network(problem_of(2)), inputs(2), h=1e4, steps=50)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"h": 0}, "h must be in"),
        ({"steps": 0}, "steps must be a whole number >= 1"),
        ({"every": 3}, "every must divide steps=10, got 3"),
        ({"batch": 5}, "batch and seed must come together"),
        ({"seed": 5}, "batch and seed must come together"),
        ({"batch": 201, "seed": 0}, r"batch must be in 1..200, got 201"),
        ({"batch": 0, "seed": 0}, "batch must be a whole number >= 1"),
        ({"batch": 5, "seed": -1}, "seed must be a whole number >= 0"),
        ({"y": np.ones(3)}, "y must have shape"),
        ({"X": np.ones((200, 3))}, "X must be"),
        ({"model": torch.nn.Linear(2, 1)}, "model must be a Network"),
    ],
)
def test_wrong_arguments_raise_and_name_the_value(wrong, message):
    given = {"model": network(problem_of(2)), "X": inputs(2), "y": None, "h": H, "steps": 10}
    given |= wrong
    with pytest.raises(ValueError, match=message):
        train(given.pop("model"), given.pop("X"), given.pop("y"), **given)


def test_a_network_needs_a_problem():
    with pytest.raises(ValueError, match="problem must be a Problem"):
        network(3)


def test_an_optimizer_may_evaluate_a_batch_several_times():
    problem = duplicates(3, 4.0, 0.7)
    X = np.random.default_rng(3).standard_normal((64, 2))
    run = train(network(problem), X, h=4.0, steps=8, optimizer=torch.optim.LBFGS)
    assert run.loss[-1] < 1e-3 * run.loss[0]


@pytest.mark.parametrize("optimizer", ["adam", None, lambda parameters, lr: None])
def test_what_makes_no_torch_optimizer_is_refused(optimizer):
    problem = duplicates(3, 4.0, 0.7)
    with pytest.raises(ValueError, match="torch optimizer"):
        train(network(problem), np.ones((4, 2)), h=0.1, steps=1, optimizer=optimizer)


def test_an_optimizer_that_is_made_already_is_refused():
    model = network(duplicates(3, 4.0, 0.7))
    made = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ValueError, match="torch optimizer"):
        train(model, np.ones((4, 2)), h=0.1, steps=1, optimizer=made)


@pytest.mark.parametrize("x", [
    np.ones((4, 2)), torch.ones(4, 2), torch.ones(4, 3, dtype=torch.float64),
    torch.ones(2, dtype=torch.float64),
])  # fmt: skip
def test_inputs_that_do_not_fit_the_network_are_refused(x):
    with pytest.raises(ValueError, match=r"x must be a float64 tensor \(N, 2\)"):
        loss(network(duplicates(3, 4.0, 0.7)), x, torch.ones(len(x), dtype=torch.float64))


def test_labels_that_do_not_fit_the_inputs_are_refused():
    model, x = network(duplicates(3, 4.0, 0.7)), torch.ones(4, 2, dtype=torch.float64)
    for y in (torch.ones(3, dtype=torch.float64), np.ones(4)):
        with pytest.raises(ValueError, match="one label for each of 4 inputs"):
            loss(model, x, y)


def test_a_model_that_is_not_float64_or_cannot_learn_is_refused():
    X = np.ones((4, 2))
    with pytest.raises(ValueError, match="a of model must be float64"):
        train(network(duplicates(3, 4.0, 0.7)).float(), X, h=0.1, steps=1)
    fixed = network(duplicates(3, 4.0, 0.7))
    fixed.w.requires_grad_(False)
    with pytest.raises(ValueError, match="w of model must .* require a gradient"):
        train(fixed, X, h=0.1, steps=1)

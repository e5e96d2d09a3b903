"""Training with PyTorch: the twin of :func:`gaugelib.flows.empirical`, one step at a time.

A network is a torch module with the parameters of a problem's students; :func:`train` lets any
torch optimizer change them and reports a Trajectory, so that measures and figures work unchanged.
Everything is float64.  The number of threads is the caller's choice (``torch.set_num_threads``).
"""

from dataclasses import replace
from functools import partial

import numpy as np
import torch
from tqdm import tqdm

from gaugelib import flows
from gaugelib.checks import instance, scalar_in, whole
from gaugelib.problem import Problem
from gaugelib.solve import SolverError, trajectory


class Network(torch.nn.Module):
    """f(x) = sum_i a_i [w_i.x]_+, started from a problem's students.

    Attributes
    ----------
    problem : Problem
    a, w : parameters (m,) and (m, d), float64, at first ``problem.weights()``
    """

    def __init__(self, problem):
        super().__init__()
        self.problem = instance("problem", problem, Problem)
        a, w = problem.weights()
        self.a = torch.nn.Parameter(torch.tensor(a, dtype=torch.float64))
        self.w = torch.nn.Parameter(torch.tensor(w, dtype=torch.float64))

    def forward(self, x):
        """Outputs of inputs x (N, d), a float64 tensor: (N,)."""
        return torch.relu(x @ self.w.T) @ self.a

    def state(self):
        """a, then w by rows: a copy, (m + m d,), as in :func:`gaugelib.flows.empirical`."""
        return np.concatenate([p.detach().numpy().ravel() for p in (self.a, self.w)])


def network(problem):
    """The :class:`Network` of ``problem`` at its start."""
    return Network(problem)


def loss(model, x, y):
    """L = (1/2N) sum_n (f(x_n) - y_n)^2 as a tensor (D.3): x (N, d), y (N,), float64 tensors."""
    d = instance("model", model, Network).problem.d
    found = (x.dtype, tuple(x.shape[1:])) if isinstance(x, torch.Tensor) else type(x).__name__
    if found != (torch.float64, (d,)):
        raise ValueError(f"x must be a float64 tensor (N, {d}), got {found}")
    if not isinstance(y, torch.Tensor) or y.shape != x.shape[:1]:
        raise ValueError(f"y must be a tensor of one label for each of {len(x)} inputs, got {y!r}")
    return ((model(x) - y) ** 2).mean() / 2


def train(
    model,
    X,
    y=None,
    *,
    h,
    steps,
    batch=None,
    seed=None,
    every=1,
    optimizer=torch.optim.SGD,
    progress=False,
):
    """Train ``model``, which changes, by ``steps`` steps of learning rate eta = h/D; a Trajectory.

    With plain SGD on the full batch this *is* ``solve.euler(flows.empirical(problem, X, y), h,
    steps)``: (a, w) <- (a, w) - (h/D) grad L.

    Parameters
    ----------
    X, y : (N, d) inputs and (N,) labels; without labels those of the teacher
    h : > 0, a step of fast time; the record after n steps has tau = n h for every optimizer
    batch : 1..N samples a step, for which ``seed`` (>= 0) shuffles the samples before each epoch;
        what is left of an epoch, N mod batch samples, is not used.  None: all, without chance
    every : records only every so many steps; divides ``steps``
    optimizer : (parameters, lr) -> torch optimizer, which may evaluate a batch more than once
    progress : a bar on stderr

    The reported loss is that of all samples.  Raises SolverError if a number is not finite.
    """
    problem = instance("model", model, Network).problem
    for name, parameter in model.named_parameters():
        if parameter.dtype != torch.float64 or not parameter.requires_grad:
            raise ValueError(f"{name} of model must be float64 and require a gradient")
    h, steps = scalar_in("h", h, 0, np.inf), whole("steps", steps, 1)
    every = whole("every", every, 1)
    if steps % every:
        raise ValueError(f"every must divide steps={steps}, got {every!r}")
    flow = replace(flows.empirical(problem, X, y), label="torch")
    x, labels = _tensors(problem, X, y)
    batches = _batches(len(x), batch, seed)
    descent = _descent(optimizer, model, h / problem.D)
    states = [model.state()]
    for n in tqdm(range(1, steps + 1), disable=not progress):
        rows = next(batches)
        descent.step(partial(_backward, descent, model, x[rows], labels[rows]))
        if n % every == 0:
            states.append(model.state())
            if not np.isfinite(states[-1]).all():
                raise SolverError(f"torch: state not finite at step {n} (tau = {n * h:g})")
    return trajectory(flow, h * np.arange(0, steps + 1, every), np.array(states))


def _descent(optimizer, model, lr):
    descent = optimizer(model.parameters(), lr=lr) if callable(optimizer) else None
    if not isinstance(descent, torch.optim.Optimizer):
        wanted = "a function (parameters, lr) -> torch optimizer"
        raise ValueError(f"optimizer must be {wanted}, got {optimizer!r}")
    return descent


def _backward(descent, model, x, y):
    """The loss, with its gradients left in the parameters."""
    descent.zero_grad()
    value = loss(model, x, y)
    value.backward()
    return value


def _tensors(problem, X, y):
    """Inputs and labels, already checked, as float64 tensors."""
    x = np.array(X, dtype=float)
    if y is None:
        y = np.maximum(x @ problem.teacher.u.T, 0) @ problem.teacher.b
    return torch.tensor(x), torch.tensor(np.array(y, dtype=float))


def _batches(N, batch, seed):
    """Rows of one step after the other, without end."""
    if (batch is None) != (seed is None):
        raise ValueError(f"batch and seed must come together, got {batch!r} and {seed!r}")
    if batch is None:
        return _all_rows()
    batch, seed = whole("batch", batch, 1), whole("seed", seed, 0)
    if batch > N:
        raise ValueError(f"batch must be in 1..{N}, got {batch!r}")
    return _shuffled(N, batch, np.random.default_rng(seed))


def _all_rows():
    while True:
        yield slice(None)


def _shuffled(N, batch, rng):
    while True:
        order = rng.permutation(N)
        for start in range(0, N - batch + 1, batch):
            yield torch.from_numpy(order[start : start + batch])

"""Anchor functions, the transformer that learns them, and the measures of its attention.

Appendix G of the weight-decay paper.  A sequence of nine tokens holds a key x and two anchors a, b
behind it; the target is g_a(g_b(x)) = x + d_a + d_b.  Data, start and order of the batches come
from numpy's generators, the gradients from torch.  The number of threads is the caller's choice.

What the paper does not print is our choice: pairs are drawn uniformly; each LayerNorm has a gain
and a shift of its own (start 1 and 0) and the constant 1e-5; the positional embedding starts like
the weight of a one-hot position, and the output bias at 0; AdamW has torch's constants (0.9,
0.999, 1e-8); the rate changes once an epoch, which shuffles the data and leaves the rest, less
than a batch, unused.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from torch.nn import functional as F

from gaugelib.checks import finite, instance, scalar_in, vectors, whole

LENGTH, VOCABULARY, LAYERS, GAMMA = 9, 120, 2, 0.48
KEYS, POSITIONS = np.arange(20, 100), np.arange(LENGTH - 2)
SHIFTS = {1: 5, 2: 1, 3: -2, 4: -8}
PAIRS = tuple(product(SHIFTS, repeat=2))
HELD_OUT = ((3, 4), (4, 3))
SEEN = tuple(pair for pair in PAIRS if pair not in HELD_OUT)


@dataclass(frozen=True)
class Plan:
    """Sizes and schedule of a run; without arguments the reduced run, :data:`FULL` as printed.

    Attributes
    ----------
    d, ff, qk : embedding, feed-forward, and query, key and value dimension
    examples, batch, epochs : size of the training set, of a batch, and number of epochs
    warmup : epochs in which the rate rises from ``least`` to ``peak``; then a half cosine back
    single : whether to compute in float32, or in float64
    """

    d: int = 64
    ff: int = 192
    qk: int = 32
    examples: int = 10_000
    batch: int = 128
    epochs: int = 40
    warmup: int = 4
    peak: float = 2e-3
    least: float = 2e-4
    single: bool = True

    def __post_init__(self):
        for name in ("d", "ff", "qk", "examples", "batch", "epochs", "warmup"):
            whole(name, getattr(self, name), 1)
        if self.batch > self.examples:
            raise ValueError(f"batch must be in 1..{self.examples}, got {self.batch}")
        if self.warmup >= self.epochs:
            raise ValueError(f"warmup must be in 1..{self.epochs - 1}, got {self.warmup}")
        for name in ("peak", "least"):
            if isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name} must be a number > 0, got {getattr(self, name)}")
        scalar_in("least", self.least, 0, scalar_in("peak", self.peak, 0, np.inf), closed_high=True)
        instance("single", self.single, bool)

    @property
    def steps(self):
        """Updates in an epoch."""
        return self.examples // self.batch

    def rate(self, epoch):
        """Learning rate in this epoch, 0 .. epochs - 1.

        least + (peak - least) e/warmup, then least + (peak - least)(1 + cos(pi s))/2 with
        s = (e - warmup)/(epochs - warmup).
        """
        if whole("epoch", epoch, 0) >= self.epochs:
            raise ValueError(f"epoch must be in 0..{self.epochs - 1}, got {epoch!r}")
        if epoch < self.warmup:
            part = epoch / self.warmup
        else:
            part = (1 + np.cos(np.pi * (epoch - self.warmup) / (self.epochs - self.warmup))) / 2
        return self.least + (self.peak - self.least) * part

    def dose(self, lam, epochs=None):
        """Sum of rate times lam over all updates of the first ``epochs`` epochs, or of all."""
        epochs = self.epochs if epochs is None else whole("epochs", epochs, 0)
        if epochs > self.epochs:
            raise ValueError(f"epochs must be in 0..{self.epochs}, got {epochs}")
        lam = scalar_in("lam", lam, 0, np.inf, closed_low=True)
        return lam * self.steps * sum(map(self.rate, range(epochs)))

    @property
    def operations(self):
        """Floating-point operations of the matrix products of an update, forward and backward.

        Two for each weight, and for each of the two sums over positions, a token; the last layer
        asks at one position; the backward pass costs twice the forward pass.
        """
        d, ff, qk = self.d, self.ff, self.qk
        asked = [LENGTH] * (LAYERS - 1) + [1]
        layers = sum(2 * d * qk * LENGTH + n * (2 * d * qk + 2 * d * ff + 2 * qk * LENGTH)
                     for n in asked)
        return 3 * 2 * self.batch * (layers + d * VOCABULARY)


FULL = Plan(d=400, ff=1200, qk=64, examples=157_500, batch=4096, epochs=400, warmup=40, peak=5e-4,
            least=5e-5)  # the number of examples is not printed: our guess


def target(x, a, b):
    """g_a(g_b(x)) = x + d_a + d_b of keys x for one anchor pair."""
    for anchor in (a, b):
        if (not isinstance(anchor, (int, np.integer)) or isinstance(anchor, bool)
                or anchor not in SHIFTS):
            raise ValueError(f"an anchor must be one of {list(SHIFTS)}, got {anchor!r}")
    x = np.asarray(x)
    if x.dtype.kind not in "iu" or not np.isin(x, KEYS).all():
        raise ValueError(f"x must be whole numbers in {KEYS[0]}..{KEYS[-1]}, got {x!r}")
    return x + SHIFTS[a] + SHIFTS[b]


def keys(position, training):
    """Keys allowed at a position: x mod 9 != p in training, x mod 9 = p in testing."""
    if whole("position", position, 0) > POSITIONS[-1]:
        raise ValueError(f"position must be in 0..{POSITIONS[-1]}, got {position!r}")
    return KEYS[(KEYS % LENGTH != position) == bool(training)]


def examples(rng, size, *, pairs, training):
    """``size`` sequences with anchors from ``pairs``: tokens (size, 9) and targets (size,).

    The position is uniform on 0..6, then the key on those allowed there; the six other tokens are
    uniform on 20..99.
    """
    size, rng = whole("size", size, 1), instance("rng", rng, np.random.Generator)
    try:
        chosen_from = tuple(map(tuple, pairs))
        known = set(chosen_from) <= set(PAIRS)
    except TypeError:
        chosen_from = known = ()
    if not known or not chosen_from:
        raise ValueError(f"pairs must be some of {PAIRS}, got {pairs!r}")
    allowed = [keys(p, training) for p in POSITIONS]
    tokens = rng.integers(KEYS[0], KEYS[-1] + 1, (size, LENGTH))
    positions = rng.integers(POSITIONS.size, size=size)
    chosen = rng.integers(len(chosen_from), size=size)
    share = rng.random(size)
    targets = np.empty(size, dtype=np.int64)
    for n, (p, k) in enumerate(zip(positions, chosen)):
        x = allowed[p][int(share[n] * allowed[p].size)]
        tokens[n, p : p + 3] = x, *chosen_from[k]
        targets[n] = target(x, *chosen_from[k])
    return tokens, targets


def initial(plan, rng):
    """Parameters {name: array} at the start: each weight N(0, d_in^(-2 gamma)), as (d_out, d_in).

    A row of "query-1" (qk, d) is one row of the paper's W_Q in layer 1.
    """
    d, ff, qk = instance("plan", plan, Plan).d, plan.ff, plan.qk
    instance("rng", rng, np.random.Generator)

    def weight(d_out, d_in):
        return rng.standard_normal((d_out, d_in)) * d_in**-GAMMA

    parameters = {"embed": weight(d, VOCABULARY).T, "position": weight(d, LENGTH).T}
    for layer in range(1, LAYERS + 1):
        for name in ("query", "key", "value"):
            parameters[f"{name}-{layer}"] = weight(qk, d)
        parameters[f"out-{layer}"] = weight(d, qk)
        parameters[f"up-{layer}"], parameters[f"down-{layer}"] = weight(ff, d), weight(d, ff)
        for norm in ("first", "second"):
            parameters[f"{norm}-gain-{layer}"] = np.ones(d)
            parameters[f"{norm}-shift-{layer}"] = np.zeros(d)
    return parameters | {"logits": weight(VOCABULARY, d), "bias": np.zeros(VOCABULARY)}


def tensors(parameters, single=False):
    """The arrays as torch tensors that require a gradient: {name: tensor}."""
    kind = torch.float32 if single else torch.float64
    return {name: torch.tensor(array, dtype=kind, requires_grad=True)
            for name, array in parameters.items()}


def logits(parameters, tokens):
    """Outputs Z at the last position, (55) to (59): tokens (size, 9) -> (size, 120).

    The tokens are an array or a tensor.  In a layer, with Q = LN(H) W_Q etc. and the causal mask,

        U = H + softmax(Q K'/sqrt(qk)) V W_O,    H <- LN(U) + ReLU(LN(U) W_1) W_2,

    so the second residual starts from the normalised LN(U), and no LayerNorm stands at the end.
    The last layer is computed at the last position only, for nothing else reaches the output.
    """
    H = F.embedding(torch.as_tensor(tokens), parameters["embed"]) + parameters["position"]
    mask = torch.full((LENGTH, LENGTH), -torch.inf, dtype=H.dtype).triu(1)
    for layer in range(1, LAYERS + 1):
        p = {name.removesuffix(f"-{layer}"): value for name, value in parameters.items()}
        asked = slice(-1, None) if layer == LAYERS else slice(None)
        normal = _layer_norm(H, p, "first")
        Q, K, V = (normal @ p[name].T for name in ("query", "key", "value"))
        scores = Q[:, asked] @ K.transpose(1, 2) / Q.shape[-1] ** 0.5 + mask[asked]
        U = H[:, asked] + torch.softmax(scores, -1) @ V @ p["out"].T
        normal = _layer_norm(U, p, "second")
        H = normal + torch.relu(normal @ p["up"].T) @ p["down"].T
    return H[:, -1] @ parameters["logits"].T + parameters["bias"]


def _layer_norm(x, p, which):
    return F.layer_norm(x, x.shape[-1:], p[f"{which}-gain"], p[f"{which}-shift"])


def accuracy(parameters, tokens, targets):
    """Share of the sequences whose largest output is the target."""
    with torch.no_grad():
        found = logits(parameters, tokens).argmax(1)
    return float((found.numpy() == targets).mean())


def training(parameters, tokens, targets, plan, lam, rng):
    """Train ``parameters``, which change; after each epoch yields its mean loss, cross entropy.

    AdamW with decay ``lam`` on every parameter, gradients cut to the global norm 1:
    theta <- (1 - rate lam) theta - rate m/(sqrt(v) + 1e-8).
    """
    lam = scalar_in("lam", lam, 0, np.inf, closed_low=True)
    instance("plan", plan, Plan)
    if len(tokens) != plan.examples or len(targets) != plan.examples:
        got = f"{len(tokens)} and {len(targets)}"
        raise ValueError(f"tokens and targets must be {plan.examples} each, got {got}")
    instance("rng", rng, np.random.Generator)
    everything = list(parameters.values())
    optimizer = torch.optim.AdamW(everything, lr=plan.least, weight_decay=lam)
    for epoch in range(plan.epochs):
        optimizer.param_groups[0]["lr"] = plan.rate(epoch)
        batches = rng.permutation(plan.examples)[: plan.steps * plan.batch]
        losses = []
        for rows in batches.reshape(plan.steps, plan.batch):
            optimizer.zero_grad()
            found = logits(parameters, tokens[rows])
            loss = F.cross_entropy(found, torch.from_numpy(targets[rows]))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(everything, 1.0)
            optimizer.step()
            losses.append(loss.item())
        yield float(np.mean(losses))


def cosines(W):
    """C_ij = w_i.w_j/(|w_i||w_j|) of the rows of W (n, d): (n, n)."""
    W = vectors("W", W)
    if W.ndim != 2 or not W.any(axis=-1).all():
        raise ValueError(f"W must be a matrix (n, d) without zero rows, got shape {W.shape}")
    scaled = W / np.abs(W).max(axis=-1, keepdims=True)  # so that no square leaves the floats
    unit = scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)
    return unit @ unit.T


def directions(C):
    """Effective number of directions n^2/sum_ij C_ij^2 of n rows with cosines C, in [1, n].

    It is (sum s)^2/sum s^2 of the eigenvalues s of C: n for orthogonal rows, 1 for parallel or
    antiparallel ones.
    """
    C = finite("C", C)
    if C.ndim != 2 or C.shape[0] != C.shape[1] or not C.size or not np.allclose(np.diag(C), 1):
        raise ValueError("C must be a square matrix (n, n), n >= 1, with diagonal 1, got shape "
                         f"{C.shape}")
    return float(len(C) ** 2 / (C**2).sum())


def imbalance(first, second):
    """|A A' - B B'| / (|A A'| + |B B'|) in Frobenius norms, of A, B (n, d): in [0, 1]."""
    left, right = (X @ X.T for X in (vectors("first", first), vectors("second", second)))
    if left.shape != right.shape:
        raise ValueError(f"both must have as many rows, got {len(left)} and {len(right)}")
    whole_norm = np.linalg.norm(left) + np.linalg.norm(right)
    if not 0 < whole_norm < np.inf:
        raise ValueError(f"|A A'| + |B B'| must be in (0, inf), got {whole_norm:g}")
    return float(np.linalg.norm(left - right) / whole_norm)


def start(plan, seed):
    """(parameters, training set, [tests of (3, 4), of (4, 3), of the seen pairs]) of a seed.

    Nothing depends on the decay, so that runs with and without it differ in nothing else.
    """
    instance("plan", plan, Plan)
    data, weights, tests = (np.random.default_rng([whole("seed", seed, 0), k]) for k in range(3))
    test_sets = [examples(tests, 1000 * n, pairs=pairs, training=False)
                 for n, pairs in ((1, HELD_OUT[:1]), (1, HELD_OUT[1:]), (2, SEEN))]
    train_set = examples(data, plan.examples, pairs=SEEN, training=True)
    return tensors(initial(plan, weights), plan.single), train_set, test_sets


def follow(plan, seed, lam, *, epochs=None, keep=()):
    """Train from the seed's start for ``epochs`` epochs, or to the end of the plan: a dict of

    loss : (epochs,) mean training loss of each epoch
    accuracy : (epochs + 1, 3) on the pairs (3, 4), (4, 3) and the seen ones, test keys
    norm, directions : (epochs + 1, 2, 2) of W_Q and W_K (last axis) in the two layers
    imbalance : (epochs + 1, 2, 2) of W_Q, W_K and of W_V, W_O' in the two layers
    maps : (len(keep), 2, 2, qk, qk) hundredths of the cosines, int8, at the epochs ``keep``
    """
    most = instance("plan", plan, Plan).epochs
    epochs = most if epochs is None else whole("epochs", epochs, 1)
    if epochs > most or not set(finite("keep", keep).ravel()) <= set(range(epochs + 1)):
        raise ValueError(f"epochs and keep must be at most {most}, got {epochs}, {keep}")
    parameters, (tokens, targets), tests = start(plan, seed)
    run = training(parameters, tokens, targets, plan, lam, np.random.default_rng([seed, 3]))
    losses, rows, maps = [], [_measures(parameters, tests)], {0: _maps(parameters)}
    for epoch, loss in zip(range(1, epochs + 1), run):
        losses.append(loss)
        rows.append(_measures(parameters, tests))
        maps[epoch] = _maps(parameters)
    record = {name: np.array(values) for name, values in zip(_NAMES, zip(*rows))}
    hundredths = np.array([100 * maps[epoch] for epoch in np.ravel(keep)]).round().astype(np.int8)
    return {"loss": np.array(losses), **record, "maps": hundredths}


_NAMES = ("accuracy", "norm", "directions", "imbalance")


def _attention(parameters, *names):
    """Weights of all layers as arrays, [layer][name]."""
    return [[parameters[f"{name}-{layer}"].detach().numpy() for name in names]
            for layer in range(1, LAYERS + 1)]


def _maps(parameters):
    return np.array([[cosines(W) for W in layer]
                     for layer in _attention(parameters, "query", "key")])


def _measures(parameters, tests):
    """accuracy (3,), norm (2, 2), directions (2, 2), imbalance (2, 2)."""
    norms = [[np.linalg.norm(W) for W in layer] for layer in _attention(parameters, "query", "key")]
    counts = [[directions(C) for C in layer] for layer in _maps(parameters)]
    uneven = [[imbalance(query, key), imbalance(value, out.T)] for query, key, value, out
              in _attention(parameters, "query", "key", "value", "out")]
    return [accuracy(parameters, *test) for test in tests], norms, counts, uneven

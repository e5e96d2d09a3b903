"""Anchor functions, the transformer against a forward pass by loops, and the law of AdamW."""

import runpy
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from notebook_guards import ROOT
from torch.nn import functional as F

from gaugelib import anchors, store

TINY = anchors.Plan(d=8, ff=12, qk=4, examples=40, batch=10, epochs=3, warmup=1, peak=1e-2,
                    single=False)
MATRICES = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).standard_normal((5, 7)))


def drawn(seed=0, size=300, pairs=anchors.PAIRS, training=True):
    return anchors.examples(np.random.default_rng(seed), size, pairs=pairs, training=training)


def parameters(seed=0, plan=TINY):
    """A start with gains, shifts and a bias that are not 1 and 0."""
    rng = np.random.default_rng(seed)
    return {name: value + 0.3 * rng.standard_normal(value.shape)
            for name, value in anchors.initial(plan, rng).items()}


# The task.


@given(st.integers(20, 99), st.permutations([1, 2, 3, 4]))
def test_anchor_functions_commute_and_add_their_shifts(x, order):
    a, b = order[:2]
    assert anchors.target(x, a, b) == anchors.target(x, b, a)
    assert anchors.target(x, a, b) - x == {1: 5, 2: 1, 3: -2, 4: -8}[a] + anchors.SHIFTS[b]
    assert anchors.target(x, 3, 4) == anchors.target(x, 4, 3) == x - 10


def test_training_and_test_keys_part_the_keys_at_every_position():
    for p in range(7):
        train, test = anchors.keys(p, True), anchors.keys(p, False)
        assert sorted([*train, *test]) == list(range(20, 100))
        assert (test % 9 == p).all() and not (train % 9 == p).any()
    assert sum(anchors.keys(p, False).size for p in range(7)) == 62


@pytest.mark.parametrize("training", [True, False])
def test_a_sequence_is_as_printed(training):
    tokens, targets = drawn(training=training)
    assert tokens.shape == (300, 9) and targets.shape == (300,)
    places = set()
    for row, y in zip(tokens, targets):
        (p,) = [k for k in range(1, 8) if row[k] < 5 and row[k + 1] < 5]
        x, a, b = row[p - 1 : p + 2]
        rest = np.delete(row, [p - 1, p, p + 1])
        assert (x % 9 != p - 1) == training and 20 <= x <= 99
        assert {a, b} <= {1, 2, 3, 4} and ((20 <= rest) & (rest <= 99)).all()
        assert y == x + anchors.SHIFTS[a] + anchors.SHIFTS[b] and 0 <= y < anchors.VOCABULARY
        places.add((p - 1, a, b))
    assert {p for p, *_ in places} == set(range(7))
    assert {(a, b) for _, a, b in places} == set(anchors.PAIRS)


def test_held_out_pairs_are_never_seen():
    assert len(anchors.SEEN) == 14 and not set(anchors.HELD_OUT) & set(anchors.SEEN)
    tokens, _ = drawn(size=2000, pairs=anchors.SEEN)
    found = {(a, b) for row in tokens for a, b in zip(row, row[1:]) if a < 5 and b < 5}
    assert found == set(anchors.SEEN)


def test_every_allowed_key_is_drawn_about_equally_often():
    tokens, _ = drawn(size=30_000)
    p = (tokens < 5).argmax(1) - 1
    x = tokens[np.arange(len(p)), p]
    counts = np.array([[((p == k) & (x == key)).sum() for key in anchors.keys(k, True)[:70]]
                       for k in range(7)])
    assert counts.min() > 25 and counts.max() < 110  # about 60, 5 standard deviations


# The transformer.


def by_loops(p, row):
    """Outputs at the last position of one sequence, a sum at a time, every position of each layer.

    Written from (55) to (59), in numpy.
    """
    def norm(x, which, layer):
        centred = x - x.mean()
        return (centred / np.sqrt((centred**2).mean() + 1e-5) * p[f"{which}-gain-{layer}"]
                + p[f"{which}-shift-{layer}"])

    H = [p["embed"][token] + p["position"][k] for k, token in enumerate(row)]
    for layer in (1, 2):
        Q, K, V = ([p[f"{name}-{layer}"] @ norm(h, "first", layer) for h in H]
                   for name in ("query", "key", "value"))
        for t in range(len(row)):
            weight = np.exp([Q[t] @ K[s] / np.sqrt(len(Q[t])) for s in range(t + 1)])
            value = sum(w * v for w, v in zip(weight / weight.sum(), V))
            normal = norm(H[t] + p[f"out-{layer}"] @ value, "second", layer)
            hidden = np.maximum(p[f"up-{layer}"] @ normal, 0)
            H[t] = normal + p[f"down-{layer}"] @ hidden
    return p["logits"] @ H[-1] + p["bias"]


@pytest.mark.parametrize("seed", range(3))
def test_the_transformer_is_that_of_the_printed_formulas(seed):
    p, (tokens, _) = parameters(seed), drawn(seed, 5)
    with torch.no_grad():
        found = anchors.logits(anchors.tensors(p), tokens).numpy()
        same = anchors.logits(anchors.tensors(p), torch.from_numpy(tokens)).numpy()
    assert (found == same).all(), "tokens may be an array or a tensor"
    assert np.abs(found - [by_loops(p, row) for row in tokens]).max() < 1e-12


def test_gradients_are_finite_differences():
    p, (tokens, targets) = parameters(), map(torch.from_numpy, drawn(0, 6))
    z = anchors.tensors(p)
    F.cross_entropy(anchors.logits(z, tokens), targets).backward()
    rng = np.random.default_rng(1)
    way = {name: torch.from_numpy(rng.standard_normal(value.shape)) for name, value in z.items()}
    with torch.no_grad():
        ends = [float(F.cross_entropy(anchors.logits(
            {name: value + h * way[name] for name, value in z.items()}, tokens), targets))
            for h in (1e-6, -1e-6)]
    along = float(sum((z[name].grad * way[name]).sum() for name in z))
    assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(along, rel=1e-6)


def test_the_start_has_the_printed_scale():
    plan = anchors.Plan(d=100, ff=150, qk=64, examples=10, batch=5)
    p = anchors.initial(plan, np.random.default_rng(0))
    sizes = {"query-1": 100, "value-2": 100, "out-1": 64, "up-2": 100, "down-1": 150,
             "logits": 100, "embed": 120}
    for name, d_in in sizes.items():
        assert p[name].std() == pytest.approx(d_in**-0.48, rel=0.04)
    assert p["position"].std() == pytest.approx(9**-0.48, rel=0.1)  # 900 draws, 4 deviations
    assert p["query-1"].shape == (64, 100) and p["embed"].shape == (120, 100)
    assert p["position"].shape == (9, 100) and p["bias"].shape == (120,)
    assert (p["first-gain-2"] == 1).all() and not p["second-shift-1"].any() and not p["bias"].any()


def test_the_printed_size_is_the_printed_size():
    p = anchors.initial(anchors.FULL, np.random.default_rng(0))
    assert p["query-2"].shape == (64, 400) and p["up-1"].shape == (1200, 400)
    assert (anchors.FULL.batch, anchors.FULL.epochs) == (4096, 400)
    rates = [anchors.FULL.rate(e) for e in (0, 40, 220)]
    assert rates == pytest.approx([5e-5, 5e-4, 2.75e-4])


def test_operations_count_the_matrix_products():
    """Every product of the forward pass of one example, as (rows, inner, columns)."""
    plan = anchors.Plan(d=3, ff=5, qk=2, examples=1, batch=1)
    products = [(n, 3, 2) for n in (9, 9, 9, 9, 9, 1)]  # Q, K, V of both layers
    products += [(9, 2, 9), (9, 9, 2), (1, 2, 9), (1, 9, 2), (1, 3, 120)]
    products += [shape for n in (9, 1) for shape in ((n, 2, 3), (n, 3, 5), (n, 5, 3))]
    assert plan.operations == 3 * sum(2 * a * b * c for a, b, c in products)


# Training.


def test_a_rate_rises_then_falls_as_half_a_cosine():
    plan = anchors.Plan()
    rates = np.array([plan.rate(e) for e in range(40)])
    assert rates[[0, 2, 4, 22]] == pytest.approx([2e-4, 1.1e-3, 2e-3, 1.1e-3])
    assert (np.diff(rates[:5]) > 0).all() and (np.diff(rates[4:]) < 0).all()
    assert plan.dose(0.8) == pytest.approx(0.8 * 78 * rates.sum())
    assert plan.dose(0.8, 5) == pytest.approx(0.8 * 78 * rates[:5].sum())


def test_a_weight_without_gradient_shrinks_by_one_minus_rate_times_decay():
    """Tokens that never occur have no gradient: their embedding only decays."""
    tokens, targets = drawn(size=40)
    z = anchors.tensors(parameters())
    idle = np.setdiff1d(np.arange(120), tokens)
    before = z["embed"].detach().numpy()[idle].copy()
    for _ in anchors.training(z, tokens, targets, TINY, 0.8, np.random.default_rng(0)):
        pass
    factor = np.prod([(1 - TINY.rate(e) * 0.8) ** 4 for e in range(3)])
    assert np.abs(z["embed"].detach().numpy()[idle] / (factor * before) - 1).max() < 1e-12


def by_hand(p, tokens, targets, plan, lam, rng):
    """The same training with AdamW written out: the parameters at the end, mean losses."""
    p = {name: value.copy() for name, value in p.items()}
    m, v = ({name: np.zeros_like(x) for name, x in p.items()} for _ in range(2))
    n, losses = 0, []
    for epoch in range(plan.epochs):
        order = rng.permutation(plan.examples)
        for k in range(plan.examples // plan.batch):
            rows, n = order[k * plan.batch : (k + 1) * plan.batch], n + 1
            z = anchors.tensors(p)
            out = anchors.logits(z, torch.from_numpy(tokens[rows]))
            right = out[torch.arange(len(rows)), torch.from_numpy(targets[rows])]
            loss = (torch.logsumexp(out, 1) - right).mean()
            loss.backward()
            losses.append(loss.item())
            g = {name: value.grad.numpy() for name, value in z.items()}
            size = np.sqrt(sum((x**2).sum() for x in g.values()))
            for name, x in p.items():
                cut = g[name] * min(1, 1 / (size + 1e-6))
                m[name] = 0.9 * m[name] + 0.1 * cut
                v[name] = 0.999 * v[name] + 0.001 * cut**2
                step = m[name] / (1 - 0.9**n) / (np.sqrt(v[name] / (1 - 0.999**n)) + 1e-8)
                p[name] = (1 - plan.rate(epoch) * lam) * x - plan.rate(epoch) * step
    return p, np.reshape(losses, (plan.epochs, -1)).mean(axis=1)


@pytest.mark.parametrize("lam", [0.0, 0.8])
def test_training_is_adamw_written_out(lam):
    p, (tokens, targets) = parameters(), drawn(size=40)
    z = anchors.tensors(p)
    losses = list(anchors.training(z, tokens, targets, TINY, lam, np.random.default_rng(5)))
    expected, means = by_hand(p, tokens, targets, TINY, lam, np.random.default_rng(5))
    assert len(losses) == 3 and losses[-1] < losses[0]
    assert losses == pytest.approx(means, abs=1e-8)
    for name, value in z.items():
        assert np.abs(value.detach().numpy() - expected[name]).max() < 1e-8


# Measures.


@given(MATRICES)
def test_cosines_and_directions_are_those_of_the_spectrum(W):
    C = anchors.cosines(W)
    for i, j in product(range(5), repeat=2):
        assert C[i, j] == pytest.approx(W[i] @ W[j] / np.sqrt(W[i] @ W[i] * (W[j] @ W[j])))
    s = np.linalg.eigvalsh(C)
    assert anchors.directions(C) == pytest.approx(s.sum() ** 2 / (s**2).sum())
    assert 1 - 1e-12 <= anchors.directions(C) <= 5 + 1e-12


def test_directions_count_them():
    rows = np.repeat(np.eye(3), 4, axis=0) * np.array([1, -2, 3, -4] * 3)[:, None]
    assert anchors.directions(anchors.cosines(rows)) == pytest.approx(3)


@given(MATRICES, MATRICES)
def test_an_imbalance_lies_between_balanced_and_one_sided(A, B):
    turned = A @ np.linalg.qr(np.random.default_rng(0).standard_normal((7, 7)))[0]
    assert anchors.imbalance(A, turned) < 1e-12
    assert anchors.imbalance(A, 0 * B) == 1 and 0 <= anchors.imbalance(A, B) <= 1


def test_accuracy_counts_largest_outputs_and_nothing_near_them():
    """All weights of the output are zero, so that every answer is the largest entry of the bias."""
    p = parameters() | {"logits": np.zeros((120, 8)), "bias": np.eye(120)[50]}
    tokens, _ = drawn(size=5)
    targets = np.array([49, 50, 51, 0, 119])
    assert anchors.accuracy(anchors.tensors(p), tokens, targets) == 0.2


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_cosines_do_not_depend_on_the_length_of_rows(size):
    C = anchors.cosines(size * np.array([[1.0, 0], [3, 4], [-1, 0]]))
    assert C == pytest.approx(np.array([[1, 0.6, -1], [0.6, 1, -0.6], [-1, -0.6, 1]]))


# Runs and files.


def test_a_start_draws_data_weights_and_tests_from_three_streams():
    z, train_set, test_sets = anchors.start(TINY, 7)
    data, weights, tests = (np.random.default_rng([7, k]) for k in range(3))
    for name, value in anchors.initial(TINY, weights).items():
        assert (z[name].detach().numpy() == value).all()
    expected = [anchors.examples(data, 40, pairs=anchors.SEEN, training=True)]
    expected += [anchors.examples(tests, n, pairs=pairs, training=False)
                 for n, pairs in ((1000, [(3, 4)]), (1000, [(4, 3)]), (2000, anchors.SEEN))]
    for found, wanted in zip([train_set, *test_sets], expected, strict=True):
        assert all((a == b).all() for a, b in zip(found, wanted, strict=True))


def test_tests_of_a_start_have_test_keys_and_the_stated_pairs():
    _, (train, _), sets = anchors.start(TINY, 0)
    pairs = []
    for tokens, _ in sets:
        at, p = np.arange(len(tokens)), (tokens < 5).argmax(1) - 1
        assert (tokens[at, p] % 9 == p).all()
        pairs.append(set(zip(tokens[at, p + 1].tolist(), tokens[at, p + 2].tolist())))
    assert pairs == [{(3, 4)}, {(4, 3)}, set(anchors.PAIRS) - {(3, 4), (4, 3)}]
    at, p = np.arange(40), (train < 5).argmax(1) - 1
    assert (train[at, p] % 9 != p).all()


def test_a_record_is_measured_on_the_training_written_out():
    """Losses, accuracies, norms, directions and imbalances of a run, all computed again."""
    record = anchors.follow(TINY, 7, 0.8)
    z, (tokens, targets), tests = anchors.start(TINY, 7)
    begin = {name: value.detach().numpy().copy() for name, value in z.items()}
    end, losses = by_hand(begin, tokens, targets, TINY, 0.8, np.random.default_rng([7, 3]))
    assert record["loss"] == pytest.approx(losses, abs=1e-8)
    for epoch, p in ((0, begin), (3, end)):
        shares = [np.mean([np.argmax(by_loops(p, row)) == y for row, y in zip(x[:200], wanted)])
                  for x, wanted in tests]
        whole = [anchors.accuracy(anchors.tensors(p), *test) for test in tests]
        part = [anchors.accuracy(anchors.tensors(p), x[:200], y[:200]) for x, y in tests]
        assert part == pytest.approx(shares) and record["accuracy"][epoch] == pytest.approx(whole)
        for layer in (1, 2):
            Q, K, V, out = (p[f"{name}-{layer}"] for name in ("query", "key", "value", "out"))
            found = {name: record[name][epoch, layer - 1] for name in record if name in (
                "norm", "directions", "imbalance")}
            assert found["norm"] == pytest.approx([np.sqrt((W**2).sum()) for W in (Q, K)])
            assert found["directions"] == pytest.approx([by_sums(W) for W in (Q, K)])
            assert found["imbalance"] == pytest.approx([
                np.sqrt(((A @ A.T - B @ B.T) ** 2).sum())
                / (np.sqrt(((A @ A.T) ** 2).sum()) + np.sqrt(((B @ B.T) ** 2).sum()))
                for A, B in ((Q, K), (V, out.T))])


def by_sums(W):
    """Effective number of directions of the rows, a pair at a time."""
    squares = [(v @ w) ** 2 / ((v @ v) * (w @ w)) for v, w in product(W, repeat=2)]
    return len(W) ** 2 / sum(squares)


def test_runs_of_one_seed_differ_in_the_decay_only():
    one, other = (anchors.follow(TINY, 3, lam, keep=(0, 3)) for lam in (0.0, 0.8))
    assert (one["norm"][0] == other["norm"][0]).all() and (one["maps"][0] == other["maps"][0]).all()
    assert (other["norm"][-1] < one["norm"][-1]).all()
    part = anchors.follow(TINY, 3, 0.8, epochs=2, keep=(0,))
    for name in ("norm", "accuracy", "directions", "imbalance"):
        assert (part[name] == other[name][:3]).all()
    assert (part["loss"] == other["loss"][:2]).all()


def test_the_full_size_says_what_it_costs(capsys):
    script = runpy.run_path(str(ROOT / "full" / "transformer.py"))
    seconds = script["cost"](TINY, times=2)
    assert seconds.shape == (2,) and (seconds > 0).all()
    script["announce"](TINY)
    said = capsys.readouterr().out
    assert f"{TINY.operations:.3g} floating-point operations" in said
    assert "12 updates a run, 2 runs" in said and "days on one core" in said


def test_maps_are_hundredths_of_the_cosines():
    found = anchors.follow(TINY, 0, 0.8, epochs=1, keep=(0,))["maps"]
    z, *_ = anchors.start(TINY, 0)
    C = anchors.cosines(z["key-2"].detach().numpy())
    assert found.shape == (1, 2, 2, 4, 4) and found.dtype == np.int8
    assert np.abs(found[0, 1, 1] / 100 - C).max() <= 0.005 + 1e-12


def test_a_record_comes_back_from_its_file(tmp_path):
    record = anchors.follow(TINY, 0, 0.8, keep=(0, 3))
    store.save(tmp_path / "run.npz", **record)
    loaded = store.load(tmp_path / "run.npz", **{k: x.shape for k, x in record.items()})
    assert all((loaded[name] == array).all() for name, array in record.items())


TRIED = drawn(size=40)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: anchors.target(20, 1, 5), r"one of \[1, 2, 3, 4\], got 5"),
    (lambda: anchors.target(20, 1, [2]), r"one of \[1, 2, 3, 4\], got \[2\]"),
    (lambda: anchors.target(20, True, 1), r"one of \[1, 2, 3, 4\], got True"),
    (lambda: anchors.target(20.5, 1, 2), r"x must be whole numbers in 20..99, got array\(20.5\)"),
    (lambda: anchors.target(19, 1, 2), r"x must be whole numbers in 20..99, got array\(19\)"),
    (lambda: anchors.keys([1], True), r"position must be a whole number >= 0, got \[1\]"),
    (lambda: anchors.keys(7, True), r"position must be in 0..6, got 7"),
    (lambda: drawn(size=0), "size must be a whole number >= 1, got 0"),
    (lambda: drawn(pairs=[(1, 5)]), r"pairs must be some of .*, got \[\(1, 5\)\]"),
    (lambda: drawn(pairs=[]), "pairs must be some of"),
    (lambda: drawn(pairs=3), "pairs must be some of .*, got 3"),
    (lambda: anchors.examples(0, 5, pairs=anchors.PAIRS, training=True),
     "rng must be a Generator, got a int"),
    (lambda: anchors.Plan(peak=True), "peak must be a number > 0, got True"),
    (lambda: anchors.Plan(single=1), "single must be a bool, got a int"),
    (lambda: TINY.dose(np.nan), r"lam must be in \[0, inf\), got nan"),
    (lambda: TINY.dose(-1), r"lam must be in \[0, inf\), got -1"),
    (lambda: TINY.dose(0.8, 4), r"epochs must be in 0..3, got 4"),
    (lambda: anchors.initial(TINY, 0), "rng must be a Generator, got a int"),
    (lambda: anchors.start(None, 0), "plan must be a Plan, got a NoneType"),
    (lambda: anchors.follow(3, 0, 0), "plan must be a Plan, got a int"),
    (lambda: next(anchors.training({}, *TRIED, 3, 0, None)), "plan must be a Plan, got a int"),
    (lambda: next(anchors.training({}, *TRIED, TINY, 0, 5)), "rng must be a Generator, got a int"),
    (lambda: anchors.directions(np.zeros((0, 0))), r"n >= 1, with diagonal 1, got shape \(0, 0\)"),
    (lambda: anchors.imbalance(*np.zeros((2, 2, 3))), r"must be in \(0, inf\), got 0"),
    (lambda: anchors.Plan(d=0), "d must be a whole number >= 1, got 0"),
    (lambda: anchors.Plan(batch=20_000), r"batch must be in 1..10000, got 20000"),
    (lambda: anchors.Plan(warmup=40), r"warmup must be in 1..39, got 40"),
    (lambda: anchors.Plan(least=1), r"least must be in \(0, 0.002\], got 1"),
    (lambda: anchors.Plan(peak=-1), r"peak must be in \(0, inf\), got -1"),
    (lambda: TINY.rate(3), r"epoch must be in 0..2, got 3"),
    (lambda: anchors.initial(8, None), "plan must be a Plan, got a int"),
    (lambda: anchors.follow(TINY, -1, 0), "seed must be a whole number >= 0, got -1"),
    (lambda: anchors.follow(TINY, 0, -1), r"lam must be in \[0, inf\), got -1"),
    (lambda: anchors.follow(TINY, 0, 0, epochs=4), r"at most 3, got 4"),
    (lambda: anchors.follow(TINY, 0, 0, keep=(4,)), r"at most 3, got 3, \(4,\)"),
    (lambda: next(anchors.training({}, *TRIED, anchors.Plan(), 0, None)), "must be 10000 each"),
    (lambda: anchors.cosines(np.zeros((2, 2))), r"without zero rows, got shape \(2, 2\)"),
    (lambda: anchors.directions(np.zeros((2, 2))), "with diagonal 1"),
    (lambda: anchors.imbalance(np.ones((2, 3)), np.ones((3, 3))), "as many rows, got 2 and 3"),
])
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

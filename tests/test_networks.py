"""The gauge of torch networks: rescaling keeps the function, sets delta, or is refused."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from gaugelib.networks import balance, imbalance, regauge

SHORT = settings(max_examples=60)


def torch_seeded(seed):
    return torch.Generator().manual_seed(seed)


def filled(model, seed, dtype=torch.float64):
    """The model in ``dtype`` with normal weights of a size that keeps activations of order 1."""
    rng = torch_seeded(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            draw = torch.randn(parameter.shape, generator=rng, dtype=torch.float64)
            parameter.copy_(draw / max(1, parameter[0].numel()) ** 0.5)
    return model.to(dtype)


def inputs(shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch_seeded(seed), dtype=torch.float64).to(dtype)


@st.composite
def activations(draw):
    kinds = [nn.ReLU, lambda: nn.LeakyReLU(0.3), lambda: nn.LeakyReLU(-0.5), nn.PReLU,
             lambda: nn.ReLU(inplace=True), nn.Identity]
    return draw(st.sampled_from(kinds))()


@st.composite
def perceptrons(draw):
    """(model, shape of a batch of inputs): an MLP, nested in Sequentials or not."""
    widths = draw(st.lists(st.integers(1, 6), min_size=3, max_size=6))
    layers = []
    for k, (a, b) in enumerate(zip(widths[:-1], widths[1:])):
        layers.append(nn.Linear(a, b, bias=draw(st.booleans())))
        if k < len(widths) - 2:
            layers.append(draw(activations()))
    if draw(st.booleans()):
        cut = draw(st.integers(1, len(layers) - 1))
        layers = [nn.Sequential(*layers[:cut]), nn.Sequential(*layers[cut:])]
    return filled(nn.Sequential(*layers), draw(st.integers(0, 999))), (7, widths[0])


@st.composite
def convolutions(draw):
    """(model, shape): one to three convolutions in 1 or 2 dimensions, then one or two Linear."""
    dims = draw(st.sampled_from([1, 2]))
    Conv = (nn.Conv1d, nn.Conv2d)[dims - 1]
    pools = [(nn.MaxPool1d, nn.AvgPool1d), (nn.MaxPool2d, nn.AvgPool2d)][dims - 1]
    channels, layers = 2, []
    for _ in range(draw(st.integers(1, 3))):
        groups = draw(st.sampled_from([1, 2]))
        width = draw(st.sampled_from([2, 4, 6]))
        mode = draw(st.sampled_from(["zeros", "circular"]))
        layers += [Conv(channels, width, 3, padding=1, groups=groups, padding_mode=mode,
                        bias=draw(st.booleans())), draw(activations())]
        if draw(st.booleans()):
            layers.append(draw(st.sampled_from(pools))(2, stride=1, padding=1))
        channels = width
    adaptive = (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d)[dims - 1]
    layers += [adaptive(2), nn.Flatten(), nn.Dropout(0.4), nn.Linear(channels * 2**dims, 3)]
    if draw(st.booleans()):
        layers += [draw(activations()), nn.Linear(3, 2)]
    model = filled(nn.Sequential(*layers), draw(st.integers(0, 999))).eval()
    return model, (3, 2) + (5,) * dims


networks = st.one_of(perceptrons(), convolutions())
numbers = st.floats(-30, 30) | st.sampled_from([0.0, 1e3, -1e3])


@st.composite
def networks_and_deltas(draw):
    """A network and an imbalance for every unit of some of its hidden layers."""
    model, shape = draw(networks)
    names = [name for name in imbalance(model) if draw(st.booleans())]
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    sizes = {name: model.get_submodule(name).weight.shape[0] for name in names}
    scale = draw(st.sampled_from([0.1, 3.0, 100.0]))
    return model, shape, {name: scale * rng.uniform(-1, 1, n) for name, n in sizes.items()}


def total(model, name):
    """|v|^2 + |u|^2 + b^2 of each unit from imbalance and product alone."""
    found = imbalance(model)[name]
    return np.hypot(found.delta, 2 * found.product)


def scales(before, after, name):
    """rho of each unit of a layer, from the incoming weights, if no other layer was chosen."""
    old, new = (m.get_submodule(name).weight.detach().flatten(1) for m in (before, after))
    return (old.norm(dim=1) / new.norm(dim=1)).numpy()


def difference(model, other, x):
    """Largest difference of outputs beside their size, gradients not recorded."""
    with torch.no_grad():
        y, z = model(x.clone()).double(), other(x.clone()).double()
    return float((y - z).abs().max()) / max(1.0, float(y.abs().max()))


@SHORT
@given(networks_and_deltas())
def test_the_function_stays_to_rounding(case):
    model, shape, delta = case
    if delta:
        assert difference(model, regauge(model, delta), inputs(shape)) < 1e-12


@SHORT
@given(networks_and_deltas())
def test_in_float32_the_function_stays_to_its_rounding(case):
    model, shape, delta = case
    if delta:
        single = copy.deepcopy(model).float()
        moved = regauge(single, delta)
        assert all(parameter.dtype == torch.float32 for parameter in moved.parameters())
        assert difference(single, moved, inputs(shape, dtype=torch.float32)) < 2e-4


@SHORT
@given(networks_and_deltas())
def test_imbalance_reads_back_what_was_requested(case):
    model, _, delta = case
    if delta:
        moved = regauge(model, delta)
        for name, wanted in delta.items():
            found = imbalance(moved)[name]
            assert np.abs(found.delta - wanted).max() <= 1e-11 * total(moved, name).max()
            assert not found.balanced[np.abs(wanted) > 1e-6 * total(moved, name)].any()


@SHORT
@given(networks, numbers)
def test_one_number_holds_for_every_hidden_layer(case, delta):
    model, shape = case
    moved = regauge(model, delta)
    assert list(imbalance(moved)) == list(imbalance(model))
    for name, found in imbalance(moved).items():
        assert np.abs(found.delta - delta).max() <= 1e-11 * total(moved, name).max()
    assert difference(model, moved, inputs(shape)) < 1e-12


@SHORT
@given(networks)
def test_balanced_networks_have_the_least_weights_of_their_function(case):
    model, shape = case
    even = balance(model)
    assert all(found.balanced.all() for found in imbalance(even).values())

    def energy(m):
        return sum(float((p.detach() ** 2).sum()) for p in m.parameters())

    assert energy(even) <= energy(model) * (1 + 1e-12)
    assert energy(even) <= energy(regauge(model, 0.3)) * (1 + 1e-12)
    assert difference(model, even, inputs(shape)) < 1e-12


@SHORT
@given(networks_and_deltas())
def test_regauging_back_returns_the_weights(case):
    model, _, delta = case
    if delta:
        start = {name: found.delta for name, found in imbalance(model).items() if name in delta}
        again = regauge(regauge(model, delta), start)
        size = max(float(p.detach().abs().max()) for p in model.parameters())
        for old, new in zip(model.parameters(), again.parameters()):
            assert float((old - new).detach().abs().max()) <= 1e-7 * size


@SHORT
@given(networks, numbers, st.data())
def test_gradients_scale_by_rho_and_its_inverse(case, delta, data):
    """Proposition A.3 by autograd: one layer, d/du and d/db by rho, d/dv by 1/rho."""
    model, shape = case
    name = data.draw(st.sampled_from(list(imbalance(model))))
    moved = regauge(model, delta, layer=name)
    rho = scales(model, moved, name)
    x = inputs(shape)
    for m in (model, moved):
        (m(x.clone()) ** 3).sum().backward()
    factors = {}
    layer = model.get_submodule(name)
    if layer.bias is not None:
        factors[f"{name}.bias"] = torch.from_numpy(rho)
    factors[f"{name}.weight"] = torch.from_numpy(rho).reshape(-1, *[1] * (layer.weight.ndim - 1))
    for key, parameter in model.named_parameters():
        old, new = parameter.grad, moved.get_parameter(key).grad
        if key in factors:
            expected = old * factors[key]
        elif key == following(model, name) + ".weight":
            expected = old / columns(model.get_submodule(key[:-7]), torch.from_numpy(rho))
        else:
            expected = old
        assert float((new - expected).abs().max()) <= 1e-11 * (1 + float(expected.abs().max()))


def following(model, name):
    """The layer after ``name`` in a Sequential."""
    kinds = (nn.Linear, nn.Conv1d, nn.Conv2d)
    names = [n for n, module in model.named_modules() if isinstance(module, kinds)]
    return names[names.index(name) + 1]


def columns(layer, rho):
    """rho of the unit that feeds each entry of a weight, found by a route of its own: autograd.

    d(sum of outputs)/d(weight) is linear in an input that is constant rho on each unit.
    """
    if isinstance(layer, nn.Linear):
        return rho.repeat_interleave(layer.in_features // len(rho))[None]
    space = layer.weight.ndim - 2
    probe = copy.deepcopy(layer)
    probe.padding, probe.padding_mode, probe.bias = 0, "zeros", None
    x = rho.reshape(1, -1, *[1] * space).expand(1, -1, *layer.kernel_size).clone()
    return torch.autograd.grad(probe(x).sum(), probe.weight)[0]


@pytest.mark.parametrize("delta", [0.0, 1e-9, 5.0, -5.0, 1e6, -1e6, 1e100, -1e100])
def test_one_unit_solves_its_quadratic(delta):
    """rho^2 |v|^2 - (|u|^2 + b^2)/rho^2 = delta, here with |v| = 5, |u| = 3, b = 4, in mpmath."""
    import mpmath as mp

    model = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1, bias=False)).double()
    with torch.no_grad():
        model[0].weight.fill_(3.0)
        model[0].bias.fill_(-4.0)
        model[2].weight.fill_(5.0)
    found = regauge(model, delta)
    with mp.workdps(400):
        square = (mp.mpf(delta) + mp.sqrt(mp.mpf(delta) ** 2 + 2500)) / 50
        rho = float(mp.sqrt(square))
        back = float(1 / mp.sqrt(square))
    assert found[2].weight.item() == pytest.approx(5 * rho, rel=1e-13)
    assert found[0].weight.item() == pytest.approx(3 * back, rel=1e-13)
    assert found[0].bias.item() == pytest.approx(-4 * back, rel=1e-13)


def small(seed=0, dtype=torch.float64):
    return filled(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), seed, dtype)


def test_imbalance_is_its_definition():
    model = small()
    u, b, v = (p.detach().numpy() for p in list(model.parameters())[:3])
    squares = (v**2).sum(axis=0), (u**2).sum(axis=1) + b**2
    found = imbalance(model)["0"]
    assert found.layer == "0"
    np.testing.assert_allclose(found.delta, squares[0] - squares[1], rtol=1e-13)
    np.testing.assert_allclose(found.product, np.sqrt(squares[0] * squares[1]), rtol=1e-13)
    assert not found.balanced.any()
    assert imbalance(balance(model))["0"].balanced.all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_balance_is_recognised_in_every_dtype(dtype):
    found = imbalance(balance(small(dtype=dtype)))["0"]
    assert found.balanced.all()
    nearly = regauge(small(dtype=dtype), 0.3)
    assert nearly[0].weight.dtype is dtype and not imbalance(nearly)["0"].balanced.any()


def test_a_single_unit_may_be_chosen_through_an_array():
    model = small()
    wanted = imbalance(model)["0"].delta.copy()
    wanted[2] = 8.0
    moved = regauge(model, torch.from_numpy(wanted))
    np.testing.assert_allclose(imbalance(moved)["0"].delta, wanted, rtol=1e-12)
    rows = [0, 1, 3]
    assert float((moved[0].weight - model[0].weight)[rows].detach().abs().max()) < 1e-14


def test_only_the_named_layers_are_set():
    model = filled(nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(3, 3), nn.ReLU())],
                                 nn.Linear(3, 1)), 5)
    moved = regauge(model, 2.0, layer=["0", "4"])
    found = imbalance(moved)
    assert all(abs(found[k].delta - 2).max() < 1e-11 for k in ("0", "4"))
    assert all(abs(found[k].delta - 2).min() > 1e-3 for k in ("2", "6"))
    torch.testing.assert_close(moved[8].weight, model[8].weight, rtol=0, atol=0)
    assert list(imbalance(model, layer=("4", "0"))) == ["0", "4"]


def test_in_place_keeps_the_parameters_and_what_belongs_to_them():
    model = small()
    model[2].weight.requires_grad_(False)
    model(inputs((4, 3))).sum().backward()
    ids = [id(p) for p in model.parameters()]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    grads = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    before = copy.deepcopy(model)
    assert regauge(model, 3.0, inplace=True) is model
    assert [id(p) for p in model.parameters()] == ids
    assert [p.requires_grad for p in model.parameters()] == [True, True, False, True]
    assert all(p.is_leaf for p in model.parameters())
    for old, new in zip(grads, (p.grad for p in model.parameters())):
        assert (old is None and new is None) or torch.equal(old, new)
    assert str(optimizer.state_dict()) == str(state)
    assert difference(before, model, inputs((5, 3))) < 1e-13
    assert not torch.equal(before[0].weight, model[0].weight)


def test_a_graph_recorded_before_is_known_to_be_stale():
    model = small()
    loss = (model(inputs((4, 3))) ** 2).sum()
    regauge(model, 3.0, inplace=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_copy_leaves_the_model_as_it_was():
    model = small()
    before = copy.deepcopy(model.state_dict())
    moved = regauge(model, 3.0)
    assert moved is not model
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())


def test_channels_last_memory_is_kept():
    model = filled(nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3)), 1)
    model = model.to(memory_format=torch.channels_last)
    moved = regauge(model, 2.0, inplace=True)
    assert moved[2].weight.is_contiguous(memory_format=torch.channels_last)
    assert np.abs(imbalance(moved)["0"].delta - 2).max() < 1e-12


@pytest.mark.parametrize(("first", "second"), [(50.0, -50.0), (-50.0, 50.0), (1e4, -1e4), (1e6, 3)])
def test_neighbouring_layers_may_ask_for_opposite_gauges(first, second):
    """+D before -D makes the shared weights long: the badly conditioned case."""
    model = filled(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.LeakyReLU(),
                                 nn.Linear(4, 2)), 3)
    moved = regauge(model, {"0": first, "2": second})
    assert difference(model, moved, inputs((9, 3))) < 1e-12
    for name, wanted in (("0", first), ("2", second)):
        missed = np.abs(imbalance(moved)[name].delta - wanted).max()
        assert missed < 1e-11 * total(moved, name).max()


# Models with a forward of their own.


class Custom(nn.Module):
    """Layers a, b and whatever ``body`` does with them."""

    def __init__(self, body, **layers):
        super().__init__()
        self.body = body
        self.a, self.b, self.c = nn.Linear(3, 4), nn.Linear(4, 3), nn.Linear(3, 2)
        self.conv, self.conv2, self.head = nn.Conv2d(2, 4, 3), nn.Conv2d(4, 2, 3), nn.Linear(16, 2)
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.body(self, x)


def custom(body, seed=0, **layers):
    return filled(Custom(body, **layers), seed)


ACCEPTED = {
    "functional": (lambda m, x: m.b(F.relu(m.a(x))), (5, 3), ["a"]),
    "torch.relu": (lambda m, x: m.b(torch.relu(m.a(x))), (5, 3), ["a"]),
    "method": (lambda m, x: m.b(m.a(x).relu().clone()), (5, 3), ["a"]),
    "leaky": (lambda m, x: m.b(F.leaky_relu(m.a(x), negative_slope=0.2)), (5, 3), ["a"]),
    "residual": (lambda m, x: m.c(x + m.b(F.relu(m.a(x)))), (5, 3), ["a"]),
    "two heads": (lambda m, x: m.b(h := F.relu(m.a(x))) + m.head(h), (5, 3), ["a"]),
    "positions": (lambda m, x: m.b(F.relu(m.a(x))), (5, 6, 3), ["a"]),
    "inplace": (lambda m, x: m.b(F.relu_(m.a(x))), (5, 3), ["a"]),
    "dead end": (lambda m, x: [m.b(h := F.relu(m.a(x))), F.relu(h)][0], (5, 3), ["a"]),
    "pools": (lambda m, x: m.head(torch.flatten(F.max_pool2d(F.relu(m.conv(x)), 2), 1)),
              (5, 2, 6, 6), ["conv"]),
    "view": (lambda m, x: m.head((h := F.avg_pool2d(F.relu(m.conv(x)), 2)).view(h.size(0), -1)),
             (5, 2, 6, 6), ["conv"]),
    "reshape": (lambda m, x: m.head(F.max_pool2d(m.conv(x).relu(), 2).reshape(x.shape[0], -1)),
                (5, 2, 6, 6), ["conv"]),
    "size()[0]": (lambda m, x: m.head(F.max_pool2d(m.conv(x).relu(), 2).view(x.size()[0], -1)),
                  (5, 2, 6, 6), ["conv"]),
    "flatten": (lambda m, x: m.head(F.adaptive_avg_pool2d(m.conv(x), 2).flatten(1)),
                (5, 2, 6, 6), ["conv"]),
    "two convolutions": (lambda m, x: m.conv2(F.dropout(F.relu(m.conv(x)), 0.0)),
                         (5, 2, 6, 6), ["conv"]),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_forward_in_code_is_followed(name):
    body, shape, hidden = ACCEPTED[name]
    model = custom(body, head=nn.Linear(4, 3)) if name == "two heads" else custom(body)
    assert list(imbalance(model, layer=hidden)) == hidden
    moved = regauge(model, 40.0, layer=hidden)
    assert np.abs(imbalance(moved, layer=hidden)[hidden[0]].delta - 40).max() < 1e-11
    assert difference(model, moved, inputs(shape)) < 1e-12


def test_dropout_commutes_mask_by_mask():
    model = small()
    model.insert(2, nn.Dropout(0.5))
    moved, x = regauge(model, 3.0), inputs((50, 3))
    outs = []
    for m in (model, moved):
        torch.manual_seed(0)
        outs.append(m(x).detach())
    assert float((outs[0] - outs[1]).abs().max()) < 1e-13


def sequential(*between, last=None):
    return nn.Sequential(nn.Linear(3, 4), *between, last or nn.Linear(4, 2))


def tied():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    model[2].weight = model[0].weight
    return model


def same_memory():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    model[2].weight = nn.Parameter(model[0].weight.detach().t())
    return model


def hooked(at=0):
    model = small()
    model[at].register_forward_hook(lambda module, args, out: out + 1)
    return model


def repeated():
    shared = nn.Linear(3, 3)
    return nn.Sequential(shared, nn.ReLU(), shared, nn.ReLU(), nn.Linear(3, 1))


class Own(nn.Linear):
    """A layer with a forward of its own, which calls no Linear."""

    def forward(self, x):
        return F.linear(x, self.weight) + 1


def branching(m, x):
    return m.b(F.relu(m.a(x))) if x.sum() > 0 else m.a(x)


class Optional(nn.Sequential):
    """Whose optional input is no tensor where it is left out."""

    def __init__(self):
        super().__init__(nn.Linear(3, 4), nn.Linear(4, 2))

    def forward(self, x, mask=None):
        return self[1](torch.tanh(self[0](x)) if mask is None else F.relu(self[0](x)))


def integers():
    model = small()
    weight = torch.ones(4, 3, dtype=torch.int64)
    model[0].weight = nn.Parameter(weight, requires_grad=False)
    return model


def patched(at):
    model = small()
    model[at].forward = torch.tanh
    return model


def makes_a_tensor(m, x):
    return m.b(F.relu(m.a(x)) * torch.ones(4))


REFUSED = {
    "tanh": (sequential(nn.Tanh()), "'0'.*Tanh"),
    "gelu": (sequential(nn.GELU()), "'0'.*GELU"),
    "relu6": (sequential(nn.ReLU6()), "'0'.*ReLU6"),
    "elu": (sequential(nn.ELU()), "'0'.*ELU"),
    "softplus": (sequential(nn.Softplus()), "'0'.*Softplus"),
    "hardtanh": (sequential(nn.Hardtanh()), "'0'.*Hardtanh"),
    "softmax": (sequential(nn.Softmax(dim=1)), "'0'.*Softmax"),
    "alpha dropout": (sequential(nn.AlphaDropout()), "'0'.*AlphaDropout"),
    "batch norm": (sequential(nn.BatchNorm1d(4), nn.ReLU()), "'0'.*BatchNorm1d"),
    "layer norm": (sequential(nn.ReLU(), nn.LayerNorm(4)), "'0'.*LayerNorm"),
    "tied": (tied(), "'0'.*shares its weights"),
    "same memory": (same_memory(), "'0'.*shares its weights"),
    "called twice": (repeated(), "'0'.*called twice"),
    "hook": (hooked(), "'0'.*hooks"),
    "hook between": (hooked(1), "'0' has units that pass '1', which has hooks"),
    "hook after": (hooked(2), "'0' is followed by layer '2', which has hooks"),
    "weight norm": (sequential(nn.ReLU(), last=nn.utils.parametrizations.weight_norm(
        nn.Linear(4, 2))), "'0' is followed by layer '2', which is parametrized"),
    "spectral norm": (nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)),
                                    nn.ReLU(), nn.Linear(4, 2)), "'0'.*parametrized"),
    "no hidden layer": (nn.Sequential(nn.Linear(3, 4), nn.Tanh()), "hidden"),
    "no layer": (nn.ReLU(), "hidden"),
    "own layer": (nn.Sequential(nn.Linear(3, 4), Own(4, 2), nn.Linear(2, 2)), "'0'.*'linear'"),
    "transposed": (nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.ConvTranspose2d(4, 2, 3),
                                 nn.Conv2d(2, 1, 3)), "'0'.*ConvTranspose2d"),
    "pool over units": (nn.Sequential(nn.Linear(3, 4), nn.MaxPool1d(2), nn.Linear(2, 2)),
                        "'0'.*MaxPool1d"),
    "pool of another dimension": (nn.Sequential(nn.Conv1d(2, 4, 3), nn.MaxPool2d(2),
                                                nn.Conv1d(2, 2, 3)), "'0'.*MaxPool2d"),
    "linear over space": (nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Linear(4, 2)),
                          "'0'.*columns of layer '2'"),
    "flatten to other columns": (nn.Sequential(nn.Conv1d(2, 4, 3), nn.Flatten(), nn.Linear(18, 2)),
                                 "'0' does not match the columns of layer '2'"),
    "flatten from 0": (nn.Sequential(nn.Conv1d(2, 4, 3), nn.Flatten(0), nn.Linear(16, 2)),
                       "'0'.*Flatten"),
    "flatten part": (nn.Sequential(nn.Conv2d(2, 4, 3), nn.Flatten(2), nn.Linear(16, 2)),
                     "'0'.*Flatten"),
    "flatten of features": (sequential(nn.Flatten()), "'0'.*Flatten"),
    "indices": (nn.Sequential(nn.Conv1d(2, 4, 3), nn.MaxPool1d(2, return_indices=True),
                              nn.Linear(4, 2)), "'0'"),
    "skip": (custom(lambda m, x: m.c(m.b(h := F.relu(m.a(x)))) + h.sum()), "'a'.*'sum'"),
    "skip by slice": (custom(lambda m, x: m.c((h := F.relu(m.a(x)))[:, :3] + m.b(h))),
                      "'a'.*getitem"),
    "sum of units": (custom(lambda m, x: m.b(F.relu(m.a(x)) + 1)), "'a'.*'add'"),
    "multiplied": (custom(lambda m, x: m.b((h := m.a(x)) * h)), "'a'.*'mul'"),
    "concatenated": (custom(lambda m, x: m.head(torch.cat([F.relu(m.a(x))] * 4, 1))), "'a'.*'cat'"),
    "output too": (custom(lambda m, x: (m.b(h := F.relu(m.a(x))), h)), "'a'.*outputs"),
    "weights read": (custom(lambda m, x: m.b(F.relu(m.a(x))) + m.a.weight.sum()), "'a'.*shares"),
    "successor's weights read": (custom(lambda m, x: m.b(F.relu(m.a(x))) + m.b.weight.sum()),
                                 "'a' is followed by layer 'b', which shares"),
    "branch on values": (custom(branching), "traceable"),
    "tensor in forward": (custom(makes_a_tensor), "traceable.*tensor"),
    "view of other sizes": (custom(lambda m, x: m.head(m.conv(x).view(-1, 16))), "'conv'.*'view'"),
    "view by another size": (custom(lambda m, x: m.head(m.conv(x).view(x.size(1), -1))),
                             "'conv'.*'view'"),
    "view by the size of another value": (
        custom(lambda m, x: m.head(m.conv(x).view(x.transpose(0, 1).size(0), -1))),
        "'conv'.*'view'"),
    "view by another shape": (custom(lambda m, x: m.head(m.conv(x).view(x.shape[1], -1))),
                              "'conv'.*'view'"),
    "view with the rest in the middle": (
        custom(lambda m, x: m.head(m.conv(x).view(x.size(0), -1, 4))), "'conv'.*'view'"),
    "another kind of Linear": (
        nn.Sequential(nn.modules.linear.NonDynamicallyQuantizableLinear(3, 4), nn.ReLU(),
                      nn.Linear(4, 2)), "'0'.*not exactly"),
    "units as a slope": (custom(lambda m, x: m.b(F.leaky_relu(x, m.a(x)))), "'a'.*'leaky_relu'"),
    "view to three sizes": (custom(lambda m, x: m.head(m.conv(x).view(x.size(0), 4, -1))),
                            "'conv'.*'view'"),
    "flatten of all": (custom(lambda m, x: m.head(torch.flatten(m.conv(x)))), "'conv'.*'flatten'"),
    "meta": (sequential(nn.ReLU()).to("meta"), "'0' has no weights.*meta"),
    "integers": (integers(), "'0' must hold real floating-point numbers, got torch.int64"),
    "optional input": (Optional(), "'0' has units that pass 'tanh'"),
    "forward of an instance": (patched(1), "module '1' must have the forward of its class"),
    "forward of a layer": (patched(0), "module '0' must have the forward of its class"),
    "compiled": (torch.compile(small(), backend="eager"), "original of a compiled one"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_rescaling_would_change_is_refused(name):
    model, reason = REFUSED[name]
    before = {k: v.clone() for k, v in model.state_dict().items()}
    attributes = set(vars(model))
    for attempt in (imbalance, balance, lambda m: regauge(m, 1.0, inplace=True)):
        with pytest.raises(ValueError, match=reason):
            attempt(model)
    assert set(vars(model)) == attributes
    if name != "meta":
        assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())


def test_layers_without_weights_yet_are_refused():
    lazy = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.Linear(4, 2))
    with pytest.raises(ValueError, match="layer '0' has no weights yet: call the model once"):
        balance(lazy)


def test_global_hooks_are_refused():
    hook = nn.modules.module.register_module_forward_hook(lambda module, args, out: out + 1)
    try:
        with pytest.raises(ValueError, match="no global forward hooks"):
            balance(small())
    finally:
        hook.remove()


def test_what_forward_stores_stays_as_it_was():
    """forward runs while it is read; the model keeps its own attributes, lists and counters."""

    def storing(m, x):
        m.last, m.count = F.relu(m.a(x)), getattr(m, "count", 0) + 1
        m.seen.append(m.last)
        return m.b(m.last)

    model = custom(storing)
    model.seen = []
    x = torch.randn(5, 3, dtype=torch.float64)
    model(x)
    last = model.last
    assert imbalance(model, layer="a")["a"].delta.shape == (4,)
    assert model.last is last and model.count == 1 and len(model.seen) == 1


def by_chance(m, x):
    h = m.a(x)
    return m.b(torch.tanh(h) if isinstance(h, torch.Tensor) else F.relu(h))


def test_outputs_on_given_inputs_are_compared_before_anything_changes():
    model, x = custom(by_chance), torch.randn(5, 3, dtype=torch.float64)
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(ValueError, match="output 0 must not change by more than .*e-14, got 0"):
        regauge(model, 3.0, layer="a", inplace=True, inputs=x)
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())
    plain = small()
    for inputs in (x, (x,)):
        assert balance(plain, inputs=inputs) is not plain
    with pytest.raises(ValueError, match="delta must name at least one layer, got {}"):
        regauge(plain, {})


def test_activations_that_leave_their_dtype_are_found_on_given_inputs():
    model, x = small().half(), (20 * torch.ones(5, 3)).half()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1)
    assert imbalance(regauge(model, -1e7))["0"].delta[0] < -9e6
    with pytest.raises(ValueError, match="output 0 must not change by more than .*, got (nan|inf)"):
        regauge(model, -1e7, inputs=x)


def test_a_model_whose_outputs_cannot_be_compared_is_refused():
    model = custom(lambda m, x: (m.b(F.relu(m.a(x))) > 0))
    with pytest.raises(ValueError, match="must return floating-point tensors"):
        balance(model, layer="a", inputs=torch.randn(5, 3, dtype=torch.float64))


def test_a_model_with_chance_is_compared_with_the_same_chance():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2))
    after = regauge(model, 2.0, inputs=torch.randn(50, 3))
    assert after.training and not torch.equal(after[0].weight, model[0].weight)


def dead(into):
    model = small()
    with torch.no_grad():
        if into:
            model[0].weight[1], model[0].bias[1] = 0, 0
        else:
            model[2].weight[:, 1] = 0
    return model


def broken(value):
    model = small()
    with torch.no_grad():
        model[2].weight[0, 0] = value
    return model


def tiny(size, dtype=torch.float32):
    model = small()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(size)
    return model.to(dtype)


THREE = {"0": 1.0, "2": np.ones(4)}
ARGUMENTS = {
    "zero incoming": (dead(True), 1.0, {}, r"'0'.*units \[1\]"),
    "zero outgoing": (dead(False), 1.0, {}, r"'0'.*units \[1\]"),
    "incoming without a square": (tiny(1e-160, torch.float64), 1.0, {}, "shorter ones than 1e-150"),
    "nan weight": (broken(np.nan), 1.0, {}, "'0'.*finite"),
    "infinite weight": (broken(np.inf), 1.0, {}, "'0'.*finite"),
    "weight without a square": (broken(1e200), 1.0, {}, "'0'.*finite"),
    "nan delta": (small(), np.nan, {}, "delta.*finite"),
    "infinite delta": (small(), np.inf, {}, "delta.*finite"),
    "text": (small(), "1", {}, "delta.*real"),
    "shape": (small(), np.ones(3), {}, r"delta.*\(4,\)"),
    "matrix": (small(), np.ones((4, 1)), {}, r"delta.*\(4,\)"),
    "last layer": (small(), 1.0, {"layer": "2"}, "'2' is the last layer"),
    "last by name": (small(), THREE, {}, "'2' is the last layer"),
    "unknown layer": (small(), 1.0, {"layer": "1"}, "among.*'0'"),
    "a number": (small(), 1.0, {"layer": 0}, "among.*got 0"),
    "no layer": (small(), 1.0, {"layer": []}, "among"),
    "empty mapping": (small(), {}, {}, "at least one layer"),
    "named twice": (small(), {"0": 1.0}, {"layer": "0"}, "layer must be None"),
    "too large for float16": (small(dtype=torch.float16), 1e12, {}, "float16"),
    "too large for float32": (small(dtype=torch.float32), 1e78, {}, "float32"),
    "too unequal for float32": (tiny(1e-3), 1e70, {}, "float32"),
    "too large for float64": (small(), 1.7e308, {}, "delta|mu"),
    "no module": (3, 1.0, {}, "torch.nn.Module"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_bad_arguments_are_refused_and_nothing_changes(name):
    model, delta, options, reason = ARGUMENTS[name]
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match=reason):
        regauge(model, delta, inplace=True, **options)
    if isinstance(model, nn.Module):
        for old, new in zip(before.parameters(), model.parameters()):
            assert torch.equal(torch.nan_to_num(old), torch.nan_to_num(new))


def test_an_array_needs_one_layer():
    model = filled(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2), nn.ReLU(),
                                 nn.Linear(2, 1)), 0)
    with pytest.raises(ValueError, match="name its layers"):
        regauge(model, np.ones(2))
    assert np.abs(imbalance(regauge(model, np.ones(2), layer="2"))["2"].delta - 1).max() < 1e-12


def test_all_faults_are_named_and_the_other_layers_remain():
    model = filled(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 3), nn.ReLU(),
                                 nn.Linear(3, 3), nn.GELU(), nn.Linear(3, 1)), 0)
    with pytest.raises(ValueError, match="'0'.*Tanh.*; layer '4'.*GELU"):
        balance(model)
    moved = balance(model, layer="2")
    assert imbalance(moved, layer="2")["2"].balanced.all()
    assert difference(model, moved, inputs((4, 2))) < 1e-13


def test_a_module_under_two_names_is_one():
    model = small()
    model.first = model[0]
    with_alias = custom(lambda m, x: m.b(F.relu(m.a(x))))
    with_alias.again = with_alias.a
    assert np.abs(imbalance(regauge(with_alias, 2.0))["a"].delta - 2).max() < 1e-12


def test_the_mode_of_the_model_is_kept():
    for mode in (True, False):
        assert regauge(small().train(mode), 1.0).training is mode


def test_buffers_and_plain_tensors_of_the_input_are_allowed():
    body = lambda m, x: m.b(F.relu(m.a((x - 2 * m.mean) / m.scale)))  # noqa: E731
    model = custom(body, scale=torch.tensor(2.0))
    model.register_buffer("mean", torch.ones(3, dtype=torch.float64))
    moved = regauge(model, 2.0)
    assert difference(model, moved, inputs((4, 3))) < 1e-13


def test_the_twin_of_chapter_11_speaks_of_its_parameters():
    from gaugelib.problem import duplicates
    from gaugelib.training import network

    with pytest.raises(ValueError, match="hidden"):
        imbalance(network(duplicates(4, 8.0, 0.7)))

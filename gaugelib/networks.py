"""The gauge of a torch network: measure it, choose it, balance it (A.2).

A hidden unit z = u.h + b whose value reaches the next layers through functions with
sigma(z/rho) = sigma(z)/rho can be rescaled by any rho > 0,

    (u, b, v) -> (u/rho, b/rho, rho v),        v its outgoing weights,

and the network stays the same function (Proposition A.3).  What changes is its imbalance,

    delta = |v|^2 - |u|^2 - b^2,

which Euclidean gradient flow conserves.  A unit is an output of a Linear layer or a channel of a
Conv1d or Conv2d layer.  :func:`imbalance` measures delta, :func:`regauge` sets it,
:func:`balance` sets it to 0.

Which layers follow each other is read from the model's ``forward`` by torch.fx, in the mode
(train or eval) that the model is in and with optional inputs at their defaults, so that a skip
connection is seen and not assumed away.  A ValueError names every layer whose units cannot be
rescaled, and says why; nothing has then been changed.  Inputs are batches.  What ``forward``
decides by chance, by the type of a tensor or by a number that it computes from weights, torch.fx
cannot see: :func:`regauge` compares the outputs on inputs that it is given.

Computed in float64 and rounded once to the weights' own dtype; lengths of weights must lie in
[1e-150, 1e150].  Optimizers are not touched: momentum or moments that one has stored, and
gradients in ``.grad``, belong to the old gauge.
"""

import copy
import inspect
import operator
import warnings
from collections import deque
from dataclasses import dataclass

import numpy as np
import torch
from torch import fx, nn
from torch.nn import functional as F
from torch.nn.modules import module as torch_module
from torch.nn.utils import parametrize
from torch.utils._pytree import tree_flatten

from gaugelib import gauge
from gaugelib.checks import finite

SPACE = {nn.Linear: 0, nn.Conv1d: 1, nn.Conv2d: 2}  # layers, and dimensions of space behind a unit
# What commutes with a rescaling of every unit: sigma(z/rho) = sigma(z)/rho.
EVERYWHERE = (
    nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d,
    F.relu, torch.relu, F.relu_, torch.relu_, F.leaky_relu, F.leaky_relu_, F.dropout,
    "relu", "relu_", "contiguous", "clone",
)  # fmt: skip
POOLS = {
    1: (nn.MaxPool1d, nn.AvgPool1d, nn.AdaptiveMaxPool1d, nn.AdaptiveAvgPool1d,
        F.max_pool1d, F.avg_pool1d, F.adaptive_max_pool1d, F.adaptive_avg_pool1d),
    2: (nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveMaxPool2d, nn.AdaptiveAvgPool2d,
        F.max_pool2d, F.avg_pool2d, F.adaptive_max_pool2d, F.adaptive_avg_pool2d),
}  # fmt: skip
HOLDERS = (dict, list, set, deque)  # what forward may store values in
FLAT = "flat"  # a convolution's units as blocks of neighbouring columns
AGREE = 1e-12  # of |v|^2 + |u|^2 + b^2, by which a requested delta may be missed
MAX_STEPS = 200
ROUNDINGS = 100  # of the largest output, by which outputs on given inputs may change


@dataclass(frozen=True, eq=False)
class LayerImbalance:
    """The gauge of one hidden layer of n units.

    Attributes
    ----------
    layer : its name in the model
    delta : (n,) |v|^2 - |u|^2 - b^2
    product : (n,) |v| sqrt(|u|^2 + b^2): no rescaling of this layer changes it
    balanced : (n,) whether delta is 0 up to the rounding of the weights
    """

    layer: str
    delta: np.ndarray
    product: np.ndarray
    balanced: np.ndarray


def imbalance(model, *, layer=None):
    """The gauge of hidden layers, {name: LayerImbalance}, in the order of the forward pass.

    ``layer`` : a name or several ("0", ["features.0", "head"]); None: every hidden layer
    """
    network = _Network(model, layer)
    into, out = network.squares()
    found = {}
    for name, rows in network.rows.items():
        delta = np.sqrt(out[rows]) - np.sqrt(into[rows])
        delta *= np.sqrt(out[rows]) + np.sqrt(into[rows])
        rounding = max(100 * AGREE, 8 * network.eps(name))
        balanced = np.abs(delta) <= rounding * (out[rows] + into[rows])
        product = np.sqrt(out[rows]) * np.sqrt(into[rows])
        found[name] = LayerImbalance(name, delta, product, balanced)
    return found


def regauge(model, delta, *, layer=None, inplace=False, inputs=None):
    """The same function with the imbalance ``delta``: a copy of the model, or the model itself.

    One layer has a closed form: with p = |v| sqrt(|u|^2 + b^2) and mu = sqrt(delta^2 + 4 p^2), the
    larger of |v| and |(u, b)| becomes sqrt((mu + |delta|)/2).  Layers that follow each other share
    weights, so that their rho are found together: log rho is where the convex function
    (1/2) sum of all squared weights - sum delta log rho is least.

    Parameters
    ----------
    delta : a number, or one for each unit of the one layer that is meant, or {name: either}
    layer : a name or several; None: every hidden layer, or those that ``delta`` names
    inplace : change the model's own Parameters, which stay the same objects, and return the model
    inputs : a tensor, or a tuple of what the model is called with; copies of the model, in its
        mode and with the same seed of torch, are compared on it before anything is changed

    Raises ValueError for what the module's text names, for a unit whose incoming or outgoing
    weights are all zero, for a delta with which the weights would leave their dtype's range, and
    if an output on ``inputs`` changes by more than 100 roundings of the largest.  Without
    ``inputs`` activations may leave a small dtype's range unnoticed.
    """
    if isinstance(delta, dict):
        if layer is not None:
            raise ValueError(f"layer must be None where delta names its layers, got {layer!r}")
        if not delta:
            raise ValueError("delta must name at least one layer, got {}")
        layer = list(delta)
    network = _Network(model, layer)
    new = network.rescaled(network.solve(network.targets(delta)))
    if inputs is not None:
        _compare(copy.deepcopy(model), _set(copy.deepcopy(model), new), inputs)
    return _set(model if inplace else copy.deepcopy(model), new)


def balance(model, *, layer=None, inplace=False, inputs=None):
    """The same function with delta = 0; arguments and result as for :func:`regauge`."""
    return regauge(model, 0.0, layer=layer, inplace=inplace, inputs=inputs)


def _set(model, new):
    with torch.no_grad():
        for name, value in new.items():
            model.get_parameter(name).copy_(value)
    return model


def _compare(one, other, inputs):
    """Raises ValueError if the outputs of two models differ by more than rounding."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    pairs = list(zip(_outputs(one, inputs), _outputs(other, inputs), strict=True))
    if not pairs:
        raise ValueError("model must return floating-point tensors on inputs, got none to compare")
    for k, (before, after) in enumerate(pairs):
        allowed = ROUNDINGS * torch.finfo(before.dtype).eps * before.abs().max().item()
        change = (after - before).abs().max().item()
        if not change <= allowed:
            raise ValueError(f"output {k} must not change by more than {allowed:g}, got {change:g}")


def _outputs(model, inputs):
    """All floating-point tensors that the model returns, also in lists, tuples and dicts."""
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        returned, _ = tree_flatten(model(*copy.deepcopy(inputs)))
    tensors = [t for t in returned if isinstance(t, torch.Tensor) and t.numel()]
    return [t for t in tensors if t.is_floating_point()]


class _Network:
    """The chosen hidden layers of a model and all weights that a rescaling of them touches.

    Attributes
    ----------
    rows : {name: slice}, where the units of a chosen layer stand among all n units
    into, out : (n,) squares of incoming (with bias) and outgoing weights that no other chosen
        layer scales too
    between : (n, n) squares of the weights from unit j (column) to unit i (row), both chosen
    """

    def __init__(self, model, layer):
        self.calls, self.sources, faults = _hidden_layers(model)
        chosen = _chosen(layer, list(self.calls), faults)
        self.layers = {name: model.get_submodule(name) for name in self.calls}
        ends = np.cumsum([0] + [self.layers[name].weight.shape[0] for name in chosen])
        self.rows = {name: slice(*ends[k : k + 2]) for k, name in enumerate(chosen)}
        n = int(ends[-1])
        self.into, self.out, self.between = np.zeros(n), np.zeros(n), np.zeros((n, n))
        for name in self._touched():
            self._add(name)
        for name, rows in self.rows.items():
            sums = np.concatenate([sums[rows] for sums in self.squares()])
            if not np.all(np.isfinite(sums)):
                raise ValueError(f"layer {name!r}: weights must be finite, with finite squares")

    def _touched(self):
        return [c for c in self.calls if c in self.rows or self.sources[c] in self.rows]

    def _add(self, name):
        """Add the squared weights of one layer where they belong."""
        weight, bias = _arrays(self.layers[name])
        own, source = self.rows.get(name), self.rows.get(self.sources[name])
        with np.errstate(over="ignore", invalid="ignore"):
            squares = (weight**2).reshape(*weight.shape[:2], -1).sum(axis=2)
            if own is not None and bias is not None:
                self.into[own] += bias**2
            if source is None:
                self.into[own] += squares.sum(axis=1)
                return
            units = source.stop - source.start
            by_unit, unit = np.zeros((len(weight), units)), _unit_of(self.layers[name], units)
            block = np.count_nonzero(unit[0] == unit[0, 0])  # columns a unit
            sums = squares.reshape(len(weight), -1, block).sum(axis=2)
            by_unit[np.arange(len(weight))[:, None], unit[:, ::block]] = sums
            if own is None:
                self.out[source] += by_unit.sum(axis=0)
            else:
                self.between[own, source] = by_unit

    def squares(self, theta=None):
        """|u|^2 + b^2 and |v|^2 of every unit, (n,) each, after a rescaling by exp(theta)."""
        up = np.ones_like(self.into) if theta is None else np.exp(2 * theta)
        return (self.into + self.between @ up) / up, (self.out + self.between.T @ (1 / up)) * up

    def eps(self, name):
        near = [c for c in self.calls if name in (c, self.sources[c])]
        return max(torch.finfo(self.layers[c].weight.dtype).eps for c in near)

    def targets(self, delta):
        """The requested imbalance of every unit, (n,)."""
        if not isinstance(delta, dict):
            if np.ndim(_plain(delta)) and len(self.rows) > 1:
                raise ValueError(f"delta must be a number or name its layers, {list(self.rows)}")
            delta = dict.fromkeys(self.rows, delta)
        wanted = np.empty_like(self.into)
        for name, rows in self.rows.items():
            values = finite(f"delta of layer {name!r}", _plain(delta[name]))
            n = rows.stop - rows.start
            if values.shape not in ((), (n,)):
                raise ValueError(
                    f"delta of layer {name!r} must be a number or ({n},), got {values.shape}"
                )
            wanted[rows] = values
        return wanted

    def solve(self, delta):
        """log rho (n,) with which every unit has the imbalance delta."""
        into, out = self.squares()
        for name, rows in self.rows.items():
            empty = np.flatnonzero((into[rows] < 1e-300) | (out[rows] < 1e-300))
            if empty.size:
                raise ValueError(
                    f"layer {name!r}: units {empty.tolist()} have no incoming or no outgoing "
                    "weights (or shorter ones than 1e-150), so that no rescaling sets delta"
                )
        if not self.between.any():
            return _closed_form(into, out, delta)
        return self._minimum(delta)

    def _minimum(self, delta):
        """Where (1/2) sum of squares - delta.theta is least, by Newton's method in theta.

        The damping log(1 + c)/c is the one for which a sum of exponentials, whose exponents move
        by at most c in a full step, is known to fall at every step.
        """
        theta = np.zeros_like(delta)
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(MAX_STEPS):
                into, out = self.squares(theta)
                slope = out - into - delta
                if np.all(np.abs(slope) <= AGREE * (out + into)):
                    return theta
                between = self.between * np.exp(2 * (theta - theta[:, None]))
                curvature = 2 * (np.diag(out + into) - between - between.T)
                try:
                    step = np.linalg.solve(curvature, slope)
                except np.linalg.LinAlgError:
                    break
                c = 4 * np.abs(step).max()
                theta = theta - step * np.log1p(c) / c
        raise ValueError(f"delta of layers {list(self.rows)} cannot be reached in float64")

    def rescaled(self, theta):
        """{name of Parameter: new value} of all weights that a rescaling by exp(theta) touches."""
        new = {}
        with np.errstate(over="ignore", invalid="ignore"):
            for name in self._touched():
                new |= self._rescaled(name, theta)
        return new

    def _rescaled(self, name, theta):
        """Weight and bias of one layer, if rounding to their dtype is small beside each unit's."""
        layer = self.layers[name]
        weight, bias = _arrays(layer)
        into, out = np.sqrt(self.squares(theta))
        factor, length = np.ones((1, 1)), np.full((1, 1), np.inf)
        if self.sources[name] in self.rows:
            source = self.rows[self.sources[name]]
            unit = _unit_of(layer, source.stop - source.start)
            factor, length = np.exp(theta[source])[unit], out[source][unit]
        if name in self.rows:
            own = self.rows[name]
            factor = factor * np.exp(-theta[own])[:, None]
            length = np.minimum(length, into[own][:, None])
        space = [1] * (weight.ndim - 2)
        factor, length = (x.reshape(*x.shape, *space) for x in (factor, length))
        new = {"weight": (weight * factor, length)}
        if bias is not None and name in self.rows:
            new["bias"] = bias * np.exp(-theta[own]), into[own]
        rounded = {}
        for key, (exact, length) in new.items():
            dtype = getattr(layer, key).dtype
            value = rounded[f"{name}.{key}"] = torch.from_numpy(exact).to(dtype)
            if not np.all(np.abs(_plain(value) - exact) <= torch.finfo(dtype).eps * length):
                raise ValueError(f"delta must keep the weights of layer {name!r} in {dtype}")
        return rounded


def _closed_form(into, out, delta):
    """log rho with rho^2 out - into/rho^2 = delta, (n,) each, without cancellation."""
    u, v = np.sqrt(into), np.sqrt(out)
    big = np.sqrt(gauge.mu(u * v, delta) / 2 + np.abs(delta) / 2)
    return np.where(delta >= 0, np.log(big / v), np.log(u / big))


def _chosen(layer, called, faults):
    """The names of the wanted layers, in the order of the forward pass; raises for any fault."""
    hidden = [name for name in called if faults[name] != LAST]
    if not hidden:
        raise ValueError("model must have a hidden Linear, Conv1d or Conv2d layer, got none")
    several = np.iterable(layer) and not isinstance(layer, str)
    names = hidden if layer is None else list(layer) if several else [layer]
    if not names or any(name not in called for name in names):
        raise ValueError(f"layer must be among {hidden}, got {layer!r}")
    wanted = [name for name in called if name in names]
    refused = [f"layer {name!r} {faults[name]}" for name in wanted if faults[name]]
    if refused:
        raise ValueError("; ".join(refused))
    return wanted


def _plain(value):
    """Tensors on any device as arrays."""
    return value.detach().cpu().double().numpy() if isinstance(value, torch.Tensor) else value


def _arrays(layer):
    """Weight and bias (or None) in float64."""
    bias = None if layer.bias is None else _plain(layer.bias)
    return _plain(layer.weight), bias


def _unit_of(layer, units):
    """The unit of the layer before that feeds each column of the weight: (rows or 1, columns).

    After Flatten a channel is a block of neighbouring columns; with groups the columns of a row
    are those of its own group.
    """
    rows, columns = layer.weight.shape[:2]
    groups = getattr(layer, "groups", 1)
    group = np.arange(rows if groups > 1 else 1) // (rows // groups)
    return (group[:, None] * columns + np.arange(columns)) // (groups * columns // units)


# What follows reads the graph of a model.

LAST = "is the last layer: it has no successor"


class _Tracer(fx.Tracer):
    """Refuses tensors made in forward: fx would store them in the model."""

    proxy_buffer_attributes = True

    def create_arg(self, a):
        known = [*self.root.parameters(), *self.root.buffers(), *self.tensor_attrs]
        if isinstance(a, torch.Tensor) and not any(a is tensor for tensor in known):
            raise TypeError("its forward makes a tensor; register it as a buffer")
        return super().create_arg(a)


def _hidden_layers(model):
    """({name: node}, {name: name of the layer before or None}, {name: fault or ""})."""
    if not isinstance(model, nn.Module):
        raise ValueError(f"model must be a torch.nn.Module, got a {type(model).__name__}")
    for name, module in model.named_modules():
        _require_plain(name, module)
    if torch_module._global_forward_hooks or torch_module._global_forward_pre_hooks:
        raise ValueError("no global forward hooks must be registered: they may change values")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch.fx about the default values
            graph = _Tracer().trace(_twin(model, {}), _defaults(model))
    except Exception as error:  # forward may do, and raise, anything
        raise ValueError(f"model must be traceable by torch.fx: {error}") from error
    modules = dict(model.named_modules(remove_duplicate=False))
    calls, faults = {}, {}
    for node in graph.nodes:
        if node.op == "call_module" and isinstance(modules[node.target], tuple(SPACE)):
            if node.target in calls:
                faults[node.target] = "is called twice: its weights are shared"
            calls.setdefault(node.target, node)
    stores = _Stores(model, graph)
    own = {name: faults.get(name) or _unfit(modules[name], stores) for name in calls}
    sources = dict.fromkeys(calls)
    for name, node in calls.items():
        faults[name], following = own[name], []
        if not _feeds_a_layer(node, calls):
            faults[name] = LAST
        elif not own[name]:
            faults[name], following = _followers(node, calls, modules)
        for follower in following:
            sources[follower] = name
            if own[follower]:
                faults[name] = f"is followed by layer {follower!r}, which {own[follower]}"
    return calls, sources, faults


def _require_plain(name, module):
    """Raises where torch.fx would read another forward than the one that runs, or no weights."""
    if "_orig_mod" in module._modules:
        raise ValueError("model must be the original of a compiled one, its _orig_mod")
    if "forward" in vars(module):
        raise ValueError(f"module {name!r} must have the forward of its class, not one of its own")
    own = module.parameters(recurse=False)
    if any(isinstance(parameter, nn.parameter.UninitializedParameter) for parameter in own):
        raise ValueError(f"layer {name!r} has no weights yet: call the model once")


def _twin(module, twins):
    """The same tensors in other modules: what forward stores while it is traced stays there."""
    if id(module) not in twins:
        twin = twins[id(module)] = object.__new__(type(module))
        held = {k: copy.copy(v) if isinstance(v, HOLDERS) else v for k, v in vars(module).items()}
        twin.__dict__ = held
        for name, child in module._modules.items():
            held["_modules"][name] = None if child is None else _twin(child, twins)
    return twins[id(module)]


def _defaults(model):
    """{name: default value} of the optional inputs."""
    parameters = inspect.signature(type(model).forward).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


class _Stores:
    """How often the memory of a tensor appears in a model: more than once, and it is shared."""

    def __init__(self, model, graph):
        held = [t for m in model.modules() for t in [*m._parameters.values(), *m._buffers.values()]]
        read = [operator.attrgetter(n.target)(model) for n in graph.nodes if n.op == "get_attr"]
        tensors = [tensor for tensor in held + read if tensor is not None]
        self.places = [tensor.untyped_storage().data_ptr() for tensor in tensors]

    def shared(self, tensor):
        return self.places.count(tensor.untyped_storage().data_ptr()) > 1


def _unfit(layer, stores):
    """Why the weights of a layer must not be multiplied; "" if they may."""
    if parametrize.is_parametrized(layer):
        return "is parametrized: its weights are computed from others"
    if type(layer) not in SPACE:
        return f"is a {type(layer).__name__}, not exactly a Linear, Conv1d or Conv2d"
    if _hooked(layer) or "weight" not in layer._parameters:
        return "has hooks (weight norm?), which may change its weights or its values"
    tensors = [tensor for tensor in (layer.weight, layer.bias) if tensor is not None]
    if any(tensor.is_meta for tensor in tensors):
        return "has no weights: they are on the device 'meta'"
    if any(not tensor.is_floating_point() for tensor in tensors):
        return f"must hold real floating-point numbers, got {tensors[0].dtype}"
    if any(map(stores.shared, tensors)):
        return "shares its weights with another place of the model"
    return ""


def _hooked(module):
    return bool(module._forward_hooks or module._forward_pre_hooks)


def _followers(node, calls, modules):
    """(fault or "", names of the layers that are fed by the units of the layer at ``node``)."""
    units = modules[node.target].weight.shape[0]
    pending, seen, following = [(node, SPACE[type(modules[node.target])])], set(), []
    while pending:
        value, layout = pending.pop()
        for user in value.users:
            if (user, layout) in seen or _asks_shape(user):
                continue
            seen.add((user, layout))
            if user.op == "call_module" and user.target in calls:
                if not _fits(modules[user.target], units, layout):
                    return f"does not match the columns of layer {user.target!r}", []
                following.append(user.target)
                continue
            after = _layout_after(user, value, layout, modules)
            if after is None:
                return _obstacle(user, modules), []
            pending.append((user, after))
    return "", following


def _feeds_a_layer(node, calls):
    """Whether any layer comes after ``node``, by whatever way."""
    pending, seen = [node], set()
    while pending:
        for user in pending.pop().users:
            if user.op == "call_module" and user.target in calls:
                return True
            if user not in seen:
                seen.add(user)
                pending.append(user)
    return False


def _obstacle(user, modules):
    if user.op == "output":
        return "has units that are outputs of the model too"
    if user.op == "call_module" and _hooked(modules[user.target]):
        return f"has units that pass {user.target!r}, which has hooks"
    called = _called(user, modules)
    name = called if isinstance(called, str) else called.__name__
    return f"has units that pass {name!r}, which is not known to commute with their rescaling"


def _called(user, modules):
    """What a node calls: a module's class, a function, or the name of a method."""
    return type(modules[user.target]) if user.op == "call_module" else user.target


def _asks_shape(user):
    """x.size(0), x.shape: the values do not matter."""
    is_method = user.op == "call_method" and user.target in ("size", "dim")
    return is_method or (user.target is getattr and user.args[1] == "shape")


def _fits(layer, units, layout):
    """Whether the columns of ``layer`` are these units, or (after Flatten) blocks of them."""
    linear = isinstance(layer, nn.Linear)
    if layout == FLAT:
        return linear and layer.in_features % units == 0
    space = next(dims for kind, dims in SPACE.items() if isinstance(layer, kind))
    return space == layout and (layer.in_features if linear else layer.in_channels) == units


def _layout_after(user, value, layout, modules):
    """How the units lie after a node that commutes with their rescaling; None if it does not."""
    called = _called(user, modules)
    module = modules[user.target] if user.op == "call_module" else None
    if user.op == "output" or (module is not None and _hooked(module)):
        return None
    if layout != 0 and _flattens(user, value, module):
        return FLAT
    if user.all_input_nodes != [value]:
        return None
    fits = EVERYWHERE + POOLS.get(layout, ())
    return layout if any(called is f or called == f for f in fits) else None


def _flattens(user, value, module):
    """Whether a node makes rows (N, all the rest): flatten(1), or view(x.size(0), -1)."""
    if isinstance(module, nn.Flatten):
        return (module.start_dim, module.end_dim) == (1, -1)
    if user.target in (torch.flatten, "flatten") and user.all_input_nodes == [value]:
        dims = dict(zip(("start_dim", "end_dim"), user.args[1:])) | user.kwargs
        return (dims.get("start_dim", 0), dims.get("end_dim", -1)) == (1, -1)
    if user.target in ("view", "reshape") and len(user.args) == 3 and user.args[2] == -1:
        return _is_batch_size(user.args[1], value)
    return False


def _is_batch_size(node, value):
    """x.size(0), x.size()[0] or x.shape[0] of ``value`` or of an input of the model."""
    if not isinstance(node, fx.Node):
        return False
    if node.target is operator.getitem and node.args[1] == 0:
        asked, index = node.args[0], ()
    else:
        asked, index = node, (0,)
    if not _asks_shape(asked) or (asked.op == "call_method" and asked.args[1:] != index):
        return False
    return asked.args[0] is value or asked.args[0].op == "placeholder"

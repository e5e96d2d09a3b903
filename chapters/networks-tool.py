# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# (chapter-networks-tool)=
# # The gauge of your own network
#
# `gaugelib.networks` reads, sets and balances the gauge of a torch network. It multiplies and
# divides weights by positive numbers in such a way that the network stays the same function; what
# changes is how it will learn ({numref}`chapter-networks`). Take a unit with incoming weights $u$,
# bias $b$ and outgoing weights $v$: its imbalance is
# $\delta=\lVert v\rVert^2-\lVert u\rVert^2-b^2$.

# %%
import torch

from gaugelib.networks import balance, imbalance, regauge

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
uneven = regauge(model, [8, -8, -8])  # the same function; the first unit will turn, the others not
imbalance(uneven)["0"].delta.round(3)

# %%
x = torch.randn(1000, 4)
change = (uneven(x) - model(x)).abs().max().item()
print("largest change of the outputs below 1e-5:", change < 1e-5)
print("balanced again:", imbalance(balance(uneven))["0"].balanced)

# %% [markdown]
# ## The three functions
#
# | call | result |
# |---|---|
# | `imbalance(model, layer=None)` | for each hidden layer, by name: `.delta`, `.product` ($\lVert v\rVert\sqrt{\lVert u\rVert^2+b^2}$, which no rescaling of that layer changes) and `.balanced`, one entry a unit |
# | `regauge(model, delta, layer=None, inplace=False, inputs=None)` | a copy of the model with these imbalances, or the model itself |
# | `balance(model, layer=None, inplace=False, inputs=None)` | the same with $\delta=0$ |
#
# - `delta` is a number for all units, or one number for each unit of one layer, or a mapping from
#   layers to either: `{"features.0": 4.0, "head": [1, -1]}`.
# - `layer` is a name as in `model.named_modules()`, or several; without it all hidden layers are
#   meant. The last layer has no outgoing weights and no gauge.
# - A unit is an output of `Linear` or a channel of `Conv1d` or `Conv2d`, with any kernel and any
#   groups. What may stand between two layers is `ReLU`, `LeakyReLU`, `PReLU`, `Identity`, dropout,
#   max and average pooling of channels, and `Flatten` from channels to features.
# - Neighbouring layers share weights, and asking for imbalances of both is asking for numbers that
#   have to be found together: `regauge` minimises a convex function for it, with a dense matrix of
#   all chosen units. With a single layer it is a closed formula, and the imbalances of the layers
#   before and after it change, because one rescaling multiplies weights of theirs too.
# - `inputs` is a batch, or a tuple of what the model is called with. Copies of the model, before and
#   after, are then compared on it, and nothing is changed if an output moves by more than 100
#   roundings of the largest one. Worth its two forward passes for a model that you did not write.
#
# ## What it leaves alone
#
# With `inplace=True` the parameters remain the same objects, in their dtype and on their device, and
# `requires_grad` stays as it was. Optimizers are not touched: momentum or the moments of Adam that an
# optimizer has stored belong to the old gauge, and so do gradients in `.grad`. Make a new optimizer,
# or choose the gauge before training.
#
# ## What it refuses
#
# The layers are followed through the model's `forward` by `torch.fx`, in the mode, training or
# evaluation, that the model is in, with optional inputs at their defaults. So it also reads models that are no `Sequential`, and it *sees*
# a skip connection instead of assuming that there is none. Wherever a rescaling would change
# the function there is a `ValueError` that names the layer and the reason, and nothing has been
# changed: other activations, normalisation between two layers, weights that are shared or computed
# from others, hooks, a `forward` that was put on an instance, units that are also used elsewhere, units without incoming or outgoing
# weights, numbers that are not finite or would leave the range of the dtype, and models that `torch.fx`
# cannot trace. A skip connection *around* a unit is no obstacle. Inputs are taken to be batches.
# What `torch.fx` cannot see, the tool cannot see either. A Python number that `forward` computes
# from the weights, such as `float(sum(p.norm() for p in self.parameters()))`, is a constant to it;
# a layer that Python skips by chance is in the model or not, and `isinstance(h, torch.Tensor)` is
# false. Activations may also leave the range of a small dtype where the weights do not. For all of
# these there is `inputs`.


# %%
class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.up, self.down = (torch.nn.Linear(4, 4) for _ in range(3))
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        h = torch.relu(self.stem(x))
        return self.head(torch.relu(h + self.down(torch.relu(self.up(h)))))


model = Residual()
try:
    balance(model)
except ValueError as error:
    print(str(error).replace("; ", "\n"))
print("alone:", imbalance(balance(model, layer="up"), layer="up")["up"].balanced)

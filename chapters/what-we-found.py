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
# (chapter-found)=
# # What we found
#
# Besides what {cite:t}`wang2026gauge` and {cite:t}`xu2026decay` state, the chapters hold results of
# this book. Here are those that we would tell a colleague first: each in three sentences, with its
# figure, with what
# it rests on, and with where it could be wrong. *Proved* means a proof in the chapter; everything
# else is measured, and says how widely. The figures and the numbers come from the stored chapters;
# nothing is computed again, and the page takes two seconds.
#
# The letters are those of {numref}`chapter-gauge` and {numref}`chapter-identical-neurons`: $m$
# students at
# the angle $\phi$ from the teacher, one *designated*, of imbalance $+D$, the others *redundant*, of
# imbalance $-D$; $q$ and $P$ are the coefficient of the first and the sum of the others',
# $\delta_j$
# is the imbalance of student $j$, and $\tau=Dt$ the fast time. In the last part, with weight decay
# $\lambda$, those of {numref}`chapter-rapid-fitting` are used.

# %% tags=["hide-input"]
import base64
import io
from pathlib import Path
from textwrap import fill

import nbformat
import PIL.Image
from IPython.display import Image

from gaugelib import claims

CHAPTERS = sorted(Path().glob("[0-9]*.ipynb"))
stored = {row.id: row for _, row in claims.collect(CHAPTERS)}


def small(png):
    """The picture in at most 64 colours, so that this page does not store everything twice."""
    written = io.BytesIO()
    PIL.Image.open(io.BytesIO(png)).convert("RGB").quantize(64).save(written, "png")
    return Image(written.getvalue(), format="png")

# %% tags=["hide-input"]
def figure(number, name):
    """The picture that a chapter stores under this name."""
    source, = (path for path in CHAPTERS if path.stem.startswith(number))
    for cell in nbformat.read(source, as_version=4).cells:
        if cell.metadata.get("mystnb", {}).get("figure", {}).get("name") == name:
            shown = [x.data for x in cell.outputs if "data" in x and "image/png" in x.data]
            return small(base64.b64decode(shown[0]["image/png"]))
    raise ValueError(f"name must be that of a figure of chapter {number}, got {name!r}")


def evidence(ids):
    """What the ledger holds: each statement, and what was measured."""
    for claim in ids.split():
        text = f"{claim} ({stored[claim].verdict}): {claims.lookup(claim).statement}"
        print(fill(text, 98, subsequent_indent="    "))
        print(fill(stored[claim].measured, 98, initial_indent="    measured: ",
                   subsequent_indent="    "))


# %% [markdown]
# ## Duplicates and near duplicates
#
# ### The kernel inequalities hold for every angle
#
# The paper's theorem 3.3 needs two inequalities between kernels, for angles up to $\pi/3$. Both are
# one integral of $t(\cos t-\cos\phi)$, which is positive for every $0<\phi<\pi$. So the invariant
# region, and with it the limiting flow's selection, reaches beyond the paper's range of angles.
#
# *Rests on:* a proof of the inequalities and of the limiting flow's selection
# ({numref}`chapter-early-advantage`), with interval arithmetic as a second route. *Could be wrong:*
# nothing is proved there for finite $D$; that a large $D$ behaves like the limit at these angles is
# measured.

# %% mystnb={"figure": {"caption": "The two margins: right side minus left side of {eq}`eq-kernel-inequalities`, over $x$ for four angles. The largest one lies beyond the range of the lemma. From {numref}`chapter-early-advantage`.", "name": "fig-found-margins"}, "image": {"alt": "Two panels. Left: arches over x from 0 to phi that vanish with a horizontal tangent at both ends; they grow with phi. Right: curves that leave zero with a horizontal tangent and rise; none of them comes back to zero."}}
evidence("B05-integral B05-beyond B04-angle")
figure("05", "fig-kernel-margins")

# %% [markdown]
# ### The imbalance that is needed falls with the width
#
# There is a sharp threshold $D_0$, not a gradual change: below it all students share, above it the
# designated one is selected. The paper's sufficient condition grows faster than $m^{3/4}$;
# the threshold falls, in the end like $\log m/m$, and it stays below a constant over $\phi$. Wide
# layers of duplicates need almost no gauge, because each redundant student turns with its own
# small coefficient.
#
# *Rests on:* 210 pairs of width and angle by bisection, scans of $D$ at 12 of them, a proof that
# only two kinds of rest exist while $P\ge0$, and two laws without a fitted constant
# ({numref}`chapter-how-large`). *Could be wrong:* the laws are derivations to leading order; above
# $m=256$ only one program was run;
# exact duplicates only.

# %% mystnb={"figure": {"caption": "Left: the threshold over the width for five angles (markers), with {eq}`eq-large-wide` (lines, from $m=64$ on) and the slopes of the paper's sufficient $m^{\\nu/2}$, $\\nu>3/2$, and of $1/m$. Right: $\\phi D_0$ over the angle; dashed: $c_m$ of {eq}`eq-large-small`. From {numref}`chapter-how-large`.", "name": "fig-found-large"}, "image": {"alt": "Left, log-log over the width: markers for five angles fall along lines, nearly as fast as a dashed line of slope minus one; the dashed line of the paper's condition rises. Right: phi times the threshold over the angle falls from a level at small angles to zero at pi, for three widths."}}
evidence("B15-sharp B15-falls B15-wide B15-rule B15-beyond")
figure("15", "fig-large-law")

# %% [markdown]
# ### Selection, proved for numbers
#
# Theorem 3.3 selects if $D$ is large enough, without saying how large. At $\phi=\pi/4$ a computer
# proves it for every $D\ge32$ and every $m$ from 2 to 16, and for $m=2$ also at every angle from
# $\pi/4$ to $2\pi/3$, beyond the paper's $\pi/3$. The proof encloses the flow of the duplicates in
# patches, step by step, until a neighbourhood with explicit constants cannot be left.
#
# *Rests on:* interval arithmetic with outward rounding, a stored certificate that the chapter
# checks again, and runs of all students that stay in the proved tube
# ({numref}`chapter-computer-assisted-proof`). *Could be wrong:* it trusts python-flint and a few
# hundred lines of ours; each pair of $m$ and a range of $D$ is a proof of its own, so nothing is
# said about all $m$; exact duplicates, or starts very near.

# %% mystnb={"figure": {"caption": "What is proved. (a) $m=2$, all $D\\ge32$: for every interval of $\\phi$ the time $\\tau_0$ at which the tube is in the neighbourhood. (b) Final redundant angle of runs with $m=2$, $\\phi=\\pi/4$ to $\\tau=10^4$ (line); squares: selection proved, cross: not proved. From {numref}`chapter-computer-assisted-proof`.", "name": "fig-found-proved"}, "image": {"alt": "Left: short level pieces for intervals of the angle, which follow a falling curve without gaps. Right: the final redundant angle over the imbalance, a curve that rises from zero to its start; squares where selection is proved, and one cross at the smallest imbalance tried."}}
evidence("B16-selection B16-strong B16-angles B16-weak B16-tube")
figure("16", "fig-proof-range")

# %% [markdown]
# ### The sum vanishes, the summands need not
#
# Among near duplicates the redundant students as a *sum* vanish, by decades, as the paper says. A
# single one need not: its coefficient can stay for times beyond any training, and for some pairs
# for ever. Which of the two happens is decided by a conserved quantity of the pair, the gauge of
# the difference of two students.
#
# *Rests on:* runs to $\tau=10^8$ with ten seeds, predicted by the eigenvalues of the Gram matrix;
# pairs on both sides of the criterion ({numref}`chapter-perturbed`). *Could be wrong:* "for ever"
# is a formula for small angles, compared with runs that end.

# %% mystnb={"figure": {"caption": "Largest single redundant coefficient, and norm of the redundant sum. Left: near duplicates, $\\epsilon=0.05$, seed 0; dotted: predicted from the eigenvalues of the Gram matrix at $\\tau_0=100$. Middle: the seven coefficients of that run. Right: eight students with separated directions, same coefficients and imbalances. From {numref}`chapter-perturbed`.", "name": "fig-found-sum"}, "image": {"alt": "Left, log-log over eight decades of tau: the norm of the redundant sum falls by several decades, in steps; the largest coefficient falls by less than one. Middle: seven coefficients on plateaus with three changes between them. Right: for separated students both curves fall together, early and steeply."}}
evidence("B08-slow B08-pair B08-frozen")
figure("08", "fig-sum-and-summands")

# %% [markdown]
# ### A step that is too large loosens the gauge until it fits
#
# The largest stable step of gradient descent is $2/\lambda_{\max}$ of a $3\times3$ matrix, below
# $4/(m-1)$ in fast time and near it in wide networks. Just above it training does not diverge: the
# redundant coefficient bursts,
# every burst shrinks $\lvert\delta_j\rvert$, and with it the curvature, until the step is stable.
# The designated student is selected all the same.
#
# *Rests on:* the limit to four digits at five widths; the bursts at $m=8$, $D=16$
# ({numref}`chapter-gradient-descent`). *Could be wrong:* one width and one $D$ above the limit; far
# above it the gauge is lost, and the selection with it, and farther still training diverges.

# %% mystnb={"figure": {"caption": "Above the stability limit, $m=8$, $D=16$. Left: $P$ at every step, for $h=0.6$ (above the limit) and $0.48$ (below). Right: $\\lVert v\\rVert^2$, which is $\\lVert w_j\\rVert^2/D$ of a redundant student, up to $\\tau=1500$: above the limit the gauge loosens until the step is stable again. From {numref}`chapter-gradient-descent`.", "name": "fig-found-catapult"}, "image": {"alt": "Left: P over fast time; below the limit it falls smoothly, above it it alternates with an amplitude that first grows and then shrinks. Right: the squared length of v over fast time; constant below the limit, and for larger steps falling from one level to a lower one."}}
evidence("B09-limit B09-catapult")
figure("09", "fig-gd-catapult")

# %% [markdown]
# ## Samples, noise, optimisers
#
# ### The constant of the sampling error
#
# The error of training on $N$ samples is a constant over $\sqrt N$. The constant needs no training
# on samples: it is the norm of the linear response of the population path to one sample's
# gradient. It hardly depends on the width, and the constants that the paper prints are draws of
# it, if its error is a root mean square.
#
# *Rests on:* 500 seeds at each of four widths ({numref}`chapter-finite-samples`). *Could be
# wrong:* one angle, one $D$, the plane; at small $N$ a correction of higher order is visible.

# %% mystnb={"figure": {"caption": "Left: the distribution of $\\sqrt N\\operatorname{Err}_N$ over 500 seeds at $m=8$ (steps), for three $N$, and that of the linear response (grey area). Right: standard deviation of $\\sqrt N$ times the deviation in $q$, $P$ and in the part of $q\\,s_{\\rm sel}$ across the teacher, from the linear response (lines) and from 20 runs with $N=8192$ (dots). From {numref}`chapter-finite-samples`.", "name": "fig-found-response"}, "image": {"alt": "Left: a skewed density with its top at small errors and a long tail; histograms for three sample sizes follow it. Right: over fast time three curves of deviations that rise to one top each and fall towards zero, with dots that follow them."}}
evidence("B10-constant B10-norm")
figure("10", "fig-sample-response")

# %% [markdown]
# ### Noise makes training forget the gauge
#
# Noisy labels leave redundant coefficients of size $\sigma/\sqrt N$ with a constant from the Gram
# matrix, in any dimension. With mini-batches the same noise moves the imbalance itself, at a
# predicted speed, which becomes zero only at $\lvert w\rvert^2=d\,a^2$. The gauge is a memory with
# a finite life.
#
# *Rests on:* a derivation to first order in the step, and runs with two seeds in five dimensions
# ({numref}`chapter-pytorch`). *Could be wrong:* two students, $D=4$ and one sample a step; the
# imbalance was followed for a part of its way only, and a larger $D$ forgets more slowly, by
# $D^{-2}$
# in the formula.

# %% mystnb={"figure": {"caption": "Noisy labels and batches of one sample forget the gauge: imbalances of the designated (upper curves) and the redundant student (lower), two seeds (solid, dashed) and the prediction {eq}`eq-torch-forget` (grey). Dotted: without noise in the labels. The thin line is where the designated imbalance would stop. From {numref}`chapter-pytorch`.", "name": "fig-found-forget"}, "image": {"alt": "Imbalance over fast time from 0 to 300. Two upper curves fall from 4 towards zero along a grey one; two lower curves rise slowly from minus 4 along another. Without noise both dotted lines stay near plus and minus 4."}}
evidence("B11-noise B11-forget")
figure("11", "fig-torch-forget")

# %% [markdown]
# ### The optimiser decides how much a gauge is worth
#
# Under gradient descent opposite gauges differ by $D^2$ in how far a first step turns a student.
# Under Adam it is $D$, and under path-normalised descent, which cannot see the gauge, nothing.
# Adam and momentum still select the designated student; an update that cannot see the gauge cannot.
#
# *Rests on:* exact first steps, times for $D=8$ to $128$, and 20 runs from five starts with Adam
# ({numref}`chapter-networks`, {numref}`chapter-pytorch`). *Could be wrong:* Adam depends on the
# coordinates; five rotations were tried, in the plane, with the usual parameters.

# %% mystnb={"figure": {"caption": "How much farther the first step of an optimiser turns a student of imbalance $+D$ than one of $-D$, with the same coefficient $q=1/8$ and direction. Lines: the exact ratio of the mobilities $\\chi$, its square root, and $1$. From {numref}`chapter-networks`.", "name": "fig-found-first-step"}, "image": {"alt": "Log-log plot over D of how much farther a first step turns one gauge than the other: lines of slope two for gradient descent, one for Adam, and level for path-normalised descent."}}
evidence("B14-first-step B11-adam B11-adam-selects")
figure("14", "fig-networks-first-step")

# %% [markdown]
# ## Two teachers
#
# ### Failures are late, shared or cancelled, never stuck
#
# Where two designated students start on the same side, some runs fail the paper's criterion at
# $\tau=4000$. Followed on their own clock $\tau/D^2$ all of them fit the target exactly: some were
# only late, in some both designated students share one feature while others hold the second, and
# in some a pair of students cancels. No run was seen to stay at a positive loss.
#
# *Rests on:* all failures among 60 runs of same side, and failures of the other pairs
# ({numref}`chapter-two-teachers`, {numref}`chapter-assignments`). *Could be wrong:* the law of the
# starts is ours; eight students are many for two features.

# %% mystnb={"figure": {"caption": "Left: the loss of all failures that end *shared* or *cancelled*, on the clock $\\tau/D^2$ (thick to thin: $D=16,32,64$); grey: $\\tau=4000$ at each $D$. Right: the angle $\\varepsilon$ between the two designated students of two *shared* runs at $D=16$, times $\\tau/2\\pi$, approaches 1. From {numref}`chapter-two-teachers`.", "name": "fig-found-late"}, "image": {"alt": "Left: bundles of falling curves over tau over D squared; after 1 they coincide for the three D, staying level for a decade and then falling steeply. Right: two curves rise, fall steeply and stay at 1."}}
evidence("B12-kinds B13-ends B12-clock")
figure("12", "fig-two-late")

# %% [markdown]
# ### How strong must a pair be? As strong as its parting is late
#
# A start has one threshold: the designated pair owns both features above a $D_c$ and not below.
# What sets it is the time that the pair needs to part in the limit of large $D$, $D_c\propto T$ for
# pairs that part late. Below a $D$ of order one another thing happens: a redundant student turns
# into a teacher before its coefficient is gone.
#
# *Rests on:* 560 starts at eight $D$, all but two bisected; a prediction of 30 new starts; for
# fusion a lemma for one teacher
# ({numref}`chapter-assignments`). *Could be wrong:* the argument for $D_c\propto T$ is a reason and
# not a proof, and the fitted power is below 1, farther for the latest pairs; the lemma alone is too
# low by a factor.

# %% mystnb={"figure": {"caption": "The threshold of each start over its parting time in the limit of large $D$, by what becomes of students 1 and 4, who start at $0.3$ from the teachers: both designated (A), only 4 redundant, 1 redundant. Grey: $D_c=T/c$ with the median $c$ of $T>150$, and $D_c\\propto\\sqrt T$ through its middle point. From {numref}`chapter-assignments`.", "name": "fig-found-threshold"}, "image": {"alt": "Dots on logarithmic axes. For short parting times they form three level bands. From there on all rise along a line proportional to T, with growing scatter."}}
evidence("B13-threshold B13-parting B13-exponent B13-new B13-fusion")
figure("13", "fig-assign-threshold")

# %% [markdown]
# ## Real data
#
# ### On digits the gauge chooses who learns, and nobody vanishes
#
# In a network for digits in which every hidden unit is copied, the copies with $+D$ turn and those
# with $-D$ do not, under four optimisers, and a single $+D$ among four copies ends with the largest
# coefficient. Opposite gauges reach the same accuracy. But no copy vanishes, as the duplicates of
# theorem 3.3 do: each keeps a part.
#
# *Rests on:* ten seeds, one architecture ({numref}`chapter-networks`). *Could be wrong:* one small
# data set and depth; the theorem's teacher is one unit, and here nothing says that one copy is
# enough.

# %% mystnb={"figure": {"caption": "Digits, plain SGD: ten seeds (small markers) and their mean, eight units of four copies each. (a) Cosine between the incoming weights before and after training. (b) Coefficient, beside the mean of the balanced networks. (c) Accuracy on unseen digits with all copies, and when one copy of each unit is removed. In gauge + the first copy has $+D$ and the three others $-D$; opposite is the reverse. From {numref}`chapter-networks`.", "name": "fig-found-digits"}, "image": {"alt": "Markers of ten seeds and their means for different gauges of the copies: how many of them turned, how large they became and what their removal costs."}}
evidence("B14-turn B14-owner B14-vanish B14-odd B14-accuracy")
figure("14", "fig-networks-digits")

# %% [markdown]
# ## With weight decay
#
# ### Training with decay ends at a formula, and it is not the target
#
# On the four points the limit of training is known in closed form for every decay, with five
# regimes,
# and a computer proves that nothing else is the minimum. The condensed directions are *not* those
# of
# the target: they miss them by an angle proportional to the decay, with a known constant. What a
# network still lacks late is the response to the negative group, which dies at a predicted rate.
#
# *Rests on:* a proof by hand, in outline for four of the regimes, certificates by interval
# arithmetic
# at eight decays, and trained networks ({numref}`chapter-exact-limit`). *Could be wrong:* a narrow
# network, or one that has no live neuron left in a cell, ends elsewhere; the closed form is that of
# four symmetric points.

# %% mystnb={"figure": {"caption": "The exact limit over the decay. Left: directions of its atoms (lines: closed form; dots: cutting planes), with the target's (dashed) and $\\lambda_1$ to $\\lambda_4$ (grey). Middle: amplitudes; dashed, the target's. Right: offset from the target's direction and its first order. From {numref}`chapter-exact-limit`.", "name": "fig-found-limit"}, "image": {"alt": "Left: two directions start at the dashed levels of the target, approach each other's side through 180 and 0 degrees, freeze, and end at the third grey line; between the second and the fourth a third direction at 90 degrees. Middle: the amplitude of the pair falls to zero while that of the third atom rises and falls. Right: dots on a straight line of slope one that bend slightly upwards at the end."}}
evidence("B18-law B18-proof B18-offset B18-lands B18-rates B18-narrow")
figure("18", "fig-exact-path")

# %% [markdown]
# ### Condensation conserves cross ratios
#
# Balanced neurons of one sign in one cell of the circle are moved by one common Möbius map,
# whatever the residual does, so three of them tell where all others are, and the distance of two
# has
# an exact law. The paper's bounds hold on the run with much room. But their hypotheses begin to
# hold only late: the chain from the drift of an extremum to the contraction closes after the end of
# the run, and in the middle stage hardly any hypothesis holds at all.
#
# *Rests on:* derivations for balanced neurons, checked on restarted flows, and both sides of every
# inequality on the main run ({numref}`chapter-condensation`, {numref}`chapter-compression`). *Could
# be wrong:* four points and one decay; the laws of pairs and of fours need balance, and the main
# run
# is balanced late only.

# %% mystnb={"figure": {"caption": "Both sides, flow from epoch 50,000, seed 0. Left: drift of the left minimum, its bound (20), and $2R_0\\sin d$ for the widest band that fits (grey). Middle: diameters (lines) and the bound (23) from its $T$ on (dots). Right: main run, diameter over the bound (23) from the first record at which the band fits and the drift is slow. From {numref}`chapter-condensation`.", "name": "fig-found-fours"}, "image": {"alt": "Left: two parallel falling lines on a logarithmic scale, almost four decades apart; the upper one crosses a grey level late. Middle: three falling straight lines, with dots on top of two of them and slightly above the third. Right: three curves; two stay near or below one, the third rises above one and then falls."}}
evidence("B20-pairs B20-fours B20-band B20-chain B19-hypotheses B19-sharp")
figure("20", "fig-condensation-contraction")

# %% [markdown]
# ### On a boundary descent never comes to rest
#
# Where the target has peaks, most condensed directions sit on boundaries of activation cells. There
# gradient descent jumps for ever, by a rotation whose range, density and cost have closed forms.
# Two
# consequences are general: the objective stays above its minimum by a floor proportional to the
# step, and decay does *not* take every imbalance away, because the jumps feed one.
#
# *Rests on:* a derivation to first order in the step, and runs at four steps without a free
# parameter
# ({numref}`chapter-starts-targets`). *Could be wrong:* one target and one decay; where many groups
# jump together the residual is not at rest, and at the largest step the second order shows.

# %% mystnb={"figure": {"caption": "Sliding in B. Left: one neuron of the third group in 60 updates at two steps $\\eta$; dashed: the predicted range. Middle: offsets over $2\\eta\\lambda$ of all neurons of that group in 600 updates, with the uniform density predicted. Right: imbalance of the four groups (markers) and excess of $\\Phi$ (crosses) over $\\eta$; lines: theory. From {numref}`chapter-starts-targets`.", "name": "fig-found-slide"}, "image": {"alt": "Left: two zigzags around zero between dashed lines, the larger step with twice the range. Middle: three flat histograms with the same sharp ends on top of a box. Right: markers and crosses on straight lines of slope one."}}
evidence("B21-slide B21-imbalance B21-floor B21-exchange B21-beside B21-equal")
figure("21", "fig-starts-slide")

# %% [markdown]
# ### An attention head has a gauge of matrices, and AdamW does not keep it
#
# Queries and keys enter only as a product, so a head has a gauge for every invertible matrix. Its
# imbalance is a matrix that obeys the neuron's law under gradient descent with decay, and a map of
# cosines of rows, which shows condensation in the paper, depends on it. Under AdamW the law fails,
# and the rows condense all the same.
#
# *Rests on:* a proof for descent, and eight seeds of a reduced network with and without decay
# ({numref}`chapter-transformer`). *Could be wrong:* the printed size was not run; the two layers of
# the reduced one behave differently, and the gain on unseen pairs depends on the seed.

# %% mystnb={"figure": {"caption": "The effective number of directions of the 32 rows, eight seeds, $W_Q$ and $W_K$ in one colour; solid without decay, dashed with $\\lambda=0.8$. Vertical lines at epochs 5 and 30. From {numref}`chapter-transformer`.", "name": "fig-found-head"}, "image": {"alt": "Two panels. The solid lines fall little from their common start. The dashed lines drop steeply in the first half; in layer 1 they end at a few directions, in layer 2 close to one."}}
evidence("B22-gauge B22-map B22-adamw B22-layers B22-spread")
figure("22", "fig-transformer-directions")

# %% [markdown]
# ### The gauge is forgotten, its choice is remembered
#
# With decay every imbalance fades, and then the redundant students turn to the teacher too. But
# they
# come late: the designated student keeps most of the feature, the others end with a share
# proportional
# to the decay and to the inverse fifth power of the angle. After that nothing moves, because every
# split of the feature costs the same: the end is chosen by the history.
#
# *Rests on:* an asymptotic flow without parameters, solved twice, and the full flow at many widths,
# imbalances, angles and decays ({numref}`chapter-forgotten`). *Could be wrong:* the small-angle
# constant is derived and not proved; identical duplicates and the population loss. Near duplicates
# keep the winner in all runs, with a larger share for the others, and have no theory yet.

# %% mystnb={"figure": {"caption": "Left: $p_\\infty$ over the angle at which the others rest (dots), its law for small angles and the plateau. Middle: upper end of the window at $D=32$ and its law. Right: share of the others over time and $\\lambda$ for $m=8$, $D=32$, $\\phi=\\pi/4$; contours at 0.001, 0.01, 0.1 (thick) and 0.3. From {numref}`chapter-forgotten`.", "name": "fig-found-forgotten"}, "image": {"alt": "Left, log-log: dots bend onto a straight dashed line of slope minus five as the angle falls; a dotted curve of slope minus three runs below. Middle: three rows of markers rise with slope five and slightly more. Right: a contour map over time and decay; four nested contours; each rises steeply at an early time, has a peak, falls and ends in a horizontal line."}}
evidence("B23-survives B23-universal B23-fifth B23-window B23-continuum B23-spread")
figure("23", "fig-forgotten-window")

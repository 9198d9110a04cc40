r"""ASTROMER: hide nights of a light curve, and learn to predict their magnitudes from the others.

A masked language model whose tokens are observations: a date and a magnitude instead of a place and
a word. :func:`hide_nights` chooses what to hide, :class:`Astromer` predicts it, and
:func:`reconstruction_error` is the error. The expected error is a second
readout, :meth:`Astromer.spread`, trained by :func:`negative_log_likelihood`. The embedding of a
star, :meth:`Astromer.embed`, serves other tasks: :class:`StarClassifier` predicts a
star's class. Sources: Donoso-Oliva et al. (2023); of the second readout Nix and Weigend (1994).

Curves are :class:`course_lib.light_curves.LightCurves`; their time runs in days, or in turns of a
period (:meth:`~course_lib.light_curves.LightCurves.in_turns`). ``hidden`` is True at nights that
are to be filled in. Bad input raises ``TypeError`` or ``ValueError`` with what was given, what was
expected and what to do.
"""

import math
from typing import Annotated, Literal

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Real
from torch import Tensor, nn

from course_lib.light_curves.sampling import (
    LightCurves,
    check_dates,
    frequency_ladder,
    time_sinusoids,
)
from course_lib.support.checks import check_finite, check_floating, check_shapes, check_size
from course_lib.support.contracts import Above, Between, Count, Size, UnitInterval, checked
from course_lib.transformer import Encoder

CLOCKS = ("days", "turns")
"""The unit of time of a trained model: days, or turns of the period that was found."""
Clock = Literal[*CLOCKS]
SHORTEST, LONGEST, PAIRS = 0.2, 200.0, 32  # days; of the sinusoids that run in days
HARMONICS = 8  # of the sinusoids that run in turns

BRIGHTNESS = 0.2  # magnitudes: about the scatter of a star, so that inputs are about 1
PRECISION = 0.02  # magnitudes: about the error of a night
SHARE = 0.3


class Astromer(nn.Module):
    r"""Observations in, and for each night the magnitude that belongs there.

    A night is the token $W_t\, p(t) + v\,W_m\,(m - \bar m,\ \ln \sigma) + (1 - v)\,h$: sinusoids
    $p$ of its date with the given ``frequency``, and its magnitude and error if it is visible
    ($v = 1$), or the learned $h$ if it is hidden ($v = 0$). $\bar m$ is the mean of the visible
    nights of its star. Then an :class:`~course_lib.transformer.Encoder` in which all nights look at
    visible nights alone, and two linear readouts of its output $x$ at a night: the magnitude
    $\bar m + s\,(w^\top x + b)$ and, with the same $s = 0.2$ mag, its standard deviation,
    $s\,\exp(u^\top x + c)$ (:meth:`spread`). Dates count from a star's first visible night.
    Results have the dtype of the curves, which may be float64 where the parameters are float32.

    Hidden magnitudes cannot leak: a prediction depends only on the visible nights and its own date,
    so that there is one for any date (:meth:`at`). Here we differ from the code
    that Donoso-Oliva et al. (2023) publish: astromer-science, ``main-code`` at commit 3c1fda8 and
    ``python-library`` at 91cbf67, from which the weights that they report need not come. There

    - hidden magnitudes stay in the tokens, and 1 is added to all scores of a hidden night, as of
      padding, and to all that others give it. So a hidden night reads its own magnitude, and others
      look at it more, not less. Blocks have no residual connection, unless ``use_leak`` is set.
      Later code (``main-code`` at 75d2b12) puts a learned number in place of a hidden magnitude,
      and its ``pretrain.py`` lowers the scores of hidden nights by 1e9 by default, as here;
    - magnitudes are standardised by the mean of all nights, before some are hidden;
    - dates have the rates $10000^{-2i/d}$ for every feature $i$, sines at even $i$ and cosines at
      odd ones: a sine and a cosine share no frequency, so a product of two dates does not depend on
      the time between them alone. The fastest wave takes 6.3 days;
    - the loss takes the mean square of each star first;
    - a model has 256 features and 200 nights, no errors as input, and predicts no deviation.
    """

    @checked
    def __init__(
        self,
        frequency: Float[Tensor, "pairs"],
        *,
        d_model: Size = 64,
        heads: Size = 4,
        layers: Size = 2,
        d_hidden: Size = 128,
        dropout: UnitInterval = 0.0,
    ) -> None:
        super().__init__()
        check_size("the number of frequencies", len(frequency))
        self.d_model, self.heads, self.layers = d_model, heads, layers
        self.register_buffer("frequency", frequency.double(), persistent=False)
        self.date = nn.Linear(2 * len(frequency), d_model)
        self.light = nn.Linear(2, d_model)
        self.blank = nn.Parameter(torch.zeros(d_model))
        self.encoder = Encoder(d_model, heads, layers, d_hidden=d_hidden, dropout=dropout)
        self.readout = nn.Linear(d_model, 1)
        # It begins at 0, and takes no random number from the layers drawn later.
        self.doubt = nn.utils.skip_init(nn.Linear, d_model, 1)
        for parameter in self.doubt.parameters():
            nn.init.zeros_(parameter)

    @checked
    def forward(
        self, curves: LightCurves, *, hidden: Bool[Tensor, "stars nights"] | None = None
    ) -> Real[Tensor, "stars nights"]:
        """The magnitude of every night, hidden or not; at padding it is meaningless."""
        visible = visible_nights(curves, hidden)
        since, value, mean = self._inputs(curves, visible)
        nights = self._encoded(since, value, visible)
        return mean + BRIGHTNESS * self.readout(nights)[..., 0].to(mean.dtype)

    @checked
    def spread(
        self, curves: LightCurves, *, hidden: Bool[Tensor, "stars nights"] | None = None
    ) -> Real[Tensor, "stars nights"]:
        r"""The standard deviation of every night's predicted magnitude, in magnitudes.

        That is $s\,\exp(u^\top x + c)$, with the encoder's output $x$ and $s = 0.2$ mag. It is
        of the light itself: the error of the measurement is not in it.
        """
        return self.spread_of(self.encode(curves, hidden=hidden)).to(curves.magnitude.dtype)

    @checked
    def spread_of(
        self, tokens: Float[Tensor, "*batch nights d_model"]
    ) -> Float[Tensor, "*batch nights"]:
        """:meth:`spread` of nights that are encoded already."""
        return BRIGHTNESS * self.doubt(tokens)[..., 0].exp()

    @checked
    def encode(
        self, curves: LightCurves, *, hidden: Bool[Tensor, "stars nights"] | None = None
    ) -> Float[Tensor, "stars nights d_model"]:
        """A vector for every night that depends on the visible ones.

        Raises ``ValueError`` for a star whose every night is hidden.
        """
        visible = visible_nights(curves, hidden)
        since, value, _ = self._inputs(curves, visible)
        return self._encoded(since, value, visible)

    @checked
    def embed(
        self, curves: LightCurves, *, hidden: Bool[Tensor, "stars nights"] | None = None
    ) -> Float[Tensor, "stars d_model"]:
        """One vector for each star: the mean of :meth:`encode` over its visible nights."""
        tokens = self.encode(curves, hidden=hidden)
        visible = visible_nights(curves, hidden).to(tokens.dtype)[..., None]
        return (tokens * visible).sum(dim=1) / visible.sum(dim=1)

    @checked
    def at(
        self,
        curves: LightCurves,
        time: Real[Tensor, "stars queries"],
        *,
        hidden: Bool[Tensor, "stars nights"] | None = None,
    ) -> Real[Tensor, "stars queries"]:
        """The magnitude at any dates, observed or not, in any order.

        Raises ``ValueError`` for a date that is nan or infinite.
        """
        return self.belief_at(curves, time, hidden=hidden)[0]

    @checked
    def belief_at(
        self,
        curves: LightCurves,
        time: Real[Tensor, "stars queries"],
        *,
        hidden: Bool[Tensor, "stars nights"] | None = None,
    ) -> tuple[Real[Tensor, "stars queries"], Real[Tensor, "stars queries"]]:
        """The same, and beside each magnitude its :meth:`spread`."""
        check_floating(curves=curves.time, time=time)
        check_shapes(time=(time, "stars queries"), curves=(curves.time, "stars nights"))
        check_finite(time=time)
        visible = visible_nights(curves, hidden)
        since, value, mean = self._inputs(curves, visible)
        added = self._since_first(time, curves, visible)
        blank = torch.zeros_like(added)
        visible = torch.cat([visible, blank.bool()], dim=1)
        value = torch.cat([value, torch.stack([blank, blank], dim=-1)], dim=1)
        nights = self._encoded(torch.cat([since, added], dim=1), value, visible)
        nights = nights[:, since.shape[1] :]
        magnitude = mean + BRIGHTNESS * self.readout(nights)[..., 0].to(mean.dtype)
        return magnitude, self.spread_of(nights).to(mean.dtype)

    @checked
    def attention_weights(
        self, curves: LightCurves, *, hidden: Bool[Tensor, "stars nights"] | None = None
    ) -> Float[Tensor, "layers stars heads nights nights"]:
        """How much each night looks at each other in every block; 0 at hidden ones and padding."""
        visible = visible_nights(curves, hidden)
        since, value, _ = self._inputs(curves, visible)
        tokens = self._tokens(since, value, visible)
        return self.encoder.attention_weights(tokens, mask=_keys(visible))

    def _inputs(self, curves: LightCurves, visible: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Days since the first visible night, magnitude and error as inputs, the star's mean."""
        since = self._since_first(curves.time.where(curves.valid, 0.0), curves, visible)
        known = curves.magnitude.where(visible, 0.0)
        mean = known.sum(dim=1, keepdim=True) / visible.sum(dim=1, keepdim=True)
        value = torch.stack(
            [
                (curves.magnitude - mean) / BRIGHTNESS,
                (curves.error.where(visible, PRECISION) / PRECISION).log(),
            ],
            dim=-1,
        )
        return since, value.where(visible[..., None], 0.0), mean

    def _since_first(self, time: Tensor, curves: LightCurves, visible: Tensor) -> Tensor:
        """Days since the first visible night, taken off before anything is rounded to float32."""
        check_dates(time, self.frequency.max())
        return time - curves.time.masked_fill(~visible, torch.inf).amin(dim=1, keepdim=True)

    def _tokens(self, since: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        dtype = self.blank.dtype  # of the parameters; curves may have another
        date = self.date(time_sinusoids(since, self.frequency).to(dtype))
        return date + torch.where(visible[..., None], self.light(value.to(dtype)), self.blank)

    def _encoded(self, since: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        return self.encoder(self._tokens(since, value, visible), mask=_keys(visible))


class StarClassifier(nn.Module):
    r"""The logits of a star's class: $W_2\,\mathrm{GELU}(W_1 (e, x) + b_1) + b_2$.

    $e$ is the embedding of an :class:`Astromer`, which is trained too, and $x$ are
    ``extras`` other numbers of a star, such as the logarithm of its period. Source:
    Donoso-Oliva et al. (2023), whose head has three hidden layers.
    """

    @checked
    def __init__(
        self,
        astromer: Astromer,
        n_classes: Annotated[int, Between(2)],
        *,
        extras: Count = 0,
        d_hidden: Size = 64,
    ) -> None:
        super().__init__()
        self.astromer, self.n_classes, self.extras = astromer, n_classes, extras
        self.head = nn.Sequential(
            nn.Linear(astromer.d_model + extras, d_hidden),
            nn.GELU(),
            nn.Linear(d_hidden, n_classes),
        )

    @checked
    def forward(
        self, curves: LightCurves, extra: Float[Tensor, "stars extras"] | None = None
    ) -> Float[Tensor, "stars n_classes"]:
        """Embed all nights, append the extras, classify."""
        embedding = self.astromer.embed(curves)
        if extra is None:
            extra = embedding.new_zeros(len(curves), 0)
        check_shapes(extra=(extra, f"{len(curves)} {self.extras}"))
        return self.head(torch.cat([embedding, extra], dim=1))


@checked
def hide_nights(
    curves: LightCurves,
    *,
    share: Annotated[float, Above(0), Between(0, 1)] = SHARE,
    generator: torch.Generator | None = None,
) -> Bool[Tensor, "stars nights"]:
    r"""Choose nights to be filled in: ``share`` of the real ones of each star, at random.

    The number is rounded, one night at least is hidden and one at least stays. Source:
    Donoso-Oliva et al. (2023), who choose half of the nights: 30 % of all are hidden, 10 % get a
    random magnitude and 10 % keep theirs, as in BERT. Here all chosen nights are hidden.
    """
    valid = curves.valid
    nights = valid.sum(dim=1, keepdim=True)
    count = (share * nights).round().clamp(min=1).minimum(nights - 1)
    drawn = torch.rand(valid.shape, generator=generator, device=valid.device)
    # Shuffled nights, padding last: the first `count` are chosen.
    return drawn.masked_fill(~valid, 2.0).argsort(dim=1).argsort(dim=1) < count


@checked
def reconstruction_error(
    predicted: Float[Tensor, "stars nights"],
    magnitude: Float[Tensor, "stars nights"],
    hidden: Bool[Tensor, "stars nights"],
) -> Float[Tensor, ""]:
    r"""How far off hidden nights are: $\sqrt{\frac1n\sum_{\mathrm{hidden}} (\hat m - m)^2}$.

    In magnitudes. Predictions for other nights do not count. Raises ``ValueError`` if
    nothing is hidden. Here every hidden night counts alike. The published code of Donoso-Oliva et
    al. (2023) takes the mean square of each star first and then their mean, so that there a night
    counts more in a star of which fewer are hidden. Where all have as many, the two are the same.
    """
    _check_some(hidden)
    return (predicted - magnitude)[hidden].square().mean().sqrt()


@checked
def negative_log_likelihood(
    predicted: Float[Tensor, "stars nights"],
    deviation: Float[Tensor, "stars nights"],
    magnitude: Float[Tensor, "stars nights"],
    hidden: Bool[Tensor, "stars nights"],
) -> Float[Tensor, ""]:
    r"""How unlikely hidden nights are if each is normal about its prediction.

    $\frac1n\sum_{\mathrm{hidden}} \left(\ln s + \frac{(m - \hat m)^2}{2s^2} +
    \frac12\ln 2\pi\right)$, in nats a night, with the predicted standard deviation $s$ of
    the night. Too small a deviation is punished by the second term, too large a one by the first.
    If one deviation serves all nights, the best is the :func:`reconstruction_error`, unless that is
    0. Raises ``ValueError`` if nothing is hidden, or for a deviation there that is not above 0.
    Source: Nix and Weigend (1994), whose network predicts both, as here.
    """
    _check_some(hidden)
    if (bad := hidden & ~(deviation > 0)).any():
        place = tuple(bad.nonzero()[0].tolist())
        raise ValueError(
            f"deviation is {deviation[place].item()} at {place}; expected numbers above 0; take "
            "exp(...) of the output of a layer"
        )
    # Select first: nan in padding would reach the gradient of the quotient.
    mean, deviation, seen = predicted[hidden], deviation[hidden], magnitude[hidden]
    square = ((seen - mean) / deviation).square()
    return (deviation.log() + square / 2).mean() + math.log(2 * math.pi) / 2


def _check_some(hidden: Tensor) -> None:
    if not hidden.any():
        raise ValueError(
            "hidden is False everywhere, so there is nothing to fill in; expected True at one "
            "night at least; choose some with hide_nights(...)"
        )


@checked
def empty_astromer(clock: Clock) -> Astromer:
    """The model of :func:`course_lib.models.stars.load_astromer` before training.

    It has two blocks, four heads, 64 features.

    ``clock`` is the unit of time. In days, periods of the sinusoids form a ladder from 0.2 to
    200 days. In turns, they are one turn and its harmonics up to the eighth, which repeat with the
    star.
    """
    if clock == "turns":
        return Astromer(torch.arange(1, HARMONICS + 1, dtype=torch.float64))
    return Astromer(frequency_ladder(PAIRS, shortest=SHORTEST, longest=LONGEST))


def _keys(visible: Tensor) -> Tensor:
    return rearrange(visible, "stars night -> stars 1 1 night")


@checked
def visible_nights(
    curves: LightCurves, hidden: Bool[Tensor, "stars nights"] | None
) -> Bool[Tensor, "stars nights"]:
    """The nights that are used: real ones that are not hidden.

    Raises ``ValueError`` for a star whose every night is hidden.
    """
    if hidden is None:
        return curves.valid
    check_shapes(curves=(curves.time, "stars nights"), hidden=(hidden, "stars nights"))
    visible = curves.valid & ~hidden
    if not (some := visible.any(dim=1)).all():
        star = (~some).nonzero()[0].item()
        raise ValueError(
            f"every night of star {star} is hidden; expected one visible night at least; hide fewer"
        )
    return visible

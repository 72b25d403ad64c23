"""What all figures share: axes, colours, and text that is shown as it is."""

import colorsys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from .._utils.arrays import Array, ArrayLike, Floats
from ..core import Counts, Moments
from ..errors import ParameterError, UnsupportedError

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 the other figures import it from here
else:
    Axes = Any  # matplotlib is imported when something is drawn

# Okabe and Ito's colours: told apart by all readers, and in print.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#808080",
)  # fmt: skip
CYCLE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY)
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}  # a dollar sign in a name is a dollar sign


class Display:
    """A figure; a notebook shows it as its picture."""

    ax_: Any = None
    figure_: Any = None

    def _on(self, ax: Any, size: tuple[float, float], n_columns: int = 1) -> "Axes":
        """The axes to draw on, kept with their figure; new ones if none are given."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            message = "figures need matplotlib, which is not installed; pip install 'secateur[plot]'"
            raise ImportError(message) from error
        if ax is None:
            _, ax = plt.subplots(1, n_columns, figsize=size, layout="constrained")
        axes = np.ravel(np.asarray(ax, dtype=object))
        if len(axes) != n_columns:
            raise ParameterError(f"ax holds {len(axes)} axes; {n_columns} are needed, or None for a new figure")
        self.figure_, self.ax_ = axes[0].figure, axes[0] if n_columns == 1 else axes
        return cast("Axes", self.ax_)

    def _tidied(self, title: str, fontsize: int = 11, legend: float | str | None = None) -> Self:
        """The display, its axes tidied, with a title and perhaps a legend in this size; names are shown as they are."""
        self.ax_.set_title(title, fontsize=fontsize, **LITERAL)
        if legend is not None:
            for text in self.ax_.legend(frameon=False, fontsize=legend).get_texts():
                text.set(**LITERAL)
        tidy_axes(self.ax_)
        return self

    def _listed(self, names: Sequence[str], title: str) -> Self:
        """The same for bars, one under the other, with their names beside them."""
        n = len(names)
        self.ax_.set_yticks(np.arange(n), names, fontsize=8, **LITERAL)
        self.ax_.set_ylim(max(n, 1) - 0.4, -0.6)
        self._tidied(title).ax_.grid(visible=False, axis="y")
        return self

    def _repr_png_(self) -> bytes | None:
        """The picture; the figure is closed, so that it is not shown once more at the end of the cell."""
        if self.figure_ is None:
            return None
        import matplotlib.pyplot as plt

        picture = BytesIO()
        self.figure_.savefig(picture, format="png", dpi=100, bbox_inches="tight")
        plt.close(self.figure_)
        return picture.getvalue()


class ModelDisplay(Display):
    """A figure of something that a model has."""

    from_model: ClassVar[Callable[..., Any]]

    @classmethod
    def from_estimator(cls, estimator: object, **options: Any) -> Self:
        """Return the display of a fitted estimator; options as for `from_model`."""
        return cast("Self", cls.from_model(estimator, **options))


def tidy_axes(axes: "Axes") -> None:
    """Take away what draws the eye from the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#e5e5e5", lw=0.8)
    axes.set_axisbelow(True)


def root_figure(axes: "Axes") -> Any:
    """Return the figure that contains the axes, directly or in a subfigure."""
    figure = axes.figure
    while getattr(figure, "figure", figure) is not figure:
        figure = figure.figure
    return figure


def leaves_axis(axes: "Axes", n_leaves: Iterable[Array]) -> None:
    """Leaves across, on a log scale, with plain numbers as ticks."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    found = np.concatenate([np.asarray(part) for part in n_leaves])
    least, most = int(found.min()), int(found.max())
    axes.set_xscale("log")
    steps = (1, 2, 5) if most > 20 * least else (1, 2, 3, 4, 5, 7)
    marks = range(1, 13) if most <= 12 else [m * 10**k for k in range(len(str(most)) + 1) for m in steps]
    axes.xaxis.set_major_locator(FixedLocator([mark for mark in marks if least <= mark <= most] or [least]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlim(least * 0.85, most * 1.18)
    axes.set_xlabel("leaves")


def class_colours(n_classes: int) -> Floats:
    """One colour per class, as rows of red, green, blue: Okabe and Ito's, or hues far apart if there are more."""
    if n_classes <= len(CYCLE) + 1:
        listed = [*CYCLE, YELLOW][:n_classes]
        return np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in listed])
    light, pale = (0.42, 0.58, 0.70), (0.55, 0.75)  # neighbours in hue differ in these, so that they stay apart
    return np.array([colorsys.hls_to_rgb(i / n_classes, light[i % 3], pale[i % 2]) for i in range(n_classes)])


def on_white(colours: ArrayLike, strength: ArrayLike) -> Floats:
    """Colours mixed with white; strength 1 leaves them as they are."""
    share = np.asarray(strength, float)[..., None]
    return np.asarray(share * np.asarray(colours, float) + (1 - share))


def ink_on(colours: ArrayLike) -> list[str]:
    """Black or white text for each background, whichever has the better contrast."""
    rgb = np.atleast_2d(np.asarray(colours, float))[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return ["black" if light > 0.179 else "white" for light in linear @ np.array([0.2126, 0.7152, 0.0722])]


def class_legend(axes: "Axes", names: Sequence[str], *, n_letters: int = 30, **options: Any) -> None:
    """A legend of classes; names are shown as they are, even those matplotlib would leave out."""
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour, label=str(i)) for i, colour in enumerate(class_colours(len(names)))]
    legend = axes.legend(handles=handles, **{"frameon": False, "fontsize": 8, "title": "class", **options})
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=elided(name, n_letters), **LITERAL)


def label_as_is(name: str) -> str:
    """A label that matplotlib does not leave out of the legend."""
    return f" {name}" if name.startswith("_") else name


def elided(text: str, n_most: int) -> str:
    """The text, its middle left out if it is wider than so many letters; both ends tell names apart."""
    if width_of(text) <= n_most:
        return text
    n_tail = max(n_most // 3, 1)
    head, tail = text[: max(n_most - n_tail - 1, 1)], text[-n_tail:]
    while head and tail and width_of(head) + width_of(tail) >= n_most + 1:  # wide letters
        head, tail = (head[:-1], tail) if len(head) >= len(tail) else (head, tail[1:])
    return f"{head}…{tail}"


def width_of(text: str) -> int:
    """The width of a line in letters; those of East Asia are twice as wide."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def check_sample(counts: object, name: str) -> None:
    """Refuse what is neither counts nor moments."""
    if not isinstance(counts, Counts | Moments):
        raise UnsupportedError(f"{name} is a {type(counts).__name__}; Counts or Moments are needed, as grow returns")

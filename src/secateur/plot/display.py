"""The base classes of all figures, and their common axes, colours and legends."""

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
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 the modules of the figures import it from here
else:
    Axes = Any  # matplotlib is imported only when a figure is drawn

# The colours of Okabe and Ito, which colour-blind readers can distinguish, also in print.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#808080",
)  # fmt: skip
CYCLE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY)
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}  # show a dollar sign in a name as a dollar sign


class Display:
    """A figure with the axes it is drawn on; a notebook shows it as a PNG picture.

    Attributes
    ----------
    ax_, figure_ : axes and figure
        Set by `plot`; None before.
    """

    ax_: Any = None
    figure_: Any = None

    def _prepare_axes(self, ax: Any, size: tuple[float, float], n_columns: int = 1) -> "Axes":
        """Set `ax_` and `figure_` to the given axes, or to those of a new figure of this size, and return the axes."""
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

    def _finish(self, title: str, fontsize: int = 11, legend: float | str | None = None) -> Self:
        """Tidy the axes, add a title and, if a font size is given, a legend with literal names; return the display."""
        self.ax_.set_title(title, fontsize=fontsize, **LITERAL)
        if legend is not None:
            for text in self.ax_.legend(frameon=False, fontsize=legend).get_texts():
                text.set(**LITERAL)
        tidy_axes(self.ax_)
        return self

    def _label_bars(self, names: Sequence[str], title: str) -> Self:
        """Finish a figure of horizontal bars: write the name of each bar beside it, and the title."""
        n = len(names)
        self.ax_.set_yticks(np.arange(n), names, fontsize=8, **LITERAL)
        self.ax_.set_ylim(max(n, 1) - 0.4, -0.6)
        self._finish(title).ax_.grid(visible=False, axis="y")
        return self

    def _repr_png_(self) -> bytes | None:
        """Return the picture, and close the figure, so that the notebook does not show it again below the cell."""
        if self.figure_ is None:
            return None
        import matplotlib.pyplot as plt

        picture = BytesIO()
        self.figure_.savefig(picture, format="png", dpi=100, bbox_inches="tight")
        plt.close(self.figure_)
        return picture.getvalue()


class ModelDisplay(Display):
    """A figure that can be made from a fitted estimator or a model."""

    from_model: ClassVar[Callable[..., Any]]

    @classmethod
    def from_estimator(cls, estimator: object, **options: Any) -> Self:
        """Return the display of a fitted estimator; options as for `from_model`."""
        return cast("Self", cls.from_model(estimator, **options))


def tidy_axes(axes: "Axes") -> None:
    """Hide the upper and right border, and draw a light grid behind the data."""
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
    """Set up the horizontal axis for numbers of leaves: a log scale with whole numbers as ticks.

    Parameters
    ----------
    axes : axes
    n_leaves : iterable of arrays
        All numbers of leaves that are drawn.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    drawn = np.concatenate([np.asarray(part) for part in n_leaves])
    smallest, largest = int(drawn.min()), int(drawn.max())
    axes.set_xscale("log")
    steps = (1, 2, 5) if largest > 20 * smallest else (1, 2, 3, 4, 5, 7)
    if largest <= 12:
        ticks = list(range(1, 13))
    else:
        ticks = [step * 10**power for power in range(len(str(largest)) + 1) for step in steps]
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if smallest <= tick <= largest] or [smallest]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlim(smallest * 0.85, largest * 1.18)
    axes.set_xlabel("leaves")


def class_colours(n_classes: int) -> Floats:
    """Return one colour per class as rows of red, green and blue.

    Up to seven classes have the colours of Okabe and Ito; more have equally spaced hues.
    """
    if n_classes <= len(CYCLE) + 1:
        colours = [*CYCLE, YELLOW][:n_classes]
        return np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours])
    # Neighbouring hues differ in lightness and saturation too, so that readers can distinguish them.
    lightness, saturation = (0.42, 0.58, 0.70), (0.55, 0.75)
    return np.array([colorsys.hls_to_rgb(i / n_classes, lightness[i % 3], saturation[i % 2]) for i in range(n_classes)])


def on_white(colours: ArrayLike, strength: ArrayLike) -> Floats:
    """Return colours mixed with white: strength 0 gives white, strength 1 the colour itself."""
    share = np.asarray(strength, float)[..., None]
    return np.asarray(share * np.asarray(colours, float) + (1 - share))


def ink_on(colours: ArrayLike) -> list[str]:
    """Return for each background colour the text colour, black or white, with the better contrast."""
    rgb = np.atleast_2d(np.asarray(colours, float))[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    return ["black" if value > 0.179 else "white" for value in luminance]  # both have the same contrast at 0.179


def class_legend(axes: "Axes", names: Sequence[str], *, n_letters: int = 30, **options: Any) -> None:
    """Draw a legend of classes with literal names, including those that begin with an underscore."""
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour, label=str(i)) for i, colour in enumerate(class_colours(len(names)))]
    legend = axes.legend(handles=handles, **{"frameon": False, "fontsize": 8, "title": "class", **options})
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=elide(name, n_letters), **LITERAL)


def legend_label(name: str) -> str:
    """Return a name as a legend label; matplotlib leaves out labels that begin with an underscore."""
    return f" {name}" if name.startswith("_") else name


def elide(text: str, max_letters: int) -> str:
    """Return a text shortened to a number of letters by leaving out its middle; long names often differ at an end."""
    if width_of(text) <= max_letters:
        return text
    n_tail = max(max_letters // 3, 1)
    head, tail = text[: max(max_letters - n_tail - 1, 1)], text[-n_tail:]
    while head and tail and width_of(head) + width_of(tail) >= max_letters + 1:  # for letters of double width
        if len(head) >= len(tail):
            head = head[:-1]
        else:
            tail = tail[1:]
    return f"{head}…{tail}"


def width_of(text: str) -> int:
    """Return the width of a line in letters; East Asian letters are twice as wide."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def check_sample(counts: object, name: str) -> None:
    """Raise an error unless an object is a sample: Counts or Moments."""
    if not isinstance(counts, Counts | Moments):
        raise UnsupportedError(f"{name} is a {type(counts).__name__}; Counts or Moments are needed, as grow returns")

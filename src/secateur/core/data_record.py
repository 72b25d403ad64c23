"""DataRecord: what is known about the rows that a model was fitted on, read from the metadata of the model."""

from dataclasses import dataclass

from ..data.file_record import FileRecord, read_records
from .model import Model


@dataclass(frozen=True)
class ColumnRecord:
    """What is known about one column of the growing rows.

    Parameters
    ----------
    name : str
    kind : str
        "numeric", "nominal" or "date".
    n_missing : int or None
        Number of growing rows with a missing value in this column; None if there were some, but their number was not
        recorded.
    is_used : bool
        Whether the pruned tree tests the column.
    """

    name: str
    kind: str
    n_missing: int | None
    is_used: bool


@dataclass(frozen=True)
class DataRecord:
    """What is known about the rows that a model was fitted on; None stands for what was not recorded.

    Parameters
    ----------
    files : tuple of FileRecord, optional
        The data files whose names and hashes were recorded, as by `secateur fit` and `secateur prune`.
    columns : tuple of ColumnRecord, optional
    n_rows : int, optional
        Number of rows that grew the tree.
    target : str, optional
        Name of the target column.
    fitted_with : str, optional
        The package and version that fitted the model.

    Examples
    --------
    >>> import secateur
    >>> model = secateur.TreeClassifier(select=None).fit([[1.0], [2.0], [None], [5.0]], ["no", "no", "yes", "yes"])
    >>> record = DataRecord.of(model.model_)
    >>> record.files, record.n_rows, record.columns[0].n_missing
    (None, 4, 1)
    """

    files: tuple[FileRecord, ...] | None
    columns: tuple[ColumnRecord, ...] | None
    n_rows: int | None
    target: str | None
    fitted_with: str | None

    @classmethod
    def of(cls, model: Model) -> "DataRecord":
        """Return what the metadata and the schema of a model state; values of other types count as not recorded."""
        metadata = model.metadata
        target, fitted_with = metadata.get("target"), metadata.get("fitted_with")
        return cls(
            files=read_records(metadata["files"]) if "files" in metadata else None,
            columns=_column_records(model),
            n_rows=_as_count(metadata.get("rows")),
            target=target if isinstance(target, str) else None,
            fitted_with=fitted_with if isinstance(fitted_with, str) else None,
        )


def _column_records(model: Model) -> tuple[ColumnRecord, ...] | None:
    schema, n_missing = model.tree.schema, model.metadata.get("missing_values")
    if schema is None:
        return None
    recorded = n_missing if isinstance(n_missing, dict) else {}
    used = set(model.pruned_tree.feature.tolist())
    return tuple(
        ColumnRecord(
            name=column.name,
            kind="date" if column.is_date else column.kind,
            n_missing=_as_count(recorded.get(column.name)) if column.has_missing else 0,
            is_used=j in used,
        )
        for j, column in enumerate(schema.columns)
    )


def _as_count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

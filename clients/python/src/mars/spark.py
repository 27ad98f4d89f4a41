"""Labels and class proportions of Spark data frames.

`predict` maps a saved model over all rows: each task runs the program ``mars`` as a child,
and passes its partition through it as Arrow over pipes. `label` and `proportions` learn on a
fair sample that comes to the driver; `label` then maps the model over all rows, and
`proportions(…, passes=6)` finishes with exact sums over all of them. `sketch` leaves a sample
and sums of a data frame in a file. Executors need pyarrow and pandas, as ``mapInArrow`` does,
and not this package: the program and the model are sent to them.

It needs Spark 4: ``pip install 'mars-labels[spark]'``.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from mars import _label, _proportions, _task
from mars._binary import binary
from mars._command import flags, is_path
from mars._docs import documents
from mars._frames import to_arrow
from mars._options import LABEL, PROPORTIONS, LabelOptions, ProportionsOptions
from mars._process import MarsError, run
from mars._progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["label", "predict", "proportions", "sketch"]

# Rows that come to the driver: what the default looks at of the target; of the source more, as
# it takes at least 100 rows of each class.
SOURCE_ROWS, TARGET_ROWS = 200_000, 20_000

# Options of files, and of what Spark does itself.
_NOT_HERE = frozenset(
    "source_labels target_labels file_column domain_column source_domain target_domain separator decimal thousands comment "
    "skip_lines no_header encoding compensate truth source_rows target_rows source_proportions target_proportions disjoint "
    "image_column source_photographs target_photographs keep max_source_rows max_target_rows".split()
)
_LABEL = {name: text for name, text in LABEL.items() if name not in _NOT_HERE}
_PROPORTIONS = {name: text for name, text in PROPORTIONS.items() if name not in _NOT_HERE}


class _LabelTypes:
    __annotations__ = {name: LabelOptions.__annotations__[name] for name in _LABEL}


class _ProportionsTypes:
    __annotations__ = {name: ProportionsOptions.__annotations__[name] for name in _PROPORTIONS}


def predict(
    df: DataFrame,
    model: str | os.PathLike[str],
    *,
    posteriors: bool = False,
    decision: Literal["accuracy", "balanced", "none"] | None = None,
    features: str | None = None,
    program: str | None = None,
    threads: int | None = None,
) -> DataFrame:
    """Label the rows of a data frame with a model that `mars.label` has saved.

    The labels are those of ``mars predict`` on the same rows, to the bit, however the rows
    are cut into partitions. Nothing is computed before an action asks for rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows to label, with the columns of the model in any order. All columns are passed on.
    model : path
        File on the driver that ``mars.label(…, save=model)`` or ``mars label --save`` has
        written. A copy is sent to the executors, so the file may change afterwards.
    posteriors : bool, default False
        Whether to add a column ``probability_CLASS`` for each class.
    decision : {"accuracy", "balanced", "none"}, optional
        What predictions are made ready for: the most right rows, the best mean recall of the
        classes, or neither. By default as the model was trained.
    features : str, optional
        The column of vectors, of a model that was trained on one. By default the only one.
    program : str, optional
        Path of the program on the executors. By default the driver's is sent to them.
    threads : int, optional
        Processors that each task's program may use. By default ``spark.task.cpus``.

    Returns
    -------
    pyspark.sql.DataFrame
        `df` with columns added, or replaced where it has them: ``predicted_class``,
        ``confidence`` and, if the model can tell, ``typicality``, as of `mars.predict`.

    Raises
    ------
    ValueError
        If `df` lacks a column of the model.
    MarsError
        If the file is no model.

    Notes
    -----
    What is wrong with a row ends the job with the program's own message, and with the number
    of the partition and of the row in it.

    Examples
    --------
    >>> labelled = mars.spark.predict(spark.read.parquet("cells/"), "model.safetensors")  # doctest: +SKIP
    >>> labelled.groupBy("predicted_class").count().show()  # doctest: +SKIP
    """
    known = _Model(os.fspath(model))
    _check(df)
    rows, send, hidden = _sent(df, known, features)
    new = _new(known, posteriors)
    replaced = [name for name in df.columns if _folded(df, name) in {_folded(df, n) for n in new}]
    schema = _schema(df, replaced, new)
    task = _task.spark_task(
        program if program is not None else _ship(df, binary()),
        _ship(df, known.path),
        [] if decision is None else [f"--decision={decision}"],
        program is None,
        send=send,
        new=new,
        drop=frozenset([*hidden, *replaced]),
        threads=_threads(df) if threads is None else threads,
    )
    return rows.mapInArrow(task, schema)


@documents(_LABEL, _LabelTypes)
def label(
    source: Any,
    target: DataFrame,
    label: str = "label",
    *,
    posteriors: bool = False,
    max_source_rows: int = SOURCE_ROWS,
    max_target_rows: int = TARGET_ROWS,
    features: str | None = None,
    program: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> DataFrame:
    """Label the rows of a data frame whose class balance and looks differ from the source's.

    The model is learnt at once, on the driver, from a fair sample of each domain. It is then
    mapped over all rows of the target when an action asks for them, as by `predict`.

    Parameters
    ----------
    source : pyspark.sql.DataFrame, table or path
        Rows with labels: a data frame of Spark, or what `mars.label` takes.
    target : pyspark.sql.DataFrame
        Rows to label.
    label : str, default "label"
        The source's column of labels.
    posteriors : bool, default False
        Whether to add a column ``probability_CLASS`` for each class.
    max_source_rows : int, default 200000
        Draw so many rows of the source, if it is a data frame of Spark, or all that there are.
    max_target_rows : int, default 20000
        The same of the target. The default method looks at no more.
    features : str, optional
        The column of vectors, if the features are one.
    program : str, optional
        Path of the program on the executors. By default the driver's is sent to them.
    threads : int, optional
        Processors that each task's program may use. By default ``spark.task.cpus``.
    progress : bool or callable, optional
        Of the learning: True shows its log as it comes, a function is called with each line.
    **OPTIONS**

    Returns
    -------
    pyspark.sql.DataFrame
        As of `predict`, with ``predicted_class`` in the type of the source's labels.

    Warns
    -----
    MarsWarning
        Above all where the labels are not to be believed.

    Notes
    -----
    Rows are drawn uniformly, by `seed`. With `id` a row is drawn by a hash of its identity,
    so that partitions make no difference; else by its place in its partition.

    Examples
    --------
    >>> labelled = mars.spark.label(cells, new, label="celltype", id="barcode")  # doctest: +SKIP
    """
    given = _given("label", _LABEL, options)
    sides = _Sides(source, target, label, given, max_source_rows, max_target_rows, features)
    model = options.get("save") or os.path.join(_folder(), f"fitted-{os.urandom(8).hex()}.safetensors")
    _label.label(sides.source, sides.target, label, progress=progress, **{**given, "save": model})
    labelled = predict(target, model, posteriors=posteriors, features=features, program=program, threads=threads)
    return _finished(labelled, sides.kind, options.get("unknown"))


@documents(_PROPORTIONS, _ProportionsTypes)
def proportions(
    source: Any,
    target: DataFrame,
    label: str = "label",
    *,
    max_source_rows: int = SOURCE_ROWS,
    max_target_rows: int = TARGET_ROWS,
    features: str | None = None,
    passes: int = 0,
    program: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> _proportions.Proportions:
    """Estimate the class proportions of a data frame, with intervals and whether to believe them.

    They are estimated on the driver from a fair sample of each domain. The intervals count
    what the sample leaves open, as they do for a large file. With `passes` they are those of
    all rows, by exact sums.

    Parameters
    ----------
    source : pyspark.sql.DataFrame, table or path
        Rows with labels: a data frame of Spark, or what `mars.proportions` takes.
    target : pyspark.sql.DataFrame
        Rows without labels.
    label : str, default "label"
        The source's column of labels.
    max_source_rows : int, default 200000
        Draw so many rows of the source, if it is a data frame of Spark, or all that there are.
    max_target_rows : int, default 20000
        The same of the target. The default method looks at no more.
    features : str, optional
        The column of vectors, if the features are one.
    passes : int, default 0
        Go through all rows of the target so often at most, for the proportions and the
        interval of all of them. Three or four are enough as a rule, and it is an error if
        they are not. The fit is then to a sketch of the target (see `sketch`), so that the
        result does not depend on how rows are cut into partitions. Each pass computes
        `target` anew: cache it if that takes long, or if it could give other rows.
    program : str, optional
        For `passes`: path of the program on the executors. By default the driver's is sent
        to them.
    threads : int, optional
        For `passes`: processors that each task's program may use. By default
        ``spark.task.cpus``.
    progress : bool or callable, optional
        True shows the log as it comes, and how far the work is; a function is called
        with each line.
    **OPTIONS**

    Returns
    -------
    Proportions
        The shares, and whether to believe them, with ``table`` as a pyarrow table.

    Warns
    -----
    MarsWarning
        Above all where the shares are not to be believed.

    Examples
    --------
    >>> print(mars.spark.proportions(cells, new, label="celltype"))  # doctest: +SKIP
    >>> print(mars.spark.proportions(cells, new, label="celltype", passes=6))  # doctest: +SKIP
    """
    given = _given("proportions", _PROPORTIONS, options)
    if passes:
        return _of_all_rows(source, target, label, given, max_source_rows, features, passes, program, threads, progress)
    sides = _Sides(source, target, label, given, max_source_rows, max_target_rows, features)
    return _proportions.proportions(sides.source, sides.target, label, progress=progress, **given)


def sketch(
    df: DataFrame,
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    columns: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    categorical: str | Sequence[str] | None = None,
    sample: int | None = None,
    seed: int | None = None,
    part: str = "df",
    program: str | None = None,
    threads: int | None = None,
) -> str:
    """Leave a sketch of a data frame in a file on the driver: a sample of its rows, and sums of all.

    Each task leaves the sketch of its partition, and the sketches are merged, so no rows but
    those of the sample come to the driver. Counts, moments and the sample are those of
    ``mars sketch`` on the same rows, however they are cut into partitions.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows of one domain.
    path : path
        File to write. It stands where tables do: in `mars.proportions`, `mars.label`, and
        with sketches of other parts in ``mars merge``.
    label : str, optional
        The column of labels. By default ``label``, if there is one.
    id : str, optional
        The column of identities. By default ``id``, if there is one.
    columns, exclude : str or list of str, optional
        Columns to keep and to leave out, or patterns such as ``"m*"``. By default all.
    categorical : str or list of str, optional
        Columns of numbers that are categories, or patterns.
    sample : int, default 20000
        Rows of the sample.
    seed : int, default 0
        Seed of the hashes, which choose the sample.
    part : str, default "df"
        What the rows are called in the sketch. Of parts of one name and content, one counts.
    program : str, optional
        Path of the program on the executors. By default the driver's is sent to them.
    threads : int, optional
        Processors that each task's program may use. By default ``spark.task.cpus``.

    Returns
    -------
    str
        `path`.

    Raises
    ------
    ValueError
        If `df` has no rows.

    Examples
    --------
    >>> today = mars.spark.sketch(df, "today.sketch.arrow")  # doctest: +SKIP
    >>> print(mars.proportions("labelled.csv", today, label="celltype"))  # doctest: +SKIP
    """
    _check(df)
    for name in (label, id):
        if name is not None and name not in df.columns:
            raise ValueError(f"df: has no column {name!r} (its columns are {', '.join(df.columns)})")
    arguments = ["sketch"]
    for flag, value in {"label": label, "id": id, "columns": columns, "exclude": exclude, "categorical": categorical, "sample": sample, "seed": seed}.items():
        if value is not None:
            arguments.append(f"--{flag}={value if isinstance(value, (str, int)) else ','.join(value)}")
    for field in df.schema.fields:
        if _is_vector(field.dataType):
            df = df.withColumn(field.name, _array(df, field.name))
    _leave(df, path, [*arguments, "-"], {}, None, part, program, threads)
    return os.fspath(path)


# Files that one task, or the driver, merges at a time.
_MERGED = 32


def _leave(
    df: DataFrame, path: str | os.PathLike[str], arguments: list[str], files: Mapping[str, str], send: Mapping[str, str] | None, part: str, program: str | None, threads: int | None
) -> None:
    """Write to a file what each partition leaves, merged."""
    where = program if program is not None else _ship(df, binary())
    task = _task.spark_file_task(where, arguments, files, program is None, part, send=send, threads=_threads(df) if threads is None else threads)
    schema = "file binary"
    left = df.mapInArrow(task, schema)
    merge = _task.spark_merge_task(where, program is None)
    parts = _partitions(df)
    while parts > _MERGED:
        parts = -(-parts // _MERGED)
        left = left.repartition(parts).mapInArrow(merge, schema)
    whole = next(iter(_task.merged_files(left.toArrow().to_batches(), binary())), None)
    if whole is None:
        raise ValueError("df: has no rows: give a data frame with at least one")
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".mars-", delete=False) as file:
        file.write(whole.column("file")[0].as_buffer())
    os.replace(file.name, path)


def _partitions(df: DataFrame) -> int:
    """In how many partitions the rows are, as far as can be told before they are computed."""
    try:
        return int(df.rdd.getNumPartitions())
    except Exception:  # Spark Connect has no RDDs
        return _MERGED


def _of_all_rows(
    source: Any,
    target: DataFrame,
    label: str,
    given: dict[str, Any],
    source_rows: int,
    features: str | None,
    passes: int,
    program: str | None,
    threads: int | None,
    progress: Progress,
) -> _proportions.Proportions:
    """The proportions of all rows of the target, by exact sums of each partition."""
    if given.get("method") == "mte":
        raise ValueError("passes: the method mte has no sums over all rows: take hedge, or leave passes out")
    folder = tempfile.mkdtemp(prefix="pass-", dir=_folder())
    try:
        known = {name: given[name] for name in ("id", "columns", "exclude", "categorical", "seed") if given.get(name) is not None}
        rows = target if features is None else target.select(*dict.fromkeys([f"`{n}`" for n in (known.get("id"), features) if n]))
        sketched = sketch(rows, os.path.join(folder, "target.sketch.arrow"), program=program, threads=threads, **known)
        model = os.path.join(folder, "model.safetensors")
        if _is_frame(source):
            source = _Sides.drawn(source, label, given, source_rows, features)
        fitted = _proportions.fit(source, sketched, label, given, progress, [f"--save-model={model}"])
        rows, send, _ = _sent(target, _Model(model), features)
        sums, files = "", {"model": _ship(target, model)}
        for number in range(1, passes + 1):
            if sums:
                files["after"] = _ship(target, sums)
            sums = os.path.join(folder, f"pass-{number}.arrow")
            _leave(rows, sums, ["respond", "--target=-"], files, send, "df", program, threads)
            try:
                return _proportions.of_sums(model, sums, fitted)
            except MarsError as e:
                if "not those of the fixed point yet" not in e.message:
                    raise
        raise ValueError(f"passes: {passes} passes do not reach the fixed point: give more")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Model:
    """What a model says of itself."""

    def __init__(self, path: str) -> None:
        self.path = path
        said = json.loads(run(["inspect", "--json", path], text=True))
        if "mars.classes" not in said or "mars.preparation" not in said:
            raise ValueError(f"{path}: is no model that labels rows of a table: give what mars.label(…, save=…) has written")
        self.classes: list[str] = _value(said["mars.classes"])
        prepared = _value(said["mars.preparation"])
        inputs = prepared.get("inputs", {}).get("columns", [])
        names = [c["name"] for c in inputs] or prepared.get("columns") or []
        self.columns: list[str] = list(dict.fromkeys(names))  # a date is several inputs; none: a column of vectors
        self.typicality = said.get("mars.method") == "hedge"


def _value(text: Any) -> Any:
    return json.loads(text) if isinstance(text, str) else text


def _check(df: DataFrame) -> None:
    """Refuse what no Arrow batch can hold, while it can be said which column it is."""
    seen: dict[str, str] = {}
    for field in df.schema.fields:
        name = _folded(df, field.name)
        if name in seen:
            raise ValueError(f"df: has several columns {field.name!r}: give them names of their own")
        seen[name] = field.name
        if type(field.dataType).__name__ in ("YearMonthIntervalType", "CalendarIntervalType"):
            raise TypeError(f"df: column {field.name!r} is of type {field.dataType.simpleString()}, which Arrow has not: cast it, or leave it out")


def _folded(df: DataFrame, name: str) -> str:
    """A name as Spark compares it."""
    sensitive = df.sparkSession.conf.get("spark.sql.caseSensitive", "false")
    return name if str(sensitive).lower() == "true" else name.lower()


def _sent(df: DataFrame, model: _Model, features: str | None) -> tuple[DataFrame, dict[str, str], list[str]]:
    """The data frame, which of its columns go to the program under which names, and which were made for that."""
    if not model.columns:
        name = _vectors(df, features)
        names = {name: name}
    else:
        names = {}
        for column in model.columns:
            top = column if column in df.columns else column.split(".")[0]  # of a struct
            if top not in df.columns:
                raise ValueError(f"df: has no column {column!r}, which the model was trained on (its columns are {', '.join(df.columns)})")
            names[top] = top
    send, hidden = {}, []
    for name in names:
        if _is_vector(df.schema[name].dataType):
            df = df.withColumn(f"__mars_{name}", _array(df, name))
            hidden.append(f"__mars_{name}")
            send[hidden[-1]] = name
        else:
            send[name] = name
    return df, send, hidden


def _vectors(df: DataFrame, features: str | None) -> str:
    """The column of vectors."""
    if features is not None:
        if features not in df.columns:
            raise ValueError(f"df: has no column {features!r} (its columns are {', '.join(df.columns)})")
        return features
    found: list[str] = [f.name for f in df.schema.fields if _is_vector(f.dataType) or f.dataType.typeName() == "array"]
    if len(found) != 1:
        raise ValueError(f"df: the model takes a column of vectors, and there are {', '.join(found) or 'none'}: name it as features=")
    return found[0]


def _is_vector(kind: Any) -> bool:
    """Whether a type is that of the vectors of pyspark.ml or pyspark.mllib."""
    return type(kind).__name__ == "VectorUDT"


def _array(df: DataFrame, name: str) -> Any:
    from pyspark.ml.functions import vector_to_array

    return vector_to_array(df[name])


def _new(model: _Model, posteriors: bool) -> dict[str, str | int]:
    """The columns to add, and what they are in what the program writes."""
    new: dict[str, str | int] = {"predicted_class": "predicted_class", "confidence": "confidence"}
    if model.typicality:
        new["typicality"] = "typicality"
    if posteriors:
        new |= {f"probability_{c}": k for k, c in enumerate(model.classes)}
    return new


def _schema(df: DataFrame, replaced: list[str], new: Mapping[str, Any]) -> Any:
    from pyspark.sql.types import FloatType, StringType, StructField, StructType

    kept = [f for f in df.schema.fields if f.name not in replaced]
    return StructType(kept + [StructField(n, StringType() if n == "predicted_class" else FloatType()) for n in new])


def _threads(df: DataFrame) -> int:
    try:
        return int(df.sparkSession.conf.get("spark.task.cpus", "1") or 1)
    except Exception:  # Spark Connect may not tell
        return 1


_shipped: set[tuple[str, str]] = set()
_temporary: list[str] = []


def _folder() -> str:
    """A folder for what executors fetch, as long as this process lives."""
    if not _temporary:
        _temporary.append(tempfile.mkdtemp(prefix="mars-spark-"))
        atexit.register(shutil.rmtree, _temporary[0], ignore_errors=True)
    return _temporary[0]


def _ship(df: DataFrame, path: str) -> str:
    """Let Spark bring a copy of a file to all executors, and give its name there.

    The name is made of the content, so that another model of the same name is another file.
    """
    from pyspark import cloudpickle

    by_value: Any = cloudpickle.register_pickle_by_value
    by_value(_task)  # executors need not have this package
    name = f"mars-{_digest(path)}{Path(path).suffix}"
    copy = os.path.join(_folder(), name)
    if not os.path.exists(copy):
        unfinished = f"{copy}.{os.urandom(4).hex()}"
        shutil.copy(path, unfinished)
        os.replace(unfinished, copy)
    session: Any = df.sparkSession
    connected = type(df).__module__.startswith("pyspark.sql.connect")
    where = session.session_id if connected else session.sparkContext.applicationId
    if (where, name) not in _shipped:
        if connected:
            session.addArtifact(copy, file=True)
        else:
            session.sparkContext.addFile(copy)
        _shipped.add((where, name))
    return name


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest()[:24]


def _given(function: str, known: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, after a look for those that there are not."""
    flags(f"mars.spark.{function}", known, options)
    return dict(options)


class _Sides:
    """The rows to learn on, on the driver."""

    def __init__(self, source: Any, target: DataFrame, label: str, options: Mapping[str, Any], source_rows: int, target_rows: int, features: str | None) -> None:
        if _is_frame(source):
            source = self.drawn(source, label, options, source_rows, features)
        _check(target)
        self.source = source
        self.target = _sample(target, target_rows, _seed(options), options.get("id"), None if features is None else [features])
        self.kind: Any = None  # of the labels; None: text
        if not is_path(source) and not isinstance(source, (tuple, list)):
            table = to_arrow(source, name="source")
            self.kind = table.schema.field(label).type if label in table.column_names else None


    @staticmethod
    def drawn(source: DataFrame, label: str, options: Mapping[str, Any], rows: int, features: str | None) -> pa.Table:
        """Rows of a source that is a data frame of Spark."""
        _check(source)
        if label not in source.columns:
            raise ValueError(f"source: has no column {label!r} (its columns are {', '.join(source.columns)}): name the labels by label=")
        keep = None if features is None else [features, label]
        return _sample(source, rows, _seed(options), options.get("id"), keep)


def _seed(options: Mapping[str, Any]) -> int:
    return options.get("seed", options.get("random_state")) or 0


def _is_frame(data: Any) -> bool:
    return type(data).__module__.startswith("pyspark.sql.")


def _sample(df: DataFrame, rows: int, seed: int, name: str | None, keep: list[str] | None) -> pa.Table:
    """So many rows, all alike probable, or all that there are."""
    from pyspark.sql import functions as F

    if name is not None and name not in df.columns and keep is None:
        raise ValueError(f"df: has no column {name!r}, which is named as id (its columns are {', '.join(df.columns)})")
    total = df.count()
    if total == 0:
        raise ValueError("df: has no rows: give a data frame with at least one")
    by_name = name is not None and name in df.columns
    key = F.xxhash64(F.col(f"`{name}`"), F.lit(seed)) / F.lit(2.0**64) + F.lit(0.5) if by_name else F.rand(seed)
    if keep is not None:
        df = df.select(*[f"`{n}`" for n in keep], *([f"`{name}`"] if by_name and name not in keep else []))
    for field in df.schema.fields:
        if _is_vector(field.dataType):
            df = df.withColumn(field.name, _array(df, field.name))
    if total > rows:
        # The rows of the smallest keys. Most of the others are left out before they are sorted.
        share = min(1.0, (rows + 10 * rows**0.5 + 10) / total)
        df = df.withColumn("__mars_key", key)
        df = (df.where(F.col("__mars_key") < share) if share < 1 else df).orderBy("__mars_key").limit(rows).drop("__mars_key")
    table = df.toArrow()
    return pa.Table.from_batches([_task.sendable(b, None) for b in table.to_batches()]) if table.num_rows else table


def _finished(labelled: DataFrame, kind: Any, unknown: float | None) -> DataFrame:
    """Labels in the type of the source's, and "unknown" where a row is like none of a class."""
    from pyspark.sql import functions as F

    classes = F.col("predicted_class")
    if unknown:
        return labelled.withColumn("predicted_class", F.when(F.col("typicality").cast("double") < unknown, "unknown").otherwise(classes))
    cast = None
    if kind is not None and pa.types.is_boolean(kind):
        cast = "boolean"
    elif kind is not None and pa.types.is_integer(kind):
        cast = {8: "tinyint", 16: "smallint", 32: "int"}.get(kind.bit_width, "bigint")
    elif kind is not None and pa.types.is_floating(kind):
        cast = "double"
    return labelled if cast is None else labelled.withColumn("predicted_class", classes.cast(cast))

"""Spark: a real local session. It takes half a minute to start, so there is one, and few tests."""

import os
import shutil
import sys

import numpy as np
import pytest

from secateur import engines
from secateur.errors import DataError, SchemaError

pyspark = pytest.importorskip("pyspark")
pa = pytest.importorskip("pyarrow")

pytestmark = [
    pytest.mark.skipif(
        shutil.which("java") is None and not os.environ.get("JAVA_HOME"), reason="Spark needs Java, and none is found"
    ),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # workers must find what this Python finds
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[1]")  # one worker: partitions come one after the other
        for name, value in {
            "spark.ui.enabled": "false",
            # A third of the time of the processor: one compiler, classes taken as they are, no plans compiled to Java.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions"
            " -XX:-BytecodeVerificationRemote",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.default.parallelism": "3",  # the partitions of the frame
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.execution.pyspark.udf.faulthandler.enabled": "false",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def frame(spark, plain_held_out):
    return spark.createDataFrame(plain_held_out.table)


def test_a_spark_frame_gives_the_counts_of_memory(frame, plain_held_out):
    counts, scan = engines.count(plain_held_out.tree, frame, "sold", sample_weight="times", return_scan=True)

    assert frame.rdd.getNumPartitions() == 3
    assert counts == plain_held_out.weighted()
    assert counts.sketch == plain_held_out.weighted().sketch
    assert (scan.engine, scan.n_rows) == ("spark", plain_held_out.table.num_rows)
    assert scan.n_unseen == {"colour": plain_held_out.table["colour"].to_pylist().count("mauve")}


def test_new_classes_empty_partitions_and_fractions_of_weights_come_back(frame, plain_held_out):
    from pyspark.sql import functions

    few = frame.limit(1).repartition(2)  # one of two partitions is empty
    odd = few.withColumn("sold", functions.lit("perhaps")).withColumn("times", functions.lit(0.25))

    with pytest.warns(UserWarning, match="'perhaps'"):
        counts = engines.count(plain_held_out.tree, odd, "sold", sample_weight="times")

    assert counts.by_class[0].tolist() == [0, 0, 0.25]


def test_rows_that_a_worker_refuses_raise_our_error(frame, plain_held_out):
    from pyspark.sql import functions

    nothing = frame.withColumn("sold", functions.lit(None).cast("string"))
    with pytest.raises(DataError, match=r"^target 'sold' is missing in"):
        engines.count(plain_held_out.tree, nothing, "sold", missing_target="error")
    with pytest.raises(SchemaError, match="the Spark frame lacks the columns 'size'"):
        engines.count(plain_held_out.tree, frame.drop("size"), "sold")


def test_options_have_the_same_meaning_as_in_memory(frame, plain_held_out):
    tree, table = plain_held_out.tree, plain_held_out.table
    for options in ({"unseen": "missing"}, {"unseen": "majority-branch", "sample_weight": "times", "ignore": ["id"]}):
        expected = engines.count(tree, table, "sold", engine="memory", **options)

        counts = engines.count(tree, frame, "sold", **options)

        assert counts == expected
        assert counts.sketch == expected.sketch
    with pytest.raises(SchemaError, match="colour"):
        engines.count(tree, frame, "sold", unseen="error")


def test_the_sums_of_a_worker_add_up_without_spark(plain_held_out):
    from secateur.engines._spark import tally_summer, unpack_tallies
    from secateur.routing import plan_count

    table = plain_held_out.table.append_column("w", pa.array(np.full(plain_held_out.table.num_rows, 0.5)))
    task = plan_count(plain_held_out.tree, tuple(table.column_names), "sold", "w", "majority-branch", "the table")
    each = tally_summer(task, lambda batch: [task(batch)])
    parts = [part for k in range(0, table.num_rows, 1000) for part in each(iter(table.slice(k, 1000).to_batches(400)))]
    (batch,) = tally_summer(task, unpack_tallies)(iter(parts))

    (tally,) = unpack_tallies(batch)

    assert np.array_equal(tally.finish(plain_held_out.tree, "prune").by_class, plain_held_out.counts().by_class / 2)

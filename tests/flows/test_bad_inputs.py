"""Fifty-two bad inputs seen in the wild, one test each: the right answer, one warning, or an error that names it."""

import decimal
import gzip
import os
import pickle
import subprocess
import sys
import unicodedata
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import secateur
from secateur import Counts, Pruning, Tree, TreeClassifier, TreeRegressor, certify, count, encode, export_text, grow
from secateur.cli import run
from secateur.errors import DataError, LeakageError, SchemaError, SecateurError, UnsupportedError
from secateur.routing.prediction import predict

RNG = np.random.default_rng(52)
X = RNG.normal(size=(80, 3)).round(2)
Y = np.where(X[:, 0] > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def fitted(rows=X, target=Y, **options):
    return TreeClassifier(**{"prune": None, "criterion": "gini"} | options).fit(rows, target)


def with_cell(value, dtype=object):
    return np.array([[value], *[[float(i)] for i in range(9)]], dtype), np.arange(10) % 2


def quiet(function, *arguments, **options):
    """Return the result of a function, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **options)
    return result, [str(warning.message) for warning in caught]


def test_01_missing_labels_are_an_error_with_row_numbers():
    with pytest.raises(DataError, match=r"\b3\b.*\b7\b"):
        grow(X[:9], np.array([0, 1, 0, np.nan, 1, 0, 1, np.nan, 0]))


def test_02_infinite_values_are_ordered_as_values_with_a_warning_if_there_are_many():
    few = np.append(np.arange(199.0), np.inf)[:, None]
    model, texts = quiet(fitted, few, few[:, 0] > 100)
    assert not texts
    assert model.predict([[np.inf], [-np.inf]]).tolist() == [True, False]
    _, texts = quiet(fitted, np.array([[np.inf], [-np.inf], [0], [1]] * 5), [0, 1] * 10)
    assert len(texts) == 1
    assert "infinite" in texts[0]


def test_03_numbers_beyond_float32_are_distinguished_and_only_scikit_learn_refuses_them():
    model = fitted(np.array([[1e300], [2e300]] * 5), [0, 1] * 5)
    assert model.predict([[1e300], [2e300]]).tolist() == [0, 1]
    with pytest.raises(SecateurError, match="float32"):
        model.to_sklearn()


def test_04_large_integers_are_distinguished_or_there_is_a_warning():
    near, far = (np.array([at, at + 1] * 5, np.int64)[:, None] for at in (2**24, 2**53))
    model, texts = quiet(fitted, near, [0, 1] * 5)
    assert not texts
    assert model.predict(near).tolist() == [0, 1] * 5
    frame = pd.DataFrame({"n": far[:, 0], "x": np.arange(10.0)})
    for rows in (far, frame):
        assert any("2**53" in message for message in quiet(encode, rows)[1])


def test_05_one_class_is_one_leaf_with_a_warning_and_a_valid_certificate():
    model, texts = quiet(fitted, X, ["a"] * 80, certify="test-sample")
    assert model.get_n_leaves() == 1
    assert len(texts) == 1
    assert 0 < model.certificate_.value < 0.2


def test_06_constant_and_missing_columns_are_named_in_the_report():
    frame = FRAME.assign(same=1.0, gone=np.nan)
    model, _ = quiet(fitted, frame, Y)
    page = model.report().html
    assert model.feature_importances_[3:].tolist() == [0, 0]
    assert model.model_.metadata["constant_columns"] == ["same", "gone"]
    assert "constant_columns" in page


def test_07_equal_rows_of_different_classes_give_an_unavoidable_error_in_the_report():
    model = fitted([[0.0], [0.0], [0.0], [1.0]], ["a", "a", "b", "b"])
    assert model.score([[0.0], [0.0], [0.0], [1.0]], ["a", "a", "b", "b"]) == 0.75
    assert "unavoidable" in model.report().html


def test_08_numbers_as_text_are_categories_with_a_warning_unless_declared():
    frame = pd.DataFrame({"n": ["1", "2", "10"] * 4})
    table, texts = quiet(encode, frame)
    assert table.schema.columns[0].kind == "nominal"
    assert len(texts) == 1
    assert "numeric=" in texts[0]
    assert encode(frame, numeric=["n"]).schema.columns[0].kind == "numeric"


def test_09_words_are_categories():
    frame = pd.DataFrame({"w": ["red", "blue"] * 4})
    assert fitted(frame, ["r", "b"] * 4).predict(frame).tolist() == ["r", "b"] * 4


def test_10_a_million_categories_take_seconds_with_a_warning_and_no_multiway_split():
    n = 10**6
    coded = np.arange(n, dtype=np.int64)[:, None]
    _, texts = quiet(grow, coded, np.arange(n) % 3, nominal=[0])
    assert any("1,000,000 categories" in text for text in texts)
    with pytest.raises(UnsupportedError, match="at most 1,000; use splits='binary'"):
        quiet(grow, coded[:2000], np.arange(2000) % 2, nominal=[0], splits="multiway")


def test_11_an_unseen_category_takes_the_majority_branch_and_is_counted():
    frame = pd.DataFrame({"w": ["red"] * 5 + ["blue"] * 3})
    tree, grown = grow(frame, [0] * 5 + [1] * 3)
    model = secateur.Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    later = pd.DataFrame({"w": ["green", "red"]})
    assert predict(model, later).tolist() == [0, 0]
    assert encode(later, schema=tree.schema).n_unseen == (1,)


def test_12_odd_categories_survive_files_and_exports():
    odd = ['"', "a\nb", "\u202eabc", "\U0001f332", "</script>", "", "\\"]
    frame = pd.DataFrame({"w": [*odd, None] * 4})
    model = fitted(frame, [str(i % 2) for i in range(32)])
    back = secateur.modelfile.loads_model(secateur.modelfile.dumps_model(model.model_))
    assert back.tree.schema.columns[0].categories == model.tree_.schema.columns[0].categories
    assert len(back.tree.schema.columns[0].categories) == 7
    assert (predict(back, frame) == model.predict(frame)).all()
    assert "</script>" not in model.report().html.split("<script")[0]


def test_13_categories_that_look_alike_are_distinct_with_a_warning():
    words = ["caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9"), "CAF\u00c9", "caf\u00e9 "]
    table, texts = quiet(encode, pd.DataFrame({"w": words * 3}))
    assert len(table.schema.columns[0].categories) == 4
    assert len(texts) == 1


@pytest.mark.parametrize("weight", [-1.0, 0.0, np.nan, np.inf], ids=["14", "15", "17", "17_infinite"])
def test_14_15_17_negative_zero_missing_and_infinite_weights_are_errors(weight):
    weights = np.full(80, weight) if weight == 0 else np.append(np.ones(79), weight)
    with pytest.raises(SecateurError, match="weight"):
        fitted().fit(X, Y, sample_weight=weights)


def test_16_rows_of_weight_zero_have_no_influence():
    extra = np.vstack([X, [[1e9, 1e9, 1e9]]])
    weights = np.append(np.ones(80), 0)
    model = TreeClassifier(prune=None, criterion="gini", max_bins=8).fit(extra, [*Y, "third"], sample_weight=weights)
    assert model.export_text() == fitted(max_bins=8).export_text()


def test_18_huge_weights_are_an_error_with_a_remedy():
    with pytest.raises(SecateurError, match=r"rescale|2\*\*53"):
        grow(X, Y, sample_weight=np.full(80, 2**50))


def test_19_fractional_weights_grow_and_do_not_certify():
    model = TreeClassifier(prune=None).fit(X, Y, sample_weight=np.full(80, 0.5))
    fresh = RNG.normal(size=(40, 3))
    held = count(model.tree_, fresh, Y[:40], sample_weight=np.full(40, 0.5), sample="test")
    with pytest.raises(SecateurError, match="weight"):
        certify(model.pruning_, held)


def test_20_one_row_is_one_leaf_and_no_row_or_column_an_error():
    assert quiet(fitted, [[1.0]], ["a"])[0].get_n_leaves() == 1
    for rows, target in (([], []), (np.zeros((0, 2)), []), (np.zeros((3, 0)), [0, 1, 0])):
        with pytest.raises(SecateurError):
            fitted(rows, target)


def test_21_missing_values_at_prediction_take_the_declared_branch_and_are_counted(tmp_path, capsys):
    model = fitted(FRAME, Y)
    gone = FRAME.assign(a=np.nan).iloc[:5]
    root = model.tree_
    assert root.feature[0] == 0
    branch = list(root.children(0))[root.default[0]]
    assert (model.apply(gone) >= branch).all()
    assert (model.apply(gone) < root.end[branch]).all()
    assert encode(gone, schema=root.schema).n_missing == (5, 0, 0)
    model.save(tmp_path / "m.json")
    gone.to_csv(tmp_path / "gone.csv", index=False)
    assert run(["predict", str(tmp_path / "m.json"), str(tmp_path / "gone.csv"), "--numeric", "a"]) == 0
    assert "column 'a' has 5 missing values, none when the tree was grown" in capsys.readouterr().err


def test_22_columns_in_another_order_are_found_by_name():
    model = fitted(FRAME, Y)
    assert (model.predict(FRAME[["c", "a", "b"]]) == model.predict(FRAME)).all()
    with pytest.raises(SecateurError):
        quiet(model.predict, X[:, :2])


def test_23_missing_and_further_columns_are_named():
    model = fitted(FRAME, Y)
    with pytest.raises(SchemaError, match="'b'"):
        model.predict(FRAME[["a", "c"]])
    with pytest.raises(SchemaError, match="'extra'"):
        encode(FRAME.assign(extra=1), schema=model.tree_.schema)
    assert encode(FRAME.assign(extra=1), schema=model.tree_.schema, strict=False).n_columns == 3


def test_24_an_array_where_a_frame_was_fitted_is_a_warning():
    assert len(quiet(fitted(FRAME, Y).predict, X)[1]) == 1


def test_25_duplicate_names_and_names_that_are_not_strings_are_errors():
    with pytest.raises(SecateurError, match="'a'"):
        fitted(pd.DataFrame(X, columns=["a", "a", "b"]), Y)
    with pytest.raises((SecateurError, TypeError), match="1"):
        fitted(pd.DataFrame(X, columns=["a", 1, 2]), Y)
    numbered = fitted(pd.DataFrame(X, columns=[2, 0, 1]), Y)  # as scikit-learn: no names at all
    assert not hasattr(numbered, "feature_names_in_")


def test_26_another_type_at_prediction_is_an_error_that_shows_values():
    model, _ = quiet(fitted, pd.DataFrame({"n": [1.0, 2.0] * 5}), [0, 1] * 5)
    with pytest.raises(SchemaError, match="'1'"):
        model.predict(pd.DataFrame({"n": ["1", "2"]}))


@pytest.mark.parametrize("kind", ["datetime64[ns]", "timedelta64[ns]"])
def test_27_times_are_an_error_with_how_to_convert(kind):
    with pytest.raises(SecateurError, match=r"convert|numeric|ordinal|timestamp|days|seconds"):
        encode(pd.DataFrame({"t": np.arange(4).astype(kind)}))


def test_28_complex_three_dimensional_and_ragged_data_are_errors():
    for rows in (X + 1j, X[:, :, None], [[1.0], [1.0, 2.0]] * 40):
        with pytest.raises(SecateurError):
            fitted(rows, Y)


def test_29_a_mask_is_missing():
    masked = np.ma.masked_array(X, mask=np.zeros_like(X, bool))
    masked.mask[:5, 0] = True
    with_nan = X.copy()
    with_nan[:5, 0] = np.nan
    assert fitted(masked).tree_ == fitted(with_nan).tree_


def test_30_any_layout_and_type_of_the_same_numbers_gives_the_same_tree():
    small = X.astype(np.float16).astype(np.float64)
    expected = fitted(small).tree_
    for rows in (
        small.astype(np.float16), small.astype(">f8"), small[::-1][::-1], np.asfortranarray(small),
        np.repeat(small, 2, axis=1)[:, ::2],
    ):  # fmt: skip
        assert fitted(rows).tree_ == expected


def test_31_read_only_and_mapped_arrays_are_read_and_never_written(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    frozen = X.copy()
    frozen.flags.writeable = False
    assert fitted(mapped).tree_ == fitted(frozen).tree_ == fitted().tree_
    whole = pd.DataFrame({"n": pd.array([1, None, 3, 4] * 5, dtype="Int64")})
    assert fitted(whole, ["a", "b"] * 10).predict(whole).tolist() == ["a", "b"] * 10


def test_32_sparse_rows_are_converted_up_to_a_size_and_zeros_are_values():
    thin = np.where(np.abs(X) < 1, 0.0, X)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_matrix):
        matrix = kind(thin)
        assert fitted(matrix).tree_ == fitted(thin).tree_
        assert (fitted(thin).predict(matrix) == fitted(thin).predict(thin)).all()
    long = scipy.sparse.csr_matrix(thin)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    assert fitted(long).tree_ == fitted(thin).tree_
    with pytest.raises(UnsupportedError, match=r"GB|bytes"):
        fitted(scipy.sparse.csr_matrix((10**6, 10**5)), np.zeros(10**6))


def test_33_labels_of_every_kind():
    assert fitted(X, Y == "yes").classes_.tolist() == [False, True]
    with pytest.raises(SecateurError, match=r"mix|kind|type"):
        fitted(X, [1, "a"] * 40)
    assert len(quiet(fitted, X, Y[:, None])[1]) == 1


def test_34_a_continuous_target_names_the_regressor_and_many_classes_are_a_warning():
    with pytest.raises(SecateurError, match="TreeRegressor"):
        fitted(X, X[:, 0])
    many = np.arange(5000)
    _, texts = quiet(grow, many[:, None].astype(float), many, max_depth=1)
    assert any("5,000 classes" in text for text in texts)


def test_35_lengths_that_differ_are_both_named():
    with pytest.raises(SecateurError, match=r"80.*79|79.*80"):
        fitted(X, Y[:79])


def test_36_no_held_out_row_is_an_error_and_three_a_warning():
    with pytest.raises(SecateurError):
        TreeClassifier(prune="reduced-error").fit(X, Y, X_holdout=X[:0], y_holdout=Y[:0])
    fresh = RNG.normal(size=(3, 3))
    _, texts = quiet(
        TreeClassifier(prune="reduced-error", criterion="gini").fit,
        X,
        Y,
        X_holdout=fresh,
        y_holdout=["yes", "no", "yes"],
    )
    assert any("3 rows" in text for text in texts)


def test_37_a_class_absent_or_new_in_held_out_rows():
    fresh = RNG.normal(size=(30, 3))
    rule = TreeClassifier(prune="reduced-error", criterion="gini")
    quiet(rule.fit, X, Y, X_holdout=fresh, y_holdout=["yes"] * 30)
    held, texts = quiet(count, fitted().tree_, fresh, ["new"] * 30)
    assert fitted().pruning_.errors(held) == 30
    assert any("new" in text for text in texts)


def test_38_held_out_rows_that_grew_the_tree_are_recognised():
    model = fitted()
    with pytest.raises(LeakageError, match="80"):
        certify(model.pruning_, count(model.tree_, X, Y, sample="test"))


def test_39_a_sample_that_pruned_does_not_certify():
    model = TreeClassifier(prune="reduced-error", criterion="gini").fit(X, Y)
    with pytest.raises(LeakageError):
        certify(model.pruning_, model.holdout_, method="test-sample")


def test_40_counts_above_two_to_the_31_are_exact():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[2**40, 1], [3, 2**41]])
    assert counts.by_class[0].tolist() == [2**40 + 3, 2**41 + 1]
    assert Pruning.from_cuts(tree, [], node_labels=counts.majority).errors(counts) == 4


def test_41_a_chain_of_a_hundred_thousand_splits_works_everywhere():
    n = 100_000
    parent = np.append(-1, np.repeat(2 * np.arange(n), 2)).astype(np.int32)
    tree = Tree(parent)
    counts = Counts.from_leaves(tree, np.tile([[1, 0], [0, 1]], (n // 2 + 1, 1))[: n + 1])
    sequence = secateur.prune(tree, counts)
    assert sequence[-1].n_leaves == 1
    assert len(export_text(tree, counts, max_depth=5)) < 2000
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_42_one_leaf_is_pruned_drawn_and_certified():
    tree = Tree.from_parents([-1])
    grown, fresh = Counts(tree, [[3, 2]]), Counts(tree, [[30, 20]], sample="test")
    for rule, about in secateur.pruners.RULES.items():
        more = {"smallest-within": {"accuracy": 0.5}, "bottom-up-srm": {"n_tests": 1}}.get(rule, {})
        pruning = secateur.prune(tree, grown, *([fresh] if about.needs_holdout else []), rule=rule, **more)
        assert np.max(pruning.n_leaves) == 1
    unpruned = Pruning.from_cuts(tree, [], node_labels=[0])
    assert certify(unpruned, fresh).value > 0.4
    assert export_text(tree, grown)
    import matplotlib as mpl

    mpl.use("Agg")
    assert secateur.plot.plot(secateur.Model(unpruned, grown))
    model, _ = quiet(fitted, X, ["a"] * 80)
    assert "<html" in model.report().html


def test_43_a_truncated_edited_or_foreign_file_is_an_error(tmp_path):
    path = tmp_path / "m.json"
    fitted().save(path)
    text = path.read_bytes()
    for data in (
        text[:-9],
        text.replace(b'"parent": [-1', b'"parent": [-2'),
        pickle.dumps(1),
        b"",
        gzip.compress(text)[:-4],
    ):
        path.write_bytes(data)
        with pytest.raises(secateur.errors.ModelFileError):
            secateur.load(path)


def test_44_scikit_learn_trees_of_every_kind():
    target = (Y == "yes").astype(int)
    constrained = DecisionTreeClassifier(monotonic_cst=[1, 0, 0], class_weight="balanced").fit(X, target)
    assert (TreeClassifier.from_sklearn(constrained, X, target).predict(X) == constrained.predict(X)).all()
    several = DecisionTreeRegressor().fit(X, X)
    with pytest.raises(SecateurError, match="output"):
        TreeRegressor.from_sklearn(several)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("\ufeffa;b;y\n1,5;x;u\n2,5;NA;v\n".encode(), ["--decimal", ","]),
        (b"a\tb\ty\n1.5\tx\tu\n2.5\tNA\tv\n", []),
        (b'a,b,y\n1.5,"x\nx",u\n2.5,NA,v\n', []),
        (b"a,b,y,\n1.5,x,u,\n2.5,NA,v,\n", []),
        ("a,b,y\n1.5,é,u\n2.5,NA,v\n".encode("latin-1"), ["--encoding", "latin-1"]),
        ("a,b,y\n1.5,é,u\n2.5,NA,v\n".encode("utf-16"), []),
        (gzip.compress(b"a,b,y\n1.5,x,u\n2.5,NA,v\n"), []),
    ],
    ids=["semicolon", "tab", "newline", "trailing", "latin-1", "utf-16", "gzip"],
)
def test_45_text_files_of_every_kind_are_read(content, options, tmp_path, capsys):
    path = tmp_path / ("rows.csv.gz" if content.startswith(b"\x1f") else "rows.csv")
    path.write_bytes(content)
    status = run(
        ["fit", str(path), "--target", "y", "--numeric", "a", "--json", "-o", str(tmp_path / "m.json"), *options]
    )
    assert status == 0, capsys.readouterr().err
    schema = secateur.load(tmp_path / "m.json").tree_.schema
    assert schema.names[:2] == ("a", "b")
    assert schema.columns[0].kind == "numeric"


@pytest.mark.parametrize(("content", "says"), [(b"a,b,y\n1,2,u\n1,v\n", "row 3"), (b"a,a,y\n1,2,u\n3,4,v\n", "'a'")])
def test_45_ragged_rows_and_double_names_are_named(content, says, tmp_path, capsys):
    (tmp_path / "rows.csv").write_bytes(content)
    assert run(["fit", str(tmp_path / "rows.csv"), "--target", "y"]) == 3
    assert says in capsys.readouterr().err


def test_46_null_and_nan_decimals_and_differing_dictionaries_in_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    words = [pa.chunked_array([pa.array(part).dictionary_encode() for part in (["a", "b"], ["b", "c"])])]
    table = pa.table(
        {"x": pa.array([None, float("nan"), 1.0, 2.0]), "w": words[0].unify_dictionaries(),
         "d": pa.array([decimal.Decimal("1.5"), None, decimal.Decimal("2.5"), None])}
    )  # fmt: skip
    parquet.write_table(table, tmp_path / "t.parquet")
    found = encode(tmp_path / "t.parquet")
    assert np.isnan(found.columns[0]).tolist() == [True, True, False, False]
    assert found.schema.columns[1].categories == ("a", "b", "c")
    assert found.columns[2][0] == 1.5


def test_47_columns_named_as_generated_ones_or_keywords_are_quoted():
    names = ["leaf", "node", 'se"lect']
    model = fitted(pd.DataFrame(X, columns=names), Y)
    import sqlite3

    with sqlite3.connect(":memory:") as database:
        pd.DataFrame(X, columns=names).to_sql("rows", database, index=False)
        frame = pd.read_sql_query(model.export_sql(dialect="sqlite", table="rows"), database)
    assert (frame["prediction"] == model.predict(pd.DataFrame(X, columns=names))).all()


@pytest.mark.parametrize("path", [".", "missing.csv", "s3://bucket/none.csv"])
def test_48_a_folder_a_missing_and_a_remote_file_are_exit_status_3(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["fit", path, "--target", "y"]) == 3
    assert capsys.readouterr().err.startswith("error: ")


def test_49_fits_in_threads_and_after_a_fork_are_those_of_one_thread():
    expected = fitted().tree_
    with ThreadPoolExecutor(4) as pool:
        assert all(model.tree_ == expected for model in pool.map(lambda _: fitted(n_jobs=2), range(4)))
    child = os.fork()
    if child == 0:
        os._exit(0 if fitted().tree_ == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_50_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    fitted().save(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(secateur.errors.OutputError, match="No space left"):
        fitted(max_depth=1).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def started(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env={"PATH": "/nowhere", "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True, check=False,
    )  # fmt: skip


def test_51_no_home_and_a_read_only_folder_are_supported():
    process = started("import secateur; print(secateur.grow([[0.0], [1.0]], [0, 1])[0].n_leaves)", HOME="/nonexistent")
    assert (process.returncode, process.stdout) == (0, b"2\n")


def test_52_another_locale_terminal_and_width_give_plain_text():
    code = "import secateur; t, c = secateur.grow([[0.5], [1.5]], ['\\u00e9', 'b']); print(secateur.export_text(t, c))"
    process = started(code, LC_ALL="C", PYTHONIOENCODING="ascii:backslashreplace", COLUMNS="20", TZ="Europe/Berlin")
    assert process.returncode == 0
    assert b"x0 <= 1" in process.stdout


def test_every_bad_input_has_its_test():
    names = " ".join(name for name in globals() if name.startswith("test_"))
    assert [n for n in range(1, 53) if f"_{n:02}_" not in names] == []

"""A short run of the search for hostile arguments that end in an unclear error; `scripts/fuzz arguments` is longer."""

import pytest

from hostile_arguments import ArgumentFuzzer


@pytest.mark.parametrize("seed", range(4))
def test_hostile_arguments_give_a_result_or_a_clear_error(seed):
    calls = ArgumentFuzzer(seed)
    for _ in range(400):
        try:
            calls.step()
        except Exception as error:  # noqa: BLE001 every exception is a fault, whatever its type
            pytest.fail(f"{calls.failing_document}: {type(error).__name__}: {error}")

    assert len(calls.n_cases) == 6
    assert min(calls.n_valid.values()) > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda fuzzer: fuzzer.model.snip(0.5),
        lambda fuzzer: fuzzer.model.snip(True),
        lambda fuzzer: fuzzer.model.explain(fuzzer.X, actionable=3.5),
        lambda fuzzer: fuzzer.model.score(fuzzer.X, [1] * 60),
        lambda fuzzer: fuzzer.model.score(fuzzer.X, ["no"] * 59),
    ],
)
def test_what_the_search_found_stays_an_error_of_the_package(call):
    from secateur import SecateurError

    fuzzer = ArgumentFuzzer(0)
    with pytest.raises(SecateurError):
        call(fuzzer)

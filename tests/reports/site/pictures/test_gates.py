"""Gates of recurrent cells, with numbers worked out by hand."""

from __future__ import annotations

from shipped import example_case

from dmlcheck.cases.prepare import prepare
from dmlcheck.reports.site.pictures.gates import GateCell, Part, gated, gru, lstm, rnn
from dmlcheck.reports.site.pictures.shown import Shown


def values(parts: list[Part]) -> dict[str, float]:
    return {part.name: part.value for part in parts}


def test_lstm_has_four_gates() -> None:
    # i = 2 * 1 + 1 * 10 = 12, o = 24, f = 36, g = 48; C = 36 * 5 + 12 * 48 = 756, H = 24 * 756 = 18144
    found = values(lstm(GateCell(2, [1, 2, 3, 4], [10, 20, 30, 40], 1, 5)))
    assert found == {"X": 2, "H before": 1, "C before": 5, "i": 12, "o": 24, "f": 36, "g": 48, "C": 756, "H": 18144}


def test_gru_mixes_the_state_with_a_candidate() -> None:
    # z = 0.5, r = 2 * 0.5 = 1, n = 2 * 3 + 1 * 4 * 2 = 14, H = 0.5 * 14 + 0.5 * 4 = 9
    found = values(gru(GateCell(2, [0.25, 0.5, 3], [0, 0, 2], 4)))
    assert found == {"X": 2, "H before": 4, "z": 0.5, "r": 1, "n": 14, "H": 9}


def test_rnn_has_no_gate() -> None:
    (*_, last) = rnn(GateCell(2, [3], [2], 3))
    assert (last.value, last.words, last.column) == (12, "2 × 3 + 3 × 2", 2)


def test_the_last_step_gives_the_output_of_the_example() -> None:
    for operator, output in (("LSTM", "Single"), ("GRU", "Sequence"), ("RNN", "Sequence")):
        name = f"DML_OPERATOR_{operator}"
        case = example_case(name)
        prepared = prepare(case, case.level)
        assert prepared.desc is not None
        (picture,) = gated(Shown(prepared.desc, prepared.inputs, []))
        last, words = picture.lines[-1]
        assert (last, words.rpartition(" = ")[2]) == (
            "H",
            f"{prepared.expected[f'Output{output}Tensor'][1].reshape(-1)[-1]:g}",
        )

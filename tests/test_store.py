"""Stored parts come back as they were saved, and files of another computation are refused."""

import numpy as np
import pytest

from gaugelib import store

SHAPES = {"q": ("done", 2), "to": ("done", 3), "m": np.arange(4), "x": ("other",)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "parts.npz"


def arrays(**other):
    return {"q": np.ones((5, 2)), "to": np.zeros((5, 3), dtype=np.int8), "m": np.arange(4)} | other


def test_without_a_file_nothing_is_done(path):
    assert store.load(path, **SHAPES) == {}


def test_what_was_saved_comes_back_with_its_types(path):
    saved = arrays(x=np.ones(7), q=np.full((5, 2), np.inf, dtype=np.float32))
    store.save(path, **saved)
    loaded = store.load(path, **SHAPES)
    assert list(loaded) == list(saved)
    for name, array in saved.items():
        assert loaded[name].dtype == array.dtype and np.array_equal(loaded[name], array)


def test_an_array_that_comes_last_may_still_be_missing(path):
    store.save(path, m=np.arange(4))
    assert list(store.load(path, **SHAPES)) == ["m"]


def test_a_save_that_fails_leaves_the_old_file(path, monkeypatch):
    store.save(path, **arrays())
    before = path.read_bytes()

    def stop(target, **_):
        target.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", stop)
    with pytest.raises(KeyboardInterrupt):
        store.save(path, **arrays(m=np.zeros(4)))
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


def test_two_processes_never_write_to_one_file(path, monkeypatch):
    written = []
    monkeypatch.setattr(np, "savez_compressed", lambda target, **_: written.append(target))
    monkeypatch.setattr("os.replace", lambda *_: None)
    for process in (7, 8):
        monkeypatch.setattr("os.getpid", lambda process=process: process)
        store.save(path, **arrays())
    assert written[0] != written[1] and {x.parent for x in written} == {path.parent}


def test_nan_is_what_is_not_computed_yet_only_in_gaps(path):
    store.save(path, **arrays(q=np.full((5, 2), np.nan)))
    assert np.isnan(store.load(path, gaps=("q",), **SHAPES)["q"]).all()
    with pytest.raises(ValueError, match="q must have no NaN, got 10"):
        store.load(path, gaps=("to",), **SHAPES)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"q": np.ones((5, 3))}, r"q must have shape \('done', 2\), got \(5, 3\)"),
        ({"q": np.ones(5)}, r"q must have shape \('done', 2\), got \(5,\)"),
        ({"q": np.float64(1)}, r"q must have shape \('done', 2\), got \(\)"),
        ({"m": np.arange(5)}, r"m must be \[0 1 2 3\], got \[0 1 2 3 4\]"),
        ({"q": np.ones((4, 2))}, r"of one length, got .*'done', 4.*'done', 5"),
        ({"m": np.arange(1, 5)}, r"m must be \[0 1 2 3\], got \[1 2 3 4\]"),
        ({"w": np.ones(2)}, "must hold q, to, m, x, got q, to, m, w"),
    ],
)
def test_arrays_of_another_computation_are_refused(path, other, message):
    store.save(path, **arrays(**other))
    with pytest.raises(ValueError, match=message):
        store.load(path, **SHAPES)


def test_more_parts_than_there_can_be_are_refused(path):
    store.save(path, **arrays())
    assert len(store.load(path, most={"done": 5}, **SHAPES)["q"]) == 5
    with pytest.raises(ValueError, match="parts.npz: done must be at most 4, got 5"):
        store.load(path, most={"done": 4}, **SHAPES)


@pytest.mark.parametrize("damage", [lambda x: b"", lambda x: x[:-30], lambda x: b"q = 1"])
def test_a_file_that_is_not_whole_is_refused_by_name(path, damage):
    store.save(path, **arrays())
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match="parts.npz must be a whole .npz file"):
        store.load(path, **SHAPES)


def test_an_array_that_was_spoilt_is_refused_by_name(path):
    store.save(path, **arrays())
    whole = bytearray(path.read_bytes())
    whole[60:70] = bytes(10)
    path.write_bytes(whole)
    with pytest.raises(ValueError, match="parts.npz must be a whole .npz file"):
        store.load(path, **SHAPES)


def test_one_array_without_a_name_is_refused(path):
    with path.open("wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(ValueError, match="parts.npz must be a whole .npz file"):
        store.load(path, **SHAPES)


def test_arrays_of_one_length_come_together(path):
    store.save(path, q=np.ones((5, 2)), m=np.arange(4))
    with pytest.raises(ValueError, match=r"must hold all of \['q', 'to'\], got \['m', 'q'\]"):
        store.load(path, **SHAPES)

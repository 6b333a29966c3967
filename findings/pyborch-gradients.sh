#!/usr/bin/env bash
# pyborch 1.14.1 gives the gradient of corrcoef without the part that scales, and one of an element that is left out.
#
# The correlation divides the covariance by two standard deviations, which depend on the input as well. pyborch's
# gradient takes them as fixed numbers: a step along it changes the scale, to which the correlation is blind.
# repeat_interleave(x, [1, 0, 3, 2]) leaves x[1] out of its result, and yet x[1] gets a gradient, that of the element
# that follows. The results themselves are right, and so are the gradients of cov and of repeats above 0.
#
# Version: pyborch 1.14.1 (2026-09), its core on NumPy (import borch).
# Documented: the package's page: "every value held to real PyTorch's"; the gradient of a function is its derivative.
#   NumPy's own corrcoef and repeat give the difference quotients here, in double precision.
# Seen: 2026-11-30. Needs Python 3.11 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-cache-dir --no-compile --no-deps --only-binary=:all: \
    pyborch==1.14.1 numpy==2.4.6
venv/bin/python - <<'PY'
import sys
from importlib.metadata import version

import borch
import numpy as np

changed = []


def claim(holds, what):
    print(("as described: " if holds else "CHANGED: ") + what)
    changed.extend([what] * (not holds))


def quotients(function, x):
    """The derivative of a number that NumPy computes, by differences of one element at a time."""
    slopes = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        slopes[place] = (function(x + step) - function(x - step)) / 2e-6
    return slopes


def gradient(function, x):
    leaf = borch.tensor(x.astype(np.float32), requires_grad=True)
    result = function(leaf)
    result.backward()
    return result.item(), leaf.grad.numpy().astype(float)


def shows(name, mine, theirs, x):
    value, slopes = gradient(mine, x)
    right = quotients(theirs, x)
    print(f"{name}: {value:.4f}; gradient: pyborch {np.round(slopes, 3).tolist()}, numpy {np.round(right, 3).tolist()}")
    claim(abs(value - theirs(x)) < 1e-4, "the result is right")
    return slopes, right


print(f"pyborch {version('pyborch')}, numpy {version('numpy')}")
rows = np.array([[1.0, 2, 4], [3, 1, 0]])
got, right = shows("cov", lambda x: borch.cov(x)[0, 1], lambda x: np.cov(x)[0, 1], rows)
claim(np.allclose(got, right, atol=1e-3), "the gradient of cov is right")
fixed = right / np.sqrt(np.cov(rows)[0, 0] * np.cov(rows)[1, 1])
got, right = shows("corrcoef", lambda x: borch.corrcoef(x)[0, 1], lambda x: np.corrcoef(x)[0, 1], rows)
centred = rows - rows.mean(axis=1, keepdims=True)
along = [float(slopes[0] @ centred[0]) for slopes in (got, right)]
print(f"along the row itself, which only scales it: pyborch {along[0]:.4f}, numpy {abs(along[1]):.4f}")
claim(abs(along[1]) < 1e-4, "by hand: scaling a row does not change a correlation, so 0")
claim(np.allclose(got, fixed, atol=1e-3), "pyborch: the gradient of cov, divided by the deviations")

x, weights = np.array([1.0, 2, 3, 4]), np.array([1, 2, 3, 4, 5, 6])


def repeated(*counts):
    return shows(f"repeat_interleave, {counts}",
        lambda x: (borch.repeat_interleave(x, borch.tensor(list(counts))) * borch.tensor(weights)).sum(),
        lambda x: np.repeat(x, counts) @ weights, x)


got, right = repeated(1, 0, 3, 2)
print("by hand: 1, nothing, 2 + 3 + 4, 5 + 6")
claim(np.allclose(right, [1, 0, 9, 11]), "numpy: as by hand")
claim(np.allclose(got, [1, 2, 9, 11]), "pyborch: 2 for the element that is left out")
got, right = repeated(1, 1, 2, 2)
claim(np.allclose(got, right), "counts above 0: right")
sys.exit(f"{len(changed)} changed" if changed else 0)
PY
echo "The behaviour is as described."

#!/usr/bin/env bash
# TensorFlow.js 4.22.0: the gradient of a resize with halfPixelCenters is that of a resize without it.
#
# resizeBilinear and resizeNearestNeighbor obey halfPixelCenters in their results. Their gradients share out what comes
# back as if it were false, so that it reaches other elements than those that the result was made of. With the default,
# false, and with alignCorners, gradient and result belong together.
#
# Version: @tensorflow/tfjs 4.22.0, its backend cpu.
# Documented: TensorFlow.js, tf.grad: the gradient of f; tf.image.resizeBilinear and tf.image.resizeNearestNeighbor,
#   halfPixelCenters. Both are linear in the image, so that the gradient follows from the results of single ones,
#   which are measured here, and from the hand.
# Seen: 2026-11-30. Needs Node.js 18 or newer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work npm_config_cache=$work/cache npm_config_update_notifier=false
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @tensorflow/tfjs@4.22.0
node - 2> log <<'JS' || { cat log; exit 1; }
console.warn = () => {};  // an advice about another backend
const tf = require('@tensorflow/tfjs');

let changed = 0;

function claim(holds, what) {
  console.log((holds ? 'as described: ' : 'CHANGED: ') + what);
  changed += holds ? 0 : 1;
}

const same = (one, other) => one.length === other.length && one.every((x, at) => Math.abs(x - other[at]) < 0.1);

// What each element of the image adds to the sum of seed * f(image): f of a one at its place, and zeros.
function measured(f, shape, seed) {
  const count = shape.reduce((a, b) => a * b);
  const alone = at => tf.tensor(Array.from({length: count}, (_, index) => (index === at ? 1 : 0)), shape);
  return Array.from({length: count}, (_, at) => f(alone(at)).flatten().dot(tf.tensor1d(seed)).arraySync());
}

async function main() {
  await tf.setBackend('cpu');
  console.log(`TensorFlow.js ${tf.version.tfjs}, backend ${tf.getBackend()}`);
  const nearest = (width, half) => x => tf.image.resizeNearestNeighbor(x, [1, width], false, half);
  const bilinear = half => x => tf.image.resizeBilinear(x, [2, 4], false, half);
  const three = [1, 1, 3, 1];
  const square = [1, 2, 2, 1];
  const rows = [1, 10, 100, 1000, 0, 0, 0, 0];  // seeds of the first row of two
  for (const [name, f, shape, seed, hand, wrong] of [
    ['nearest, 3 to 5', nearest(5, false), three, [1, 10, 100, 1000, 10000], [11, 1100, 10000], null],
    ['nearest, 3 to 5, half pixels', nearest(5, true), three, [1, 10, 100, 1000, 10000], [11, 100, 11000],
      [11, 1100, 10000]],
    ['nearest, 3 to 2, half pixels', nearest(2, true), three, [1, 10], [1, 0, 10], [1, 10, 0]],
    // Four results: a, (a + b) / 2, b, b; with half pixels a, (3 a + b) / 4, (a + 3 b) / 4, b.
    ['bilinear, 2 to 4', bilinear(false), square, rows, [6, 1105, 0, 0], null],
    ['bilinear, 2 to 4, half pixels', bilinear(true), square, rows, [33.5, 1077.5, 0, 0], [6, 1105, 0, 0]],
  ]) {
    const image = tf.range(1, shape[1] * shape[2] + 1).reshape(shape);
    const gradient = Array.from(tf.grad(f)(image, tf.tensor(seed, f(image).shape)).dataSync());
    console.log(`${name}: results ${f(image).dataSync()}; gradient ${gradient}, by hand ${hand}`);
    claim(same(measured(f, shape, seed), hand), 'the results agree with the hand');
    claim(same(gradient, wrong || hand), wrong ? 'the gradient is that without half pixels' : 'the gradient is right');
  }
}

main().then(() => process.exit(changed ? 1 : 0), error => { console.error(error); process.exit(1); });
JS
echo "The behaviour is as described."

#!/usr/bin/env bash
# TensorFlow.js 4.22.0: the gradients of padded average pools and of three-dimensional maximum pools are wrong.
#
# An average pool divides the sum of a window by the number of elements in it, without the padding. Its gradient divides
# by all elements of the window. So the elements at the border get too little. A maxPool3d with a window higher than
# wide has a gradient that is partly or wholly zero: what belongs to an element is lost. maxPool is right.
#
# Version: @tensorflow/tfjs 4.22.0, its backend cpu.
# Documented: TensorFlow.js, tf.grad: the gradient of f; tf.avgPool and tf.maxPool3d. Expected are the values by hand,
#   and differences of the function's own results.
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

const same = (one, other) => one.length === other.length && one.every((x, at) => Math.abs(x - other[at]) < 1e-2);

// What a step of one half up and down at each element changes in the sum of seed * f(x).
function differences(f, values, shape, seed) {
  const total = changedValues => f(tf.tensor(changedValues, shape)).flatten().dot(tf.tensor1d(seed)).arraySync();
  const moved = (at, step) => values.map((x, index) => (index === at ? x + step : x));
  return values.map((_, at) => total(moved(at, 0.25)) - total(moved(at, -0.25))).map(x => 2 * x);
}

function both(f, values, shape, seed) {
  const x = tf.tensor(values, shape);
  const gradient = tf.grad(f)(x, tf.tensor(seed, f(x).shape));
  return {found: Array.from(gradient.dataSync()), measured: differences(f, values, shape, seed)};
}

async function main() {
  await tf.setBackend('cpu');
  console.log(`TensorFlow.js ${tf.version.tfjs}, backend ${tf.getBackend()}`);

  // The three results are (a + b) / 2, (a + b + c) / 3 and (b + c) / 2.
  for (const [name, f, shape] of [
    ['avgPool', x => tf.avgPool(x, [1, 3], 1, 'same'), [1, 1, 3, 1]],
    ['avgPool3d', x => tf.avgPool3d(x, [1, 1, 3], 1, 'same'), [1, 1, 1, 3, 1]],
  ]) {
    const results = Array.from(f(tf.tensor([1, 2, 3], shape)).dataSync());
    claim(same(results, [1.5, 2, 2.5]), `${name} divides by the elements in the window`);
    const {found, measured} = both(f, [1, 2, 3], shape, [6, 60, 600]);
    console.log(`${name} of three, padding same: gradient ${found}, by hand 23,323,320`);
    claim(same(measured, [3 + 20, 3 + 20 + 300, 20 + 300]), 'the differences agree with the hand');
    claim(same(found, [(6 + 60) / 3, (6 + 60 + 600) / 3, (60 + 600) / 3]), 'the gradient divides by three everywhere');
  }

  // Increasing values: the largest of a window is its last.
  const f = size => x => tf.maxPool3d(x, size, 1, 'valid');
  const four = [1, 2, 3, 4];
  for (const [shape, size, wrong] of [
    [[1, 1, 1, 4, 1], [1, 1, 2], null], [[1, 4, 1, 1, 1], [2, 1, 1], null], [[1, 1, 4, 1, 1], [1, 2, 1], [0, 0, 0, 0]],
  ]) {
    const {found, measured} = both(f(size), four, shape, [1, 10, 100]);
    console.log(`maxPool3d of ${four} as ${shape}, window ${size}: gradient ${found}, by hand 0,1,10,100`);
    claim(same(measured, [0, 1, 10, 100]), 'the differences agree with the hand');
    claim(same(found, wrong || [0, 1, 10, 100]), wrong ? 'the gradient is zero' : 'right');
  }
  const {found, measured} = both(f([1, 2, 1]), [1, 4, 2, 3], [1, 1, 4, 1, 1], [1, 10, 100]);
  console.log(`maxPool3d of 1,4,2,3, window 1,2,1: gradient ${found}, by hand 0,11,0,100`);
  claim(same(measured, [0, 11, 0, 100]), 'the differences agree with the hand');
  claim(same(found, [0, 10, 0, 0]), 'what comes from the lower element of a window is lost');
  const flat = both(x => tf.maxPool(x, [2, 1], 1, 'valid'), [1, 4, 2, 3], [1, 4, 1, 1], [1, 10, 100]);
  claim(same(flat.found, [0, 11, 0, 100]), 'maxPool with the window 2,1 is right');
}

main().then(() => process.exit(changed ? 1 : 0), error => { console.error(error); process.exit(1); });
JS
echo "The behaviour is as described."

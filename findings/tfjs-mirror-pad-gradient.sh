#!/usr/bin/env bash
# TensorFlow.js 4.22.0: the gradient of mirrorPad leaves out the mirrored elements.
#
# An element that stands at two or three places of the padded result has the sum of what comes back to all of them. The
# gradient of mirrorPad is only the part of the middle, as if the border were constants. pad, whose border is constant,
# is right with it, and so is the same border made with gather.
#
# Version: @tensorflow/tfjs 4.22.0, its backend cpu.
# Documented: TensorFlow.js, tf.grad: the gradient of f; tf.mirrorPad: "reflect" leaves out the edge, "symmetric"
#   repeats it. The padding is linear, so that the gradient follows from the results of single ones, which are measured
#   here, and from the hand.
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

async function main() {
  await tf.setBackend('cpu');
  console.log(`TensorFlow.js ${tf.version.tfjs}, backend ${tf.getBackend()}`);
  const x = tf.tensor1d([1, 2, 3]);
  const seed = [1, 10, 100, 1000, 10000, 100000, 1000000];
  const middle = [100, 1000, 10000];
  const gathered = places => values => tf.gather(values, tf.tensor1d(places, 'int32'));
  for (const [name, f, padded, hand, found] of [
    ['pad', values => tf.pad(values, [[2, 2]]), [0, 0, 1, 2, 3, 0, 0], middle, middle],
    ['mirrorPad, reflect', values => tf.mirrorPad(values, [[2, 2]], 'reflect'), [3, 2, 1, 2, 3, 2, 1],
      [1000100, 101010, 10001], middle],
    ['mirrorPad, symmetric', values => tf.mirrorPad(values, [[2, 2]], 'symmetric'), [2, 1, 1, 2, 3, 3, 2],
      [110, 1001001, 110000], middle],
    ['gather of the reflected', gathered([2, 1, 0, 1, 2, 1, 0]), [3, 2, 1, 2, 3, 2, 1], [1000100, 101010, 10001],
      [1000100, 101010, 10001]],
  ]) {
    const gradient = Array.from(tf.grad(f)(x, tf.tensor1d(seed)).dataSync());
    const alone = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(one => f(tf.tensor1d(one)).dot(tf.tensor1d(seed)).arraySync());
    console.log(`${name}: ${f(x).dataSync()}; gradient ${gradient}, by hand ${hand}`);
    claim(same(f(x).arraySync(), padded), 'the result is right');
    claim(same(alone, hand), 'results of single ones agree with the hand');
    claim(same(gradient, found), same(found, hand) ? 'the gradient is right' : 'the gradient is that of the middle');
  }
}

main().then(() => process.exit(changed ? 1 : 0), error => { console.error(error); process.exit(1); });
JS
echo "The behaviour is as described."

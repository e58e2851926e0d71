// Evidence: golden vectors. The module of main.rs, run by Node's JavaScript engine, draws the values of an oracle that shares no code
// with it.
//
//     node rust/core/examples/browser/check.mjs target/wasm32-unknown-unknown/release/examples/browser.wasm
//
// A page sets its key by `set_key(...crypto.getRandomValues(new BigUint64Array(4)))`.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
const { memory, set_key, answers, release } = instance.exports;

/** A float64 from its bits in hexadecimal digits. */
function float(bits) {
    return new Float64Array(new BigUint64Array([BigInt(`0x${bits}`)]).buffer)[0];
}

/** The key of a seed (docs/contract.md, section 1) as four words. */
function keyOf(seed) {
    const text = new DataView(new TextEncoder().encode("stairnoise/seed1").buffer);
    const number = BigInt(seed);
    return [BigInt.asUintN(64, number), number >> 64n, text.getBigUint64(0, true), text.getBigUint64(8, true)];
}

/** True answers as they may be shown. */
function released(truths, eps, sensitivity) {
    const place = answers(truths.length);
    assert.notEqual(place, 0, "there is no memory");
    // A call may have moved the memory, so views are made after it.
    new Float64Array(memory.buffer, place, truths.length).set(truths);
    const shown = release(eps, sensitivity);
    assert.notEqual(shown, 0, "nothing was released");
    return [...new Float64Array(memory.buffer, shown, truths.length)];
}

/** Noise alone: what zeros become. */
function noise(n, eps, sensitivity) {
    return released(new Array(n).fill(0), eps, sensitivity);
}

answers(1);
assert.equal(release(1, 1), 0, "there is no key yet");

// A page draws every fill from its first value on, so values far inside a fill would take too long.
const vectors = JSON.parse(await readFile(new URL("../../../../tests/vectors/fills.json", import.meta.url), "utf8"));
const near = vectors.filter((entry) => entry.kind === "laplace" && entry.index < 100_000);
assert.ok(near.length > 0);
let values = 0;
for (const entry of near) {
    set_key(...keyOf(entry.seed));
    for (let fill = 0; fill < entry.fill; fill++) {
        noise(1, 1, 1);
    }
    const drawn = noise(entry.index + entry.count, float(entry.eps), float(entry.sensitivity)).slice(entry.index);
    assert.deepEqual(drawn, entry.values.map((steps) => steps * 2 ** entry.log2_g));
    values += drawn.length;
}

// The false-alarm rate is 1000 times the probability of noise 0, which is 2⁻³³.
set_key(...crypto.getRandomValues(new BigUint64Array(4)));
const truths = Array.from({ length: 1000 }, (_, i) => 100 * i);
assert.ok(released(truths, 1, 1).every((shown, i) => shown !== truths[i] && Math.abs(shown - truths[i]) < 100));
answers(1);
assert.equal(release(-1, 1), 0, "there is no such mechanism");
const place = answers(1);
new Float64Array(memory.buffer, place, 1)[0] = NaN;
assert.equal(release(1, 1), 0, "an answer is not finite");
assert.equal(answers(2 ** 29), 0, "so much memory has no address");
console.log(`${near.length} fills of golden vectors, ${values} values, drawn in ${process.release.name} ${process.version}`);

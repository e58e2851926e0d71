// Runs a WASI program in Node, with this repository readable at its own path: cargo's runner for tests on wasm32-wasip1.
//
//     node --no-warnings scripts/run_wasi.mjs PROGRAM [ARGUMENT...]
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { WASI } from "node:wasi";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const [program, ...rest] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...rest], preopens: { [root]: root } });
const module = await WebAssembly.compile(await readFile(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));

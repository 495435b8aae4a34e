// Times the hot paths beside a bare HTTP server in the same run. Ratios count; absolute figures move with the machine.
import { core } from './core.mjs';
import { setUp } from './setup.mjs';

await setUp();
const found = await core();
if (!('binary' in found)) {
  process.stderr.write(`the bench needs a core: ${found.missing}\n`);
  process.exit(1);
}
process.env.WEIR_ENGINE_BIN = found.binary;
const { bench } = await import('../dist/test/bench/bench.js');
const at = process.argv.indexOf('--clients');
await bench(at < 0 ? 10_000 : Number(process.argv[at + 1]));

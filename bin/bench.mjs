// Times the hot paths beside a bare HTTP server in the same run. Compare ratios; absolute numbers depend on the machine.
// `hostile` prints how long many hostile requests delay the subscription listener; `--only text` selects some.
import { core } from './core.mjs';
import { setUp } from './setup.mjs';

await setUp();
const found = await core();
if (!('binary' in found)) {
  process.stderr.write(`the bench needs a core: ${found.missing}\n`);
  process.exit(1);
}
process.env.WEIR_ENGINE_BIN = found.binary;
const at = process.argv.indexOf('--clients');
const clients = at < 0 ? undefined : Number(process.argv[at + 1]);
if (process.argv[2] === 'hostile') {
  const { benchHostile } = await import('../dist/test/bench/hostile.js');
  const only = process.argv.indexOf('--only');
  await benchHostile(clients ?? 1000, only < 0 ? '' : process.argv[only + 1]);
} else {
  const { bench } = await import('../dist/test/bench/bench.js');
  await bench(clients ?? 10_000);
}

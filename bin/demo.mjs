// Shows the whole panel at work: real inbounds, real traffic, counted bytes beside moved bytes.
import { core } from './core.mjs';
import { setUp } from './setup.mjs';

await setUp();
const found = await core();
const { demo } = await import('../dist/test/demo/demo.js');
try {
  if (!('binary' in found)) throw new Error(found.missing);
  process.exitCode = await demo(found);
} catch (error) {
  process.stderr.write(`the demo failed: ${error.message}\n`);
  process.exitCode = 1;
}

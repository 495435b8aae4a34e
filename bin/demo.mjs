// Shows the whole panel at work: real inbounds, real traffic, counted bytes beside moved bytes.
import { build, install } from './setup.mjs';

await install();
await build();
const { main } = await import('../dist/test/demo/main.js');
process.exitCode = await main();

// The command line as a process of its own, without the set-up that `bin/weir.mjs` does first.
import { main } from '../../cli/weir.js';

await main();

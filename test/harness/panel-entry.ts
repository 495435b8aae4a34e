// The panel as a process of its own, without the set-up that `npm start` does first.
import { main } from '../../kernel/main.js';

await main();

// The panel as a process of its own, without the set-up that `npm start` does first. It ends with the process that started it.
import { main } from '../../panel/main.js';

process.stdin.resume().on('end', () => process.kill(process.pid, 'SIGTERM'));
await main();

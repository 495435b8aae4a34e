// The process of a panel of `weir dev`: loads the code, waits for its turn, boots, and ends with the process that started it.
import type { FromPanel, ToPanel } from './panel-child.js';

const tell = (message: FromPanel): void => void process.send?.(message, () => undefined);
const leave = new AbortController();
// Until the panel has handlers of its own nothing is open that would have to be closed.
let isOpen = false;
const opened = new Promise<void>((resolve) => {
  process.on('message', (message: ToPanel) => {
    if (message === 'open') resolve();
    else if (isOpen) leave.abort();
    else process.exit(0);
  });
});
process.on('disconnect', () => {
  if (isOpen) process.emit('SIGTERM');
  else process.exit(0);
});

const { main } = await import('../../panel/main.js');
const { readPreset } = await import('../../panel/choose.js');
const { findPlugins } = await import('../../panel/find.js');
await findPlugins(await readPreset('full'));
tell('loaded');
await opened;
isOpen = true;
await main({ leave: leave.signal });
tell('ready');

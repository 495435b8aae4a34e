// The process of a panel of `weir dev`: loads the code, waits for its turn, boots, and ends with the process that started it.
import { readFile } from 'node:fs/promises';
import type { FromPanel, ToPanel } from './panel-child.js';

const { dependencies = {} } = JSON.parse(
  await readFile(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { dependencies?: Record<string, string> };
const LIBRARIES = Object.keys(dependencies);

const tell = (message: FromPanel): void => void process.send?.(message, () => undefined);
const leave = new AbortController();
// Until the panel has handlers of its own nothing is open that would have to be closed.
let isOpen = false;
const asked = (what: ToPanel): Promise<void> =>
  new Promise((resolve) => process.on('message', (message) => message === what && resolve()));
const [load, open] = [asked('load'), asked('open')];
process.on('disconnect', () => {
  if (isOpen) process.emit('SIGTERM');
  else process.exit(0);
});
void asked('leave').then(() => {
  if (isOpen) leave.abort();
  else process.exit(0);
});

// The libraries take most of the time of loading, and do not change while somebody works at the panel.
for (const library of LIBRARIES) await import(library).catch(() => undefined);
await load;
const { main } = await import('../../panel/main.js');
const { readPreset } = await import('../../panel/choose.js');
const { findPlugins } = await import('../../panel/find.js');
await findPlugins(await readPreset('full'));
tell('loaded');
await open;
isOpen = true;
await main({ leave: leave.signal });
tell('ready');

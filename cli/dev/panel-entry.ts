// The panel's process in `weir dev`: loads the code, waits for the signal to boot, and exits with its parent process.
import { readFile } from 'node:fs/promises';
import type { FromPanel, ToPanel } from './panel-child.js';

const { dependencies = {} } = JSON.parse(
  await readFile(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { dependencies?: Record<string, string> };
const LIBRARIES = Object.keys(dependencies);

const tell = (message: FromPanel): void => void process.send?.(message, () => undefined);
const leave = new AbortController();
// Before the panel installs its own handlers nothing is open that needs closing.
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

// The libraries take most of the loading time and do not change during development.
for (const library of LIBRARIES) await import(library).catch(() => undefined);
await load;
const { main } = await import('../../panel/main.js');
const { readPreset } = await import('../../panel/choose-plugins.js');
const { findPlugins } = await import('../../panel/find-plugins.js');
await findPlugins(await readPreset('full'));
tell('loaded');
await open;
isOpen = true;
await main({ leave: leave.signal, selfChecks: true });
tell('ready');

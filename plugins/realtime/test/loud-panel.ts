// A panel in a process of its own, so that its memory can be measured: clients move bytes in every poll, and every two
// seconds there is a large message. Its parent asks for its memory over IPC.
import { contribute, definePlugin, job } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { type LiveOutput, LiveTypes } from '../contract.js';

const CLIENTS = 200;
const LARGE = 100_000;

export interface LoudPanel {
  readonly url: string;
  readonly cookie: string;
}
export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

let out: LiveOutput | undefined;
const loud = definePlugin({
  name: 'loud',
  version: '0.0.0',
  api: 1,
  about: 'Sends a large message every two seconds.',
  contributes: () => [contribute(LiveTypes, { type: 'loud', start: (given) => void (out = given) })],
  jobs: () => [job('speak', '2s', () => out?.send('x'.repeat(LARGE)))],
});
const engine = new FakeEngine();
const panel = await TestPanel.boot({ plugins: [engine.plugin, loud] });
const inboundId = await panel.addInbound();
const ids: number[] = [];
for (let i = 0; i < CLIENTS; i++) ids.push((await panel.addClient(`client-${i}`, [inboundId])).id);
setInterval(() => {
  for (const id of ids) engine.move(inboundId, id, 1000, 10_000);
}, 1000).unref();

process.on('message', () => {
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ rss, heapUsed, external } satisfies Memory);
});
process.on('disconnect', () => process.exit());
process.send?.({ url: panel.url, cookie: panel.cookie } satisfies LoudPanel);

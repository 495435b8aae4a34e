// A panel in a process of its own that kills itself at the worst moments of a portion: `during:2` before the second one is
// committed, `after:2` between its commit and everything that follows it.
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { afterClientSave, duringClientSave } from '../../clients/contract.js';

export interface DyingPanel {
  readonly url: string;
  readonly cookie: string;
  readonly csrf: string;
}

const [dataDirectory = '', moment = ''] = process.argv.slice(2);
const [stage, number] = moment.split(':');
const counts: Record<string, number> = { during: 0, after: 0 };

/** Counts what updates several clients. */
function passes(at: string, changes: readonly { readonly kind: string }[]): void {
  if (changes.length < 2 || changes.some(({ kind }) => kind !== 'updated')) return;
  counts[at] = (counts[at] ?? 0) + 1;
  if (at === stage && counts[at] === Number(number)) process.kill(process.pid, 'SIGKILL');
}
const dying = definePlugin({
  name: 'dying',
  version: '0.0.0',
  api: 1,
  about: 'Kills the panel.',
  taps: () => [
    tap(duringClientSave, ({ changes }) => passes('during', changes)),
    tap(afterClientSave, ({ changes }) => passes('after', changes)),
  ],
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, dying], dataDirectory });
process.send?.({ url: panel.url, cookie: panel.cookie, csrf: panel.csrf } satisfies DyingPanel);

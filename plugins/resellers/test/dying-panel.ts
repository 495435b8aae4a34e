// A panel in a process of its own that kills itself in the write of a reseller: `during` before it is committed, `after`
// between its commit and the reply.
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { afterClientSave, duringClientSave } from '../../clients/contract.js';

const [dataDirectory = '', moment = ''] = process.argv.slice(2);
const dies = (at: string, who: { readonly name: string }): void => {
  if (at === moment && who.name === 'north') process.kill(process.pid, 'SIGKILL');
};
const dying = definePlugin({
  name: 'dying',
  version: '0.0.0',
  api: 1,
  about: 'Kills the panel.',
  taps: () => [
    tap(duringClientSave, ({ who }) => dies('during', who)),
    tap(afterClientSave, ({ who }) => dies('after', who)),
  ],
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, dying], dataDirectory });
process.send?.({ url: panel.url, cookie: panel.cookie, csrf: panel.csrf });

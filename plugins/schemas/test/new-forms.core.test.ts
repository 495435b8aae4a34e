// New forms on the real core: it serves what the schemas say that it serves.
import test from 'ava';
import { TestPanel } from '../../../test/harness/index.js';
import { addEvery } from './every-form.js';

test('the core takes a new form of every protocol over every network and security', async (t) => {
  await using panel = await TestPanel.boot();
  // A tun makes an interface of this machine.
  t.true((await addEvery(t, panel, (protocol) => protocol !== 'tun')) > 60);
});

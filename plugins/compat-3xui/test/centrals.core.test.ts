// A central of the older kind counts the bytes that a client program pulls through the real core of its node, also over a
// restart of that core that it asks for.
import test from 'ava';
import { connect, MIB, openPanel, openServer, poll } from '../../../test/engine/user.js';
import { freePort } from '../../../test/harness/index.js';
import { OlderCentral, wireClient } from './older-central.js';

test('what a client pulls is what a central of the older kind counts, and its cut is a cut', async (t) => {
  t.timeout(120_000);
  const panel = await openPanel(t);
  const server = await openServer(t);
  const body = { name: 'central', kind: 'node' };
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', { body });
  const central = new OlderCentral(`${panel.url}/`, { token });
  const ann = wireClient('ann');
  const port = await freePort();
  await central.reconcile([{ tag: `n3-in-${port}-tcp`, port, remark: '', enable: true, clients: [ann] }]);
  const program = await connect(t, panel, 'ann', server);
  await central.pull();
  let pulled = Number(await program.download(5 * MIB));
  await poll(panel);
  await central.pull();
  t.true((await central.json('server/restartXrayService')).success);
  await central.pull();
  pulled += Number(await program.download(3 * MIB));
  await poll(panel);
  await central.pull();
  const counted = central.counted.get('ann') ?? 0;
  t.true(counted >= pulled && counted <= pulled * 1.001 + 4096, `${counted} of ${pulled}`);

  const id = await central.remoteId(`in-${port}-tcp`);
  const cut = await central.json(`clients/update/ann?inboundIds=${id}`, { ...ann, enable: false });
  t.true(cut.success, cut.msg);
  t.false(await program.served());
});

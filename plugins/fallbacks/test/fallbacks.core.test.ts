// A real core: a connection that arrives at the master, for the child.
import test from 'ava';
import { openSite } from '../../../test/demo/streams.js';
import { freePort } from '../../../test/harness/index.js';
import {
  connect,
  counted,
  engineBinary,
  MIB,
  openPanel,
  openServer,
  within,
} from '../../../test/engine/user.js';

test('a client of the child connects by its link, through the master, and is counted', async (t) => {
  const panel = await openPanel(t);
  const server = await openServer(t);
  const site = await openSite(engineBinary());
  t.teardown(() => site.stop());
  const master = await panel.addInbound({
    protocol: 'trojan',
    port: await freePort(),
    streamSettings: site.streams.get('tcp tls'),
  });
  const child = await panel.addInbound({
    streamSettings: { network: 'ws', security: 'none', wsSettings: { path: '/child' } },
  });
  await panel.get(`/panel/api/inbounds/${master}/fallbacks`, {
    body: { fallbacks: [{ childId: child, path: '/child' }] },
  });
  await panel.addClient('ada', [child]);
  const [link] = await panel.get<string[]>('/panel/api/clients/links/ada');
  const { port } = await panel.get<{ port: number }>(`/panel/api/inbounds/get/${master}`);
  t.regex(String(link), new RegExp(`:${port}\\?`), 'the link leads to the master');
  t.regex(String(link), /security=tls/);
  const user = await connect(t, panel, 'ada', server);
  t.is(await user.download(MIB), MIB);
  t.true(within(await counted(panel, 'ada', MIB), MIB));
});

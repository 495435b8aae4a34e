// Everything that can be changed while users are connected, while one of them is.
import test from 'ava';
import { freePort } from '../harness/api.js';
import { connect, engineOf, MIB, openPanel, openServer } from './user.js';

test('clients and inbounds come, change and go while a transfer runs without a break', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId]);
  const core = await panel.corePid();
  const a = await connect(t, panel, 'a', server);
  const bytes = 24 * MIB;
  let soFar = 0;
  const transfer = a.download(bytes, { rate: 2 * MIB, onBytes: (now) => (soFar = now) });
  await panel.until(() => soFar > 0, 'the transfer has begun');

  await panel.addClient('b', [inboundId]);
  const b = await connect(t, panel, 'b', server);
  t.true(await b.served(), 'added');
  await panel.get('/panel/api/clients/update/b', { body: { enable: false } });
  t.false(await b.served(), 'disabled');
  await panel.get('/panel/api/clients/update/b', { body: { enable: true } });
  t.true(await b.served(), 'enabled');
  await panel.get('/panel/api/clients/del/b', { method: 'POST' });
  t.false(await b.served(), 'deleted');

  const port = await freePort();
  const second = await panel.addInbound({
    port,
    protocol: 'trojan',
    streamSettings: { network: 'ws', wsSettings: { path: '/one' } },
  });
  await panel.addClient('c', [second]);
  const c = await connect(t, panel, 'c', server);
  t.true(await c.served(), 'an added inbound serves');
  await panel.get(`/panel/api/inbounds/update/${second}`, {
    body: { streamSettings: { network: 'ws', wsSettings: { path: '/two' } } },
  });
  t.false(await c.served(), 'its path changed');
  const changed = await connect(t, panel, 'c', server);
  t.true(await changed.served(), 'and serves its users under the new one');
  await panel.get(`/panel/api/inbounds/setEnable/${second}`, { body: { enable: false } });
  t.false(await changed.served(), 'a disabled inbound serves nobody');
  await panel.get(`/panel/api/inbounds/setEnable/${second}`, { body: { enable: true } });
  t.true(await changed.served());
  await panel.get(`/panel/api/inbounds/del/${second}`, { method: 'POST' });
  t.false(await changed.served(), 'a deleted one neither');

  // The inbound that the transfer runs through is replaced under it.
  await panel.get(`/panel/api/inbounds/update/${inboundId}`, {
    body: { sniffing: { enabled: true, destOverride: ['http'] } },
  });
  t.true(await a.served());
  t.true(soFar < bytes, 'the transfer ran all the while');
  t.is(await transfer, bytes);
  t.is(await panel.corePid(), core);
  t.deepEqual(await engineOf(panel), { state: 'running', errorMsg: '', version: '26.3.27' });
});

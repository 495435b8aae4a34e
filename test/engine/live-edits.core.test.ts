// Edits while users are connected: the core follows without a restart, and no transfer breaks.
import test from 'ava';
import { freePort } from '../harness/api.js';
import type { CorePanel } from './core-panel.js';
import {
  connect,
  counted,
  engineOf,
  MIB,
  openPanel,
  openServer,
  poll,
  teardownOfFile,
  usageOf,
} from './user.js';

const shared = teardownOfFile(test);
let panel: CorePanel;
let server: Awaited<ReturnType<typeof openServer>>;
let core: number | undefined;
test.before(async () => {
  server = await openServer(shared);
  panel = await openPanel(shared);
  core = await panel.corePid();
});

test('clients and inbounds come, change and go while a transfer runs without a break', async (t) => {
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId]);
  const a = await connect(t, panel, 'a', server);
  const bytes = 12 * MIB;
  const transfer = a.start(bytes, MIB);
  await panel.until(() => transfer.soFar > 0, 'the transfer has begun');

  await panel.addClient('b', [inboundId]);
  const b = await connect(t, panel, 'b', server);
  t.true(await b.served(), 'added');
  await panel.get('/panel/api/clients/update/b', { body: { enable: false } });
  t.false(await b.served(), 'disabled');
  await panel.get('/panel/api/clients/update/b', { body: { enable: true } });
  t.true(await b.served(), 'enabled');
  await panel.get('/panel/api/clients/del/b', { method: 'POST' });
  t.false(await b.served(), 'deleted');

  const second = await panel.addInbound({
    port: await freePort(),
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
  t.true(await changed.served(), 'it serves its users under the new path');
  await panel.get(`/panel/api/inbounds/setEnable/${second}`, { body: { enable: false } });
  t.false(await changed.served(), 'a disabled inbound serves nobody');
  await panel.get(`/panel/api/inbounds/setEnable/${second}`, { body: { enable: true } });
  t.true(await changed.served());
  await panel.get(`/panel/api/inbounds/del/${second}`, { method: 'POST' });
  t.false(await changed.served(), 'a deleted inbound serves nobody');

  // The inbound that the transfer runs through is replaced under it.
  await panel.get(`/panel/api/inbounds/update/${inboundId}`, {
    body: { sniffing: { enabled: true, destOverride: ['http'] } },
  });
  t.true(await a.served());
  t.true(transfer.soFar < bytes, 'the transfer ran all the while');
  t.is(await transfer.ended, bytes);
  t.is(await panel.corePid(), core);
  t.like(await engineOf(panel), {
    state: 'running',
    errorMsg: '',
    version: '26.3.27',
    usersOnTheWay: 0,
  });
});

test('an inbound over its total lets nobody in, others continue, and a reset brings it back, all on one core', async (t) => {
  interface Inbound {
    readonly enable: boolean;
    readonly depletedCause: string | null;
  }
  const [small, large] = [await panel.addInbound({ total: 2 * MIB }), await panel.addInbound()];
  await panel.addClient('small', [small]);
  await panel.addClient('large', [large]);
  const user = await connect(t, panel, 'small', server);
  const other = await connect(t, panel, 'large', server);
  t.true(await user.served());
  const transfer = other.start(6 * MIB, 2 * MIB);
  await user.download(3 * MIB);
  const inbound = (): Promise<Inbound> => panel.get(`/panel/api/inbounds/get/${small}`);
  await poll(panel);
  await panel.until(async () => !(await inbound()).enable, 'the inbound is disabled');
  t.is((await inbound()).depletedCause, 'quota');
  t.false(await user.served());
  t.true((await usageOf(panel, 'small')).enable, 'its clients are not at a limit of their own');

  await panel.get(`/panel/api/inbounds/${small}/resetTraffic`, { method: 'POST' });
  t.like(await inbound(), { enable: true, depletedCause: null });
  t.true(await user.served(), 'the reply came after the core had the inbound');
  t.true(transfer.soFar > 0 && transfer.soFar < 6 * MIB, 'the other transfer ran all the while');
  t.is(await transfer.ended, 6 * MIB);
  t.is(await panel.corePid(), core);
});

test('a client that is deleted with its traffic retained and comes back has all its bytes, of its last moment too', async (t) => {
  // Its own, so that what it sent is the most that can be counted.
  const source = await openServer(t);
  const inboundId = await panel.addInbound();
  await panel.addClient('kept', [inboundId]);
  const user = await connect(t, panel, 'kept', source);
  await user.download(4 * MIB);
  await counted(panel, 'kept', 4 * MIB);
  // The deletion comes before the next poll, or right after it.
  const received = 4 * MIB + (await user.download(3 * MIB));
  const transfer = user.start(400 * MIB, 8 * MIB);
  await panel.until(() => transfer.soFar > 4 * MIB, 'a transfer is under way');
  await panel.get('/panel/api/clients/del/kept?keepTraffic=1', { method: 'POST' });
  await panel.addClient('kept', [inboundId]);
  t.true((await usageOf(panel, 'kept')).down >= received + 4 * MIB, 'all from before is there at once');
  await user.end();
  const all = received + (await transfer.ended);
  const down = await counted(panel, 'kept', all);
  t.true(down <= source.sent * 1.02, `${down} counted, ${source.sent} sent`);
});

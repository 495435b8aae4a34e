// Hysteria 2 through a real core: bytes by the link, counted for each client, and what ends when a client is disabled.
import test from 'ava';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSite } from '../demo/streams.js';
import { freePort } from '../harness/api.js';
import {
  connect,
  counted,
  engineBinary,
  MIB,
  openPanel,
  openServer,
  teardownOfFile,
  usageOf,
  within,
} from './user.js';

const shared = teardownOfFile(test);
let site: Awaited<ReturnType<typeof openSite>>;
let panel: Awaited<ReturnType<typeof openPanel>>;
let server: Awaited<ReturnType<typeof openServer>>;

test.before(async () => {
  site = await openSite(engineBinary());
  shared.teardown(() => site.stop());
  server = await openServer(shared);
  panel = await openPanel(shared, { env: site.env });
});

const stream = (more: object = {}) => ({
  ...site.streams.get('ws tls'),
  network: 'hysteria',
  wsSettings: undefined,
  tlsSettings: { ...(site.streams.get('ws tls')?.['tlsSettings'] as object), alpn: ['h3'] },
  ...more,
});
const addHysteria = async (more: object = {}, fields: object = {}): Promise<number> =>
  panel.addInbound({
    protocol: 'hysteria',
    port: await freePort(),
    streamSettings: stream(more),
    ...fields,
  });

test.serial('each client is served by its link and counted; a disabled one is cut', async (t) => {
  const id = await addHysteria({
    finalmask: { udp: [{ type: 'salamander', settings: { password: 'mask' } }] },
  });
  await panel.addClient('alice', [id]);
  await panel.addClient('bob', [id], { auth: 'b o/b@' });
  const [alice, bob] = [await connect(t, panel, 'alice', server), await connect(t, panel, 'bob', server)];
  t.is(await alice.download(2 * MIB), 2 * MIB);
  t.is(await bob.download(MIB), MIB);
  t.true(within(await counted(panel, 'alice', 2 * MIB), 2 * MIB));
  t.true(within(await counted(panel, 'bob', MIB), MIB));

  // An open connection of Hysteria stays open: all users share one socket. What is open may end for everybody.
  const { openConnections } = await panel.get<{ openConnections: { end: boolean; reason: string } }>(
    `/panel/api/inbounds/get/${id}`,
  );
  t.deepEqual([openConnections.end, /UDP/.test(openConnections.reason)], [false, true]);
  await panel.get('/panel/api/setting/update', { body: { engineReplaceUdpInbounds: true } });
  await panel.get('/panel/api/clients/bulkDisable', { body: { emails: ['alice'] } });
  t.false(await alice.served(), 'the client program that was connected');
  t.false(await (await connect(t, panel, 'alice', server)).served(), 'a new one');
  let again = false;
  for (let i = 0; i < 20 && !again; i++) again = (await bob.served()) || (await sleep(200, false));
  t.true(again, 'the others come back');
});

test.serial('an edited auth ends the previous one', async (t) => {
  const id = await addHysteria();
  await panel.addClient('carol', [id], { auth: 'first' });
  const before = await connect(t, panel, 'carol', server);
  await panel.get('/panel/api/clients/update/carol', { body: { auth: 'second' } });
  t.false(await before.served());
  const after = await connect(t, panel, 'carol', server);
  t.is(await after.download(1000), 1000);
  await panel.get('/panel/api/clients/update/carol', { body: { auth: '' } });
  t.is((await panel.get<{ auth: string }>('/panel/api/clients/get/carol')).auth, 'second');
  t.true((await counted(panel, 'carol', 1000)) > 0 && (await usageOf(panel, 'carol')).enable);
});

test.serial('version 1 is refused with the words of the core', async (t) => {
  for (const [settings, more] of [
    [{ version: 1 }, {}],
    [{}, { hysteriaSettings: { version: 1 } }],
  ]) {
    const { status, text } = await panel.call('/panel/api/inbounds/add', {
      body: {
        protocol: 'hysteria',
        listen: '127.0.0.1',
        port: await freePort(),
        settings,
        streamSettings: stream(more),
      },
    });
    t.is(status, 422);
    t.regex(text, /the core refuses this inbound: .*version != 2/);
  }
});

// Runs on every database in test:full.
// The panel is killed and its core runs on: the next panel takes it over and counts every byte once.
import test from 'ava';
import { openSite } from '../demo/streams.js';
import { editDatabase } from '../harness/edit-database.js';
import { freePort } from '../harness/api.js';
import { selfSigned } from '../harness/index.js';
import {
  connect,
  counted,
  engineBinary,
  MIB,
  openPanel,
  openServer,
  poll,
  spawnPanel,
  usageOf,
  within,
} from './user.js';

const RATE = 2 * MIB;
const BYTES = 16 * MIB;

test('transfers outlive a panel that is killed; the next panel adopts the core, counts all bytes once, and applies what the core had missed', async (t) => {
  const site = await openSite(engineBinary());
  t.teardown(() => site.stop());
  const server = await openServer(t);
  // Left to itself, the core hands a download of Vision with TLS 1.3 inside to the operating system and counts it at its end.
  const tlsServer = await openServer(t, { tls: selfSigned() });
  const first = await spawnPanel(t, { env: site.env });
  const vless = await first.addInbound();
  const trojan = await first.addInbound({ protocol: 'trojan' });
  const reality = await first.addInbound({
    port: await freePort(),
    streamSettings: site.streams.get('tcp reality'),
  });
  const own = await first.addInbound();
  await first.addClient('plain', [own]);
  await first.addClient('vision', [reality], { flow: 'xtls-rprx-vision' });
  for (const email of ['stays', 'goes', 'changes']) await first.addClient(email, [vless, trojan]);
  const core = await first.corePid();
  t.truthy(core);
  const plain = await connect(t, first, 'plain', server);
  const vision = await connect(t, first, 'vision', tlsServer);
  const stays = await connect(t, first, 'stays', server);
  const goes = [await connect(t, first, 'goes', server, 0), await connect(t, first, 'goes', server, 1)];
  const changes = await connect(t, first, 'changes', server, 1);
  // Five client programs start at once beside other tests: one may have to try again.
  for (const user of [stays, ...goes, changes]) t.true((await user.served()) || (await user.served()));
  const transfers = [plain.start(BYTES, RATE), vision.start(BYTES, RATE)];
  for (const email of ['plain', 'vision']) {
    const before = await counted(first, email, MIB);
    t.true(before < BYTES, `${email} is counted while it runs`);
  }
  t.deepEqual(await first.kill('SIGKILL'), { code: null, signal: 'SIGKILL' });
  const atDeath = transfers.map(({ soFar }) => soFar);
  await editDatabase(first.dataDirectory, [
    `UPDATE clients SET enable = 0 WHERE email = 'goes'`,
    `UPDATE clients SET password = 'another one' WHERE email = 'changes'`,
  ]);
  t.true(await goes[0]?.served(), 'the core serves as before');
  await first.until(
    () => transfers.every(({ soFar }, i) => soFar > (atDeath[i] ?? 0) + MIB),
    'the transfers continue without a panel',
  );

  const second = await openPanel(t, { dataDirectory: first.dataDirectory, env: site.env });
  t.like(second.said('adopted a running core'), { pid: core });
  t.is(await second.corePid(), core);
  t.is(second.ready.engine, 'running');
  t.true(
    transfers.every(({ soFar }) => soFar < BYTES),
    'the transfers still run',
  );
  t.deepEqual(await Promise.all(goes.map((user) => user.served())), [false, false]);
  t.false(await changes.served());
  t.true(await (await connect(t, second, 'changes', server, 1)).served());
  t.true(await stays.served());
  for (const { ended } of transfers) t.is(await ended, BYTES);
  for (const email of ['plain', 'vision']) {
    const total = await counted(second, email, BYTES);
    t.true(within(total, BYTES), `${email}: counted ${total} of ${BYTES}`);
  }
  t.is(await second.corePid(), core);

  await second.stop();
  const third = await openPanel(t, { dataDirectory: first.dataDirectory, env: site.env });
  t.not(await third.corePid(), core);
  const { down: before } = await usageOf(third, 'plain');
  t.true(within(before, BYTES), `${before} of ${BYTES}`);
  // Bytes of the new core show that a poll took place; nothing else came with them.
  await plain.download(MIB);
  const after = await counted(third, 'plain', before + MIB);
  t.true(within(after - before, MIB), `counted ${after - before} of ${MIB}`);
  const inbound = await third.get<{ down: number }>(`/panel/api/inbounds/get/${own}`);
  t.is(inbound.down, after, 'the inbound has what its only client has');
});

test('a client over its quota gets no new connection after a poll and comes back when it is raised, all on one core', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const inboundId = await panel.addInbound();
  await panel.addClient('a', [inboundId], { totalGB: 2 * MIB });
  await panel.addClient('b', [inboundId]);
  const core = await panel.corePid();
  const [a, b] = [await connect(t, panel, 'a', server), await connect(t, panel, 'b', server)];
  await a.download(MIB);
  await poll(panel);
  t.true(await a.served(), 'half of the quota is no reason');
  await a.download(2 * MIB);
  await poll(panel);
  await panel.until(async () => !(await a.served()), 'the core rejects the client');
  t.false((await usageOf(panel, 'a')).enable);
  t.true(await b.served());

  await panel.get('/panel/api/clients/update/a', { body: { totalGB: 100 * MIB } });
  t.true((await usageOf(panel, 'a')).enable);
  t.true(await a.served(), 'the reply came after the core had it');
  t.is(await panel.corePid(), core);
});

// Runs sidecar programs.
// The real mtg-multi: Telegram clients through it to a stand-in of a data centre. The one that can be built from its
// sources has no API for secrets, so each change of a user is a restart; mtg-api.test.ts has the other one.
import test from 'ava';
import { setTimeout as sleep } from 'node:timers/promises';
import { TelegramClient } from './telegram-client.js';
import { DOMAIN, mtgMulti, MtprotoWorld } from './world.js';

const WRONG = `ee${'ab'.repeat(16)}${Buffer.from(DOMAIN).toString('hex')}`;
const isNear = (bytes: number, expected: number): boolean =>
  bytes >= expected && bytes < expected * 1.2 + 3000;

test('a client with its secret reaches the data centre and is counted; a wrong secret reaches nothing', async (t) => {
  await using world = await MtprotoWorld.open(mtgMulti());
  await world.panel.addClient('ann', [world.inboundId], { expiryTime: -86_400_000 });
  await world.running();
  const client = await world.client('ann');
  await client.echo(300_000);
  t.is(world.centre.asked.length, 1);
  t.regex(world.centre.logins[0] ?? '', /^mtproto:[0-9a-f]{64}$/);
  await t.throwsAsync(TelegramClient.connect(world.port, WRONG));
  t.is(world.centre.asked.length, 1);
  await world.poll();
  await world.poll();
  const { up, down, expiryTime } = await world.usage('ann');
  t.true(isNear(up, 300_000) && isNear(down, 300_000), `${up} ${down}`);
  t.true(expiryTime > world.clock.now(), 'its time began with the first bytes');
  t.deepEqual(await world.panel.get('/panel/api/clients/onlines', { method: 'POST' }), ['ann']);
  await client.echo(1000);
  client.end();
});

test('a client at its quota is cut within a poll, and can do nothing afterwards; the other goes on', async (t) => {
  await using world = await MtprotoWorld.open(mtgMulti());
  await world.panel.addClient('ann', [world.inboundId], { totalGB: 100_000 });
  await world.panel.addClient('bob', [world.inboundId]);
  await sleep(5500);
  await world.running();
  const client = await world.client('ann');
  await client.echo(200_000);
  await world.poll();
  t.false((await world.usage('ann')).enable);
  for (let i = 0; i < 100 && client.isOpen; i++) await sleep(100);
  t.false(client.isOpen, 'its connection is closed');
  await world.running();
  const secret = await world.secret('ann');
  await t.throwsAsync(TelegramClient.connect(world.port, secret));
  const other = await world.client('bob');
  await other.echo(50_000);
  await world.poll();
  t.true(isNear((await world.usage('bob')).up, 50_000));
  other.end();
});

test('bytes over restarts count once: planned, and by a killed program', async (t) => {
  await using world = await MtprotoWorld.open(mtgMulti());
  await world.panel.addClient('ann', [world.inboundId]);
  await world.running();
  await (await world.client('ann')).echo(100_000);
  await world.poll();
  await (await world.client('ann')).echo(100_000);
  const inbound = await world.panel.get<{ settings: object }>(`/panel/api/inbounds/get/${world.inboundId}`);
  await world.panel.get(`/panel/api/inbounds/update/${world.inboundId}`, {
    body: { ...inbound, settings: { ...inbound.settings, throttleMaxConnections: 50 } },
  });
  await world.running();
  await world.panel.kernel.settled();
  t.true(isNear((await world.usage('ann')).up, 200_000), 'the last reading before the restart');
  await (await world.client('ann')).echo(100_000);
  await world.poll();
  process.kill((await world.status()).pid, 'SIGKILL');
  await sleep(1200);
  await world.running();
  await (await world.client('ann')).echo(100_000);
  await world.poll();
  await world.poll();
  const { up } = await world.usage('ann');
  t.true(isNear(up, 400_000), String(up));
});

test('what a wrong secret sends goes to the server that fronting names', async (t) => {
  const { createServer } = await import('node:net');
  const heard: string[] = [];
  const site = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        heard.push(chunk.toString('latin1'));
        socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
      });
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.teardown(() => site.close());
  const { port } = site.address() as { port: number };
  await using world = await MtprotoWorld.open(
    mtgMulti(),
    { domainFronting: { ip: '127.0.0.1', port } },
    { WEIR_FALLBACK_DESTINATIONS: `127.0.0.1:${port}` },
  );
  await world.panel.addClient('ann', [world.inboundId]);
  await world.running();
  await t.throwsAsync(TelegramClient.connect(world.port, WRONG), { message: /something else/ });
  t.true(heard.join('').includes(DOMAIN));
});

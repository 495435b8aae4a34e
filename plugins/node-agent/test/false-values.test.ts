// A central whose records would reach into this panel, or count what cannot be.
import test from 'ava';
import { CENTRAL, client, inbound, openManaged, OTHER, wire } from './world.js';

test('what this panel refuses its own admins it refuses a central, and counters stay numbers', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const { panel } = world;
  const panelPort = Number(new URL(panel.url).port);
  const tls = (file: string) => ({
    network: 'tcp',
    security: 'tls',
    tlsSettings: { serverName: 'a.example', certificates: [{ certificateFile: file, keyFile: file }] },
  });
  const [c7] = (await world.inbounds()).filter(({ tag }) => tag === 'central-7');
  const other = wire(panel, OTHER);
  const results = await other.apply(
    inbound(1, 1, { port: panelPort, listen: '' }),
    inbound(2, 1, { settings: { decryption: 'none', fallbacks: [{ dest: panelPort }] } }),
    inbound(3, 1, { streamSettings: tls('/etc/passwd') }),
    inbound(4, 1, { listen: '/run/docker.sock,0666', port: 0 }),
    inbound(5, 1, { tag: '_weir_api' }),
    inbound(6, 1, { tag: 'a\u202eb' }),
    { ...inbound(8, 1, {}), adopts: c7?.id },
    inbound(9, 1, { tag: 'central-7' }),
    inbound(10, 1, { fallbacks: [{ childId: 7, path: '/x' }] }),
    inbound(11, 1, { fallbacks: [{ childId: 0, dest: String(panelPort), path: '/y' }] }),
    inbound(12, 1, { up: 1e15, originGuid: OTHER, nodeId: 1, total: 2 ** 53 - 1 }),
  );
  t.deepEqual(
    results.map(({ ok }) => ok),
    [false, false, false, false, true, false, false, false, false, false, true],
    JSON.stringify(results),
  );
  const made = (await world.inbounds()) as unknown as { tag: string; up: number; nodeId: null }[];
  t.like(
    made.find(({ tag }) => tag === 'central-12'),
    { up: 0, nodeId: null },
  );

  const huge = 2 ** 53 - 1;
  await world.apply(client(1, 2, { period: huge }));
  await world.apply(client(1, 3, { period: 1 }));
  await world.elsewhere({ id: 1, up: huge, down: huge });
  await world.move(1, 500, 500);
  t.like((await world.client('c1')).traffic, { up: huge, down: huge });
  const seen = [
    { id: 2, ip: 'x\n<b>', guid: 'a', since: huge, seen: huge },
    { id: 2, ip: '192.0.2.7', guid: '__proto__', since: 0, seen: 0 },
    { id: 2, ip: '192.0.2.8', guid: 'constructor', since: huge, seen: huge },
  ];
  await panel.get('/panel/api/x/node/addresses', { body: { central: CENTRAL, seen } });
  await panel.kernel.settled();
  t.deepEqual(panel.faults, []);
});

test('bytes of several polls that are more than a number has are told as the greatest one', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const huge = Number.MAX_SAFE_INTEGER;
  // What a node below this panel says of itself comes here as the bytes of a poll.
  for (const epoch of ['second', 'third']) {
    world.engine.restart(epoch);
    await world.move(1, huge, huge);
  }
  const [told] = await world.usage();
  t.deepEqual(told?.users, [{ clientId: 1, inboundId: 7, up: huge, down: huge }]);
  t.deepEqual(world.panel.faults, []);
});

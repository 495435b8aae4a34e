// A client program pulls bytes through a real core: a central reads as many, by its own ids, and what it reports of other
// machines cuts the client.
import test from 'ava';
import { connect, MIB, openPanel, openServer, poll } from '../../../test/engine/user.js';
import { freePort } from '../../../test/harness/index.js';
import { client, inbound, wire } from './world.js';

test('what a client pulls is what its central reads', async (t) => {
  t.timeout(120_000);
  const panel = await openPanel(t);
  const server = await openServer(t);
  const { apply, usage, elsewhere } = wire(panel);
  const wanted = [
    inbound(7, 1, { port: await freePort() }),
    client(1, 1, { totalGB: 100 * MIB }),
    client(2, 1),
  ];
  t.true((await apply(...wanted)).every(({ ok }) => ok));
  const [one, two] = await Promise.all(['c1', 'c2'].map((email) => connect(t, panel, email, server)));
  const pulled = [await one?.download(5 * MIB), await two?.download(3 * MIB)].map(Number);
  await poll(panel);
  const [first] = await usage();
  t.deepEqual(
    first?.users.map(({ clientId, inboundId }) => [clientId, inboundId]),
    [
      [1, 7],
      [2, 7],
    ],
  );
  for (const [i, { down }] of (first?.users ?? []).entries()) {
    const bytes = pulled[i] ?? 0;
    // What the server says before the bytes.
    t.true(down >= bytes && down <= bytes * 1.001 + 1024, `${down} of ${bytes}`);
    t.is((await panel.get<{ down: number }>(`/panel/api/clients/traffic/c${i + 1}`)).down, down);
  }
  await elsewhere({ id: 1, up: 0, down: 99 * MIB });
  t.false(await one?.served());
  t.true(await two?.served());
  await elsewhere({ id: 1, up: 0, down: 0 });
  t.true(await one?.served());
  await apply(client(2, 2, null));
  t.false(await two?.served());
  await poll(panel);
  const [last] = await usage(first?.epoch, 0);
  t.true(
    (last?.users.find(({ clientId }) => clientId === 2)?.down ?? 0) >= 3 * MIB,
    'deleted, and not forgotten',
  );
});

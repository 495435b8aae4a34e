import test, { type ExecutionContext } from 'ava';
import {
  base,
  emptyRecord,
  engineBinary,
  eventually,
  temporaryDriver,
  vlessInbound,
  vlessOutbound,
  vlessUser,
} from './harness.js';
import { download, freePort, startByteServer, startClientCore, upload } from './traffic.js';
import type { CoreUser } from '../../driver.js';

async function path(t: ExecutionContext, user: CoreUser) {
  const driver = await temporaryDriver(t);
  const port = await freePort();
  await driver.start(base, [{ ...vlessInbound('v', port), users: [user, vlessUser('i11.c1')] }], emptyRecord);
  const server = await startByteServer();
  t.teardown(() => server.stop());
  const client = await startClientCore({ binary: engineBinary(), outbound: vlessOutbound(port, user) });
  t.teardown(() => client.stop());
  const counter = async () =>
    (await driver.counters(user.name)).find(({ name }) => name === user.name) ?? {
      name: user.name,
      up: 0,
      down: 0,
    };
  return { driver, server, socksPort: client.socksPort, counter };
}

const within = (value: number, payload: number): boolean => value >= payload && value <= payload * 1.02;

test('counters equal the payload in both directions', async (t) => {
  const { driver, server, socksPort, counter } = await path(t, vlessUser('i1.c1'));
  const bytes = 10_000_000;
  t.is(await download({ socksPort, server, bytes }), bytes);
  t.is(await upload({ socksPort, server, bytes }), bytes);
  t.is(server.received, bytes);
  await eventually(
    async () => (await counter()).down >= bytes && (await counter()).up >= bytes,
    'counters reach the payload',
  );
  const { up, down } = await counter();
  t.true(within(up, bytes), `up ${up}`);
  t.true(within(down, bytes), `down ${down}`);
  t.deepEqual(
    (await driver.counters('i1.')).map(({ name }) => name),
    ['i1.c1'],
  );
  t.deepEqual(await driver.counters('1.c1'), [], 'a prefix is no substring');
  t.deepEqual(await driver.counters('i2.'), []);
});

test('counters run while the transfer does', async (t) => {
  const { server, socksPort, counter } = await path(t, vlessUser('i1.c1'));
  const bytes = 4_000_000;
  let over = false;
  const transfer = download({ socksPort, server, bytes, rate: 1_000_000 }).finally(() => (over = true));
  const seen = new Set<number>();
  while (!over) {
    const { down } = await counter();
    if (!over && down > 0 && down < bytes) seen.add(down);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.is(await transfer, bytes);
  t.true(seen.size > 5, `distinct values on the way: ${seen.size}`);
});

test('counters outlive their user and a replaced credential continues them', async (t) => {
  const user = vlessUser('i1.c1');
  const { driver, server, socksPort, counter } = await path(t, user);
  await download({ socksPort, server, bytes: 100_000 });
  await driver.removeUser('v', 'i1.c1');
  t.true((await counter()).down >= 100_000);
  await t.throwsAsync(download({ socksPort, server, bytes: 100_000 }));
  await driver.putUser('v', user);
  await download({ socksPort, server, bytes: 100_000 });
  t.true((await counter()).down >= 200_000);
});

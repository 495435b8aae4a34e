import test from 'ava';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePort } from '../harness/api.js';
import { connect, engineOf, openPanel, openServer, type User } from './user.js';

test('a port that another program took while nobody looked keeps no other inbound from serving, and heals', async (t) => {
  const server = await openServer(t);
  const first = await openPanel(t);
  const port = await freePort();
  const inboundIds = [await first.addInbound(), await first.addInbound({ port }), await first.addInbound()];
  await first.addClient('a', inboundIds);
  const users: User[] = [];
  for (const position of [0, 1, 2]) users.push(await connect(t, first, 'a', server, position));
  await first.kill('SIGTERM');
  const holder = createServer((socket) => socket.destroy()).listen({
    port,
    host: '127.0.0.1',
    exclusive: true,
  });
  t.teardown(() => holder.close());
  await once(holder, 'listening');

  const second = await openPanel(t, { dataDirectory: first.dataDirectory });
  t.is(second.ready.engine, 'running');
  t.deepEqual(await Promise.all(users.map((user) => user.served())), [true, false, true]);
  const { state, errorMsg } = await engineOf(second);
  t.is(state, 'running');
  t.regex(errorMsg, new RegExp(`in-${port}-tcp: .*address already in use`));
  const core = await second.corePid();

  holder.close();
  await second.until(
    async () => (await users[1]?.served()) ?? false,
    'the inbound is put once the port is free',
  );
  t.is((await engineOf(second)).errorMsg, '');
  t.is(await second.corePid(), core);
});

// What the login takes before it knows who asks.
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';

const JSON_TYPE = { 'content-type': 'application/json' };

test('rejects a small compressed body that expands to millions of items, and a large one', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  const rawBody = `{"username":[${'{},'.repeat(1_000_000)}{}]}`;
  const packed = await panel.call('/login', {
    rawBody: gzipSync(rawBody),
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    anonymous: true,
  });
  t.deepEqual([packed.status, packed.body.code], [415, 'KERNEL_UNSUPPORTED_BODY']);
  const large = await panel.call('/login', { rawBody, headers: JSON_TYPE, anonymous: true });
  t.deepEqual([large.status, large.body.code], [413, 'KERNEL_TOO_LARGE']);
});

test('refuses a blocked address before it reads the body', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  for (let n = 0; n < 21; n++)
    await panel.call('/login', { body: { username: `name${n}`, password: 'x' }, anonymous: true });
  const socket = connect(Number(new URL(panel.url).port), '127.0.0.1');
  socket.write(
    'POST /login HTTP/1.1\r\nHost: weir\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n',
  );
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  t.regex(reply.toString(), /^HTTP\/1.1 429 [\s\S]*retry-after: \d+/i);
});

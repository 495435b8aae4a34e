// The panel is told to end while bytes flow at full speed: what the client program has, was counted.
import test from 'ava';
import { Sockets } from '../../plugins/connection-cut/sockets.js';
import { connect, MIB, openPanel, openServer, usageOf } from './user.js';

/** Far more than flows before the end. */
const ENDLESS = 100_000 * MIB;

test('bytes that flow while SIGTERM comes are counted to the last moment', async (t) => {
  const server = await openServer(t);
  const first = await openPanel(t);
  await first.addClient('a', [await first.addInbound()]);
  const user = await connect(t, first, 'a', server);
  const received = [0, 0];
  const transfers = received.map((_, i) =>
    user.download(ENDLESS, { onBytes: (soFar) => void (received[i] = soFar) }).catch(() => undefined),
  );
  const sum = (): number => received.reduce((all, bytes) => all + bytes);
  await first.until(() => sum() > 64 * MIB, 'bytes flow');
  const began = Date.now();
  const before = sum();
  await first.kill('SIGTERM');
  // A program that only reads does not notice that its connection is gone.
  await user.end();
  await Promise.all(transfers);

  const second = await openPanel(t, { dataDirectory: first.dataDirectory });
  const { down } = await usageOf(second, 'a');
  t.log(
    `received ${sum()}, counted ${down}, difference ${down - sum()} bytes, flowed in stop ${sum() - before} in ${Date.now() - began} ms`,
  );
  // Without the right to end connections first, bytes flow on between the last reading and the end: some milliseconds at full speed.
  const mayCut = (await new Sockets().hindrance()) === '';
  t.true(down >= sum() * (mayCut ? 1 : 0.8), `${down} of ${sum()}`);
  // What was on its way in the buffers of the kernel and the client program was counted and did not arrive.
  t.true(down <= sum() * 1.02 + 64 * MIB, `${down} of ${sum()}`);
});

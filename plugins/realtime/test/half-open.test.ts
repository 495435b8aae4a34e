// Connections that shake hands and then say nothing more: they count, and they do not stay.
import test, { type ExecutionContext } from 'ava';
import { connect, type Socket } from 'node:net';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { MOST_CONNECTIONS } from '../connections.js';
import { Listener } from './listener.js';

const IO = '/socket.io/?EIO=4&transport=websocket';

async function boot(t: ExecutionContext) {
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return { clock, panel };
}

/** Asks for a WebSocket and then speaks only as a test says. */
class Raw {
  readonly socket: Socket;
  heard = '';
  closed = false;

  constructor(t: ExecutionContext, panel: TestPanel, path: string) {
    this.socket = connect(Number(new URL(panel.url).port), '127.0.0.1', () =>
      this.socket.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nCookie: ${panel.cookie}\r\n\r\n`,
      ),
    );
    this.socket.on('data', (chunk: Buffer) => (this.heard += chunk.toString('latin1')));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => (this.closed = true));
    t.teardown(() => this.socket.destroy());
  }
  get status(): number {
    return this.heard.includes('\r\n\r\n') ? Number(this.heard.slice(9, 12)) : 0;
  }
  /** A masked text, with a mask of zeros. */
  say(text: string): void {
    this.socket.write(
      Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]),
    );
  }
  count(words: string): number {
    return this.heard.split(words).length - 1;
  }
}
const answered = (all: readonly Raw[]) =>
  until(() => all.every(({ status, closed }) => status !== 0 || closed), 'an answer to each');

test('the limit counts sockets from the handshake on, of both endpoints together', async (t) => {
  const { panel } = await boot(t);
  const all = Array.from(
    { length: MOST_CONNECTIONS + 30 },
    (_, i) => new Raw(t, panel, i % 3 === 0 ? '/ws' : IO),
  );
  await answered(all);
  const count = (wanted: number) => all.filter(({ status }) => status === wanted).length;
  t.deepEqual([count(101), count(503)], [MOST_CONNECTIONS, 30]);
  all.find(({ status }) => status === 101)?.socket.destroy();
  await until(async () => {
    const next = new Raw(t, panel, IO);
    await answered([next]);
    return next.status === 101;
  }, 'room for another');
  const full = new Raw(t, panel, '/ws');
  await answered([full]);
  t.is(full.status, 503);
});

test('who does not join within fifteen seconds is cut, who reads stays', async (t) => {
  const { clock, panel } = await boot(t);
  const readers = [Listener.plain(panel), Listener.io(panel)];
  t.teardown(() => {
    for (const { close } of readers) close();
  });
  await Promise.all(readers.map((reader) => reader.first('snapshot')));
  const silent = new Raw(t, panel, IO);
  const elsewhere = new Raw(t, panel, IO);
  const leaver = new Raw(t, panel, IO);
  await answered([silent, elsewhere, leaver]);
  elsewhere.say('40/nowhere,');
  leaver.say('40');
  await until(() => leaver.count('"snapshot"') > 0, 'the snapshot');
  const check = async () => {
    clock.tick(5000);
    await panel.kernel.settled();
  };
  await check();
  await check();
  // A clock that jumps cuts nobody, and spares nobody.
  clock.jump(3_600_000);
  t.deepEqual([silent.closed, elsewhere.closed], [false, false]);
  clock.jump(-7_200_000);
  await check();
  await until(() => silent.closed && elsewhere.closed, 'both are cut');
  t.false(leaver.closed);
  // It takes leave of the messages, and keeps the connection.
  leaver.say('41');
  leaver.say('42["hello"]');
  await until(() => {
    clock.tick(5000);
    return leaver.closed;
  }, 'the one that took leave is cut');
  clock.tick(2000);
  await Promise.all(readers.map((reader) => reader.first('status')));
  t.deepEqual(
    readers.map(({ ended }) => ended),
    [undefined, undefined],
  );
});

test('a connection is one reader, however often it joins', async (t) => {
  const { clock, panel } = await boot(t);
  const greedy = new Raw(t, panel, IO);
  await answered([greedy]);
  // In one write: the second comes before the first has been dealt with.
  greedy.socket.cork();
  greedy.say('40');
  greedy.say('40');
  greedy.say('40');
  greedy.socket.uncork();
  await until(() => {
    clock.tick(5000);
    return greedy.closed;
  }, 'the end of it');
  t.true(greedy.count('"snapshot"') <= 1);
});

// Logs that readers watch: lines as they are written, to those who watch only, bounded, and to those who may read them.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { WebSocket } from 'ws';
import { contribute, definePlugin, type Log } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { addAdmin, ADMINS, addRole } from '../../roles/test/world.js';
import { type LiveLog, LiveLogs, type LogPlace } from '../contract.js';
import { Listener } from './listener.js';

const ENDPOINTS = [
  ['plain', Listener.plain],
  ['socket.io', Listener.io],
] as const;

/** A log of numbered lines that counts how often it is asked. */
class Numbers implements LiveLog {
  readonly type = 'numbers';
  readonly lines: unknown[] = [];
  epoch = 'first';
  asked = 0;
  read = 0;
  fails = false;
  write(...lines: readonly unknown[]): void {
    for (const line of lines) this.lines.push(line);
  }
  readonly end = async (): Promise<LogPlace> => {
    this.asked++;
    if (this.fails) throw new Error('no disk');
    return { epoch: this.epoch, at: this.lines.length };
  };
  readonly since = ({ epoch, at }: LogPlace, most: number) => {
    this.read++;
    if (epoch !== this.epoch || at > this.lines.length) return undefined;
    const lines = this.lines.slice(Math.max(at, this.lines.length - most));
    return {
      lines,
      leftOut: this.lines.length - at - lines.length,
      end: { epoch, at: this.lines.length },
    };
  };
}
interface Lines {
  readonly after: string | null;
  readonly end: string | null;
  readonly leftOut: number;
  readonly isLost: boolean;
  readonly lines: readonly unknown[];
}

async function boot(t: ExecutionContext) {
  const numbers = new Numbers();
  const clock = new FakeClock();
  let log: Log | undefined;
  const plugin = definePlugin({
    name: 'numbers',
    version: '0.0.0',
    api: 1,
    about: 'A log for a test.',
    contributes: () => [contribute(LiveLogs, numbers)],
    start: (parts) => void (log = parts.log),
  });
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const round = async (times = 1): Promise<void> => {
    for (let i = 0; i < times; i++) {
      clock.tick(250);
      await panel.kernel.settled();
    }
  };
  /** Rounds until there are so many messages of the log. */
  const messages = async (listener: Listener, count: number, type = 'numbers') => {
    await until(async () => {
      await round();
      return listener.of(type).length >= count || listener.ended !== undefined;
    }, `${count} messages of ${type}`);
    return listener.of<Lines>(type).map(({ payload }) => payload);
  };
  return { panel, clock, numbers, round, messages, write: (text: string) => log?.info(text) };
}
const linesOf = (payloads: readonly Lines[]): unknown[] => payloads.flatMap(({ lines }) => lines);

for (const [endpoint, listen] of ENDPOINTS) {
  test(`${endpoint}: lines come to those who watch, from the place that they name, once`, async (t) => {
    const { panel, numbers, round, messages } = await boot(t);
    numbers.write('one', 'two', 'three');
    const [reader, other] = [listen(panel), listen(panel)];
    await Promise.all([reader.first('snapshot'), other.first('snapshot')]);
    await round(4);
    t.is(numbers.asked, 0, 'nobody watches');
    reader.tell('watch', { log: 'numbers', after: 'first.2' });
    t.deepEqual(await messages(reader, 1), [
      { after: 'first.2', end: 'first.3', leftOut: 0, isLost: false, lines: ['three'] },
    ]);
    const read = numbers.read;
    await round(4);
    t.is(numbers.read, read, 'nothing was written');
    numbers.write('four', { five: 5 });
    await messages(reader, 2);
    t.deepEqual(reader.of<Lines>('numbers').at(-1)?.payload, {
      after: 'first.3',
      end: 'first.5',
      leftOut: 0,
      isLost: false,
      lines: ['four', { five: 5 }],
    });
    reader.tell('unwatch', { log: 'numbers' });
    await until(async () => {
      const { asked } = numbers;
      await round();
      return numbers.asked === asked;
    }, 'the end of the watch');
    numbers.write('six');
    await round(4);
    t.is(reader.of('numbers').length, 2);
    t.is(other.of('numbers').length, 0);
    // Other messages have no gap by it.
    const seqs = reader.messages.map(({ seq }) => seq);
    t.true(seqs.every((seq, i) => i === 0 || seq - (seqs[i - 1] ?? 0) <= 1));
    // A second reader of the same place costs no second read.
    for (const one of [reader, other]) one.tell('watch', { log: 'numbers' });
    await Promise.all([messages(reader, 3), messages(other, 1)]);
    const before = numbers.read;
    numbers.write('seven');
    await Promise.all([messages(reader, 4), messages(other, 2)]);
    t.is(numbers.read, before + 1);
    // Who leaves is forgotten.
    reader.close();
    other.close();
    await until(async () => {
      const { asked } = numbers;
      await round();
      return numbers.asked === asked;
    }, 'both are forgotten');
  });

  test(`${endpoint}: hostile messages are refused by the name of their field`, async (t) => {
    const { panel, numbers, round } = await boot(t);
    const reader = listen(panel);
    await reader.first('snapshot');
    const refused = async (type: string, fields: object, field: string, says: RegExp) => {
      const count = reader.of('error').length;
      reader.tell(type, fields);
      await until(() => reader.of('error').length > count, `a refusal of ${JSON.stringify(fields)}`);
      const payload = reader.of<{ field: string; msg: string }>('error').at(-1)?.payload;
      t.is(payload?.field, field, JSON.stringify(fields));
      t.regex(payload?.msg ?? '', says);
    };
    await refused('watch', {}, 'log', /log is required/);
    await refused('watch', { log: 5 }, 'log', /log must be a string/);
    await refused('watch', { log: '../../etc/passwd' }, 'log', /no live log .*; there are: .*numbers/);
    await refused('watch', { log: 'status' }, 'log', /no live log status/);
    await refused('watch', { log: '__proto__' }, 'log', /no live log/);
    await refused('watch', { log: 'numbers', after: 'x' }, 'after', /after must be: the end/);
    await refused('watch', { log: 'numbers', after: 'first.1e9' }, 'after', /after/);
    await refused('watch', { log: 'numbers', after: { at: 1 } }, 'after', /after/);
    await refused('unwatch', { log: [] }, 'log', /log/);
    await round(2);
    t.is(numbers.asked, 0);
    // A place that is no one of this log, or that lies in its future, is lost.
    for (const after of ['other.1', 'first.999999', 'first.1']) {
      reader.tell('watch', { log: 'numbers', after });
      await until(async () => {
        await round();
        return reader.of<Lines>('numbers').at(-1)?.payload.after === after;
      }, after);
      t.like(reader.of<Lines>('numbers').at(-1)?.payload, { isLost: true, end: 'first.0', lines: [] });
    }
    // Too many messages end the connection.
    for (let i = 0; i < 200 && reader.ended === undefined; i++) reader.tell('watch', { log: 'numbers' });
    await reader.end();
    t.is((await panel.call('/panel/api/server/status')).status, 200);
  });
}

test('a burst of 100,000 lines is the newest of them, and the number of the others', async (t) => {
  const { panel, numbers, messages, round } = await boot(t);
  const reader = Listener.plain(panel);
  await reader.first('snapshot');
  reader.tell('watch', { log: 'numbers' });
  await messages(reader, 1);
  for (let i = 0; i < 100_000; i++) numbers.write(`line ${i}`);
  const [, burst] = await messages(reader, 2);
  t.is(burst?.lines.length, 500);
  t.is(burst?.lines.at(-1), 'line 99999');
  t.is(burst?.leftOut, 99_500);
  await round(4);
  t.is(reader.of('numbers').length, 2);
  // Long lines: as many as a message takes; one that is too long is counted.
  numbers.write('x'.repeat(20_000), ...Array.from({ length: 100 }, () => 'y'.repeat(10_000)), 'last');
  const long = (await messages(reader, 3)).at(-1);
  t.is(long?.lines.at(-1), 'last');
  t.true(JSON.stringify(long).length < 300_000);
  t.is((long?.lines.length ?? 0) + (long?.leftOut ?? 0), 102);
});

test('the log of the panel: a burst, while nothing is lost for who reads, and nothing is kept', async (t) => {
  const { panel, messages, write } = await boot(t);
  const reader = Listener.plain(panel);
  await reader.first('snapshot');
  const tail = await panel.get<{ end: string; lines: string[] }>('/panel/api/x/panel-logs/tail?level=debug');
  reader.tell('watch', { log: 'panel_log', after: tail.end });
  await messages(reader, 1, 'panel_log');
  for (let i = 0; i < 100_000; i++) write(`burst ${i}`);
  await until(async () => {
    const all = await messages(reader, 2, 'panel_log');
    return linesOf(all).some((line) => String(line).includes('burst 99999'));
  }, 'the end of the burst');
  const all = reader.of<Lines>('panel_log').map(({ payload }) => payload);
  const ends = [tail.end, ...all.map(({ end }) => end)];
  t.deepEqual(
    all.map(({ after }) => after),
    ends.slice(0, -1),
    'each goes on where the one before ended',
  );
  const [from = 0, to = 0] = [tail.end, all.at(-1)?.end].map((place) => Number(place?.split('.')[1]));
  const leftOut = all.reduce((sum, one) => sum + one.leftOut, 0);
  t.is(linesOf(all).length + leftOut, to - from, 'each line is there, or counted');
  t.true(leftOut > 90_000);
});

test('a reader that reads nothing is skipped, and gets the newest lines later', async (t) => {
  const { panel, numbers, messages, round } = await boot(t);
  const slow = new WebSocket(`${panel.url.replace('http', 'ws')}/ws`, { headers: { cookie: panel.cookie } });
  const got: Lines[] = [];
  slow.on('message', (data: Buffer) => {
    const { type, payload } = JSON.parse(data.toString()) as { type: string; payload: Lines };
    if (type === 'numbers') got.push(payload);
  });
  await once(slow, 'message');
  const quick = Listener.plain(panel);
  await quick.first('snapshot');
  slow.send(JSON.stringify({ type: 'watch', log: 'numbers' }));
  quick.tell('watch', { log: 'numbers' });
  await messages(quick, 1);
  await until(async () => {
    await round();
    return got.length === 1;
  }, 'the slow one watches');
  slow.pause();
  const before = process.memoryUsage().heapUsed;
  // Less than half a minute by the clock of the panel: then it would be disconnected.
  for (let burst = 0; burst < 90; burst++) {
    numbers.write(...Array.from({ length: 62 }, (_, i) => `${burst} ${i} ${'z'.repeat(4_000)}`));
    await round();
    await sleep(5);
  }
  t.true(process.memoryUsage().heapUsed - before < 150 * 2 ** 20, 'the log itself has 22 MB');
  t.is(quick.ended, undefined);
  slow.resume();
  await until(async () => {
    await round();
    return got.at(-1)?.end === `first.${numbers.lines.length}`;
  }, 'the slow one is there again');
  const leftOut = got.reduce((sum, one) => sum + one.leftOut, 0);
  t.true(leftOut > 500, `${leftOut}`);
  t.is(linesOf(got).length + leftOut, numbers.lines.length);
  t.is(linesOf(got).at(-1), numbers.lines.at(-1));
  slow.terminate();
});

test('who may not read a log gets nothing of it, and who loses the right nothing more', async (t) => {
  const { panel, messages, round, write } = await boot(t);
  const grace = await addAdmin(panel, 'grace', ['clients:read', 'inbounds:read']);
  const ada = await addAdmin(panel, 'ada', ['logs:read']);
  const listen = ({ cookie }: { cookie: string }) => Listener.plain(panel, { cookie });
  const [refused, allowed] = [listen(grace), listen(ada)];
  await Promise.all([refused.first('snapshot'), allowed.first('snapshot')]);
  for (const log of ['panel_log', 'core_log']) {
    refused.tell('watch', { log });
    await until(
      () => refused.of<{ log: string }>('error').at(-1)?.payload.log === log,
      `the refusal of ${log}`,
    );
    t.like(refused.of('error').at(-1)?.payload, { field: 'log' });
  }
  t.is((await grace.call('/panel/api/x/panel-logs/tail')).status, 403);
  t.is((await grace.call('/panel/api/x/engine-logs/tail')).status, 403);
  t.is((await ada.call('/panel/api/x/engine-logs/tail')).status, 200);
  allowed.tell('watch', { log: 'panel_log' });
  await messages(allowed, 1, 'panel_log');
  write('for ada');
  await until(async () => {
    await round();
    return linesOf(allowed.of<Lines>('panel_log').map(({ payload }) => payload)).some((line) =>
      String(line).includes('for ada'),
    );
  }, 'her line');
  const role = await addRole(panel, 'without logs', ['clients:read']);
  await panel.get(`${ADMINS}/${ada.id}`, { body: { role } });
  await round(4);
  const { length } = allowed.of('panel_log');
  write('for nobody');
  await round(8);
  t.is(allowed.of('panel_log').length, length);
  t.deepEqual(refused.of('panel_log'), []);
});

test('a log that cannot be read is told, and is a fault once', async (t) => {
  const { panel, numbers, round } = await boot(t);
  const reader = Listener.plain(panel);
  await reader.first('snapshot');
  numbers.fails = true;
  reader.tell('watch', { log: 'numbers' });
  await until(async () => {
    await round();
    return reader.of('error').length > 0;
  }, 'the refusal');
  t.like(reader.of('error')[0]?.payload, { field: 'log', log: 'numbers' });
  await round(8);
  t.deepEqual(panel.faults, ['numbers, lines of the live log numbers: no disk']);
  numbers.fails = false;
  reader.tell('watch', { log: 'numbers' });
  await until(async () => {
    await round();
    return reader.of('numbers').length > 0;
  }, 'it is read again');
});

// A core that lies: negative and gigantic counters, users that nobody has, nonsense, errors, replies without an end. The
// panel goes on, every number that it stores is one of bytes, and all agrees when the core is honest again.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerHttp2Stream } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { PanelProcess } from '../harness/panel-process.js';
import { until } from '../harness/until.js';
import { agrees } from '../engine/agrees.js';
import { connect, engineBinary, MIB, openServer, poll, usageOf } from '../engine/user.js';
import { LyingWay, reply, statsOf } from './lying-way.js';

const GREATEST = 2n ** 63n - 1n;
const ENV = { WEIR_ENGINE_BIN: engineBinary() };

const failing = (stream: ServerHttp2Stream, code: string, text: string): void =>
  stream.respond({ ':status': 200, 'grpc-status': code, 'grpc-message': text }, { endStream: true });

/** Bytes for as long as somebody takes them. */
function endless(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  const chunk = Buffer.alloc(64 * 1024, 0x0a);
  const more = (): void => {
    while (!stream.destroyed && stream.write(chunk));
    if (!stream.destroyed) stream.once('drain', more);
  };
  more();
}

test('whatever the core says, the panel goes on', async (t) => {
  t.timeout(10 * 60_000);
  const first = await PanelProcess.start({ env: ENV });
  const { dataDirectory } = first;
  let last = first;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => last.dispose());
  const server = await openServer(t);
  const [one, two] = [await first.addInbound(), await first.addInbound()];
  const { id } = await first.addClient('ann', [one, two]);
  await first.addClient('bob', [one], { totalGB: 100 * MIB });
  await first.kill('SIGKILL');

  const way = await LyingWay.open(join(dataDirectory, 'engine', 'api.sock'));
  t.teardown(() => way.close());
  const panel = await PanelProcess.start({ env: ENV, dataDirectory });
  last = panel;
  t.is(await panel.corePid(), await first.corePid(), 'it adopts its core');
  const ann = await connect(t, panel, 'ann', server);
  await ann.download(MIB);
  await poll(panel);
  const honest = (await usageOf(panel, 'ann')).down;
  t.true(honest >= MIB);

  const counters = (value: bigint) =>
    [one, two].flatMap((inbound) =>
      ['uplink', 'downlink'].map((side) => [`user>>>i${inbound}.c${id}>>>traffic>>>${side}`, value] as const),
    );
  const names = [
    ...[
      'user>>>i999.c999>>>traffic>>>uplink',
      'user>>>i1.c999>>>traffic>>>downlink',
      'user>>>>>>traffic>>>uplink',
    ],
    ...['user>>>i1.c>>>traffic>>>uplink', `user>>>${'x'.repeat(100_000)}>>>traffic>>>uplink`, '', 'user>>>'],
    ...[
      'user>>>i-1.c-1>>>traffic>>>uplink',
      'user>>>i1e3.c1>>>traffic>>>uplink',
      'user>>>\u0000>>>traffic>>>uplink',
    ],
    ...['user>>>__proto__>>>traffic>>>uplink', 'user>>>i1.c18446744073709551616>>>traffic>>>uplink'],
  ];
  const stats: Readonly<Record<string, (stream: ServerHttp2Stream) => void>> = {
    'negative counters': (stream) => reply(stream, statsOf(counters(-5n))),
    'the most negative ones': (stream) => reply(stream, statsOf(counters(-(2n ** 63n)))),
    'gigantic counters': (stream) => reply(stream, statsOf(counters(GREATEST))),
    'small again': (stream) => reply(stream, statsOf(counters(1n))),
    'gigantic counters once more': (stream) => reply(stream, statsOf(counters(GREATEST))),
    'users that nobody has': (stream) => reply(stream, statsOf(names.map((name) => [name, 7n] as const))),
    'each counter twice': (stream) => reply(stream, statsOf([...counters(3n), ...counters(2n)])),
    'no counters': (stream) => reply(stream, Buffer.alloc(0)),
    'no protobuf': (stream) => reply(stream, Buffer.from('<html>no core lives here</html>')),
    'a number without an end': (stream) => reply(stream, Buffer.alloc(100_000, 0xff)),
    'a length beyond the end': (stream) =>
      reply(stream, Buffer.from([0x0a, 0xff, 0xff, 0xff, 0x7f, 0x0a, 0x01])),
    'an error': (stream) => failing(stream, '13', 'internal%20%00%FF'),
    'an error without a code': (stream) => failing(stream, 'what', 'x'.repeat(4000)),
    'a reply without an end': endless,
    silence: () => undefined,
    'a closed stream': (stream) => stream.close(),
  };
  let edits = 0;
  /** What must work whatever the core says. */
  const works = async (what: string): Promise<void> => {
    await panel.addClient(`c${edits++}`, [one]);
    for (const email of ['ann', 'bob', 'c0']) {
      const { up, down } = await usageOf(panel, email);
      t.true(
        Number.isSafeInteger(up) && up >= 0 && Number.isSafeInteger(down) && down >= 0,
        `${what}: ${up}, ${down}`,
      );
    }
    t.deepEqual(panel.faults, [], what);
    t.is(panel.end, undefined, what);
  };
  for (const [what, lie] of Object.entries(stats)) {
    const before = way.lies;
    way.lie = (path, stream) => {
      if (!path.endsWith('StatsService/QueryStats')) return false;
      lie(stream);
      return true;
    };
    // While it is silent, the core is not asked for a while.
    await until(async () => (await poll(panel), way.lies > before), `${what}: somebody asks`);
    await poll(panel);
    await works(what);
  }
  // Then every call.
  for (const what of ['no protobuf', 'an error', 'a reply without an end', 'a closed stream'] as const) {
    way.lie = (_, stream) => {
      stats[what]?.(stream);
      return true;
    };
    await Promise.all([poll(panel), sleep(3000)]);
    await works(`${what}, to all calls`);
  }
  way.lie = () => false;
  await poll(panel);
  await agrees(t, { dataDirectory }, { env: ENV });
  t.deepEqual(panel.faults, []);
  const found = await panel.get<{ email: string }[]>('/panel/api/clients/list');
  t.is(found.length, 2 + edits);
  const status = await readFile(`/proc/${panel.pid}/status`, 'utf8');
  const rss = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
  t.log(`${way.lies} lies; the panel has ${Math.round(rss / 1024)} MiB`);
});

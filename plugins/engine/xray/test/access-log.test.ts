import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { LoggedConnection } from '../../driver.js';
import { AccessLines, connectionOf } from '../access-line.js';
import { cutLog, olderLog } from '../../../processes/contract.js';
import { AccessLog } from '../access-log.js';
import { readLog } from '../log-line.js';
import { NameMark } from '../name-mark.js';

const TIME = '2026/11/21 05:24:38.326889';
/** of a core that an earlier version started */
const NONE = new NameMark();
const from = (rest: string): LoggedConnection | undefined => connectionOf(`${TIME} from ${rest}`, NONE);

test('the peer and the user of a line, in every form that the core writes', (t) => {
  const i1c2 = (address: string, port: number): LoggedConnection => ({
    name: 'i1.c2',
    address,
    port,
    at: new Date(2026, 10, 21, 5, 24, 38).getTime(),
  });
  t.deepEqual(
    from('127.0.1.1:48439 accepted tcp:127.0.0.1:45447 [in-a >> direct] email: i1.c2'),
    i1c2('127.0.1.1', 48439),
  );
  t.deepEqual(
    from('tcp:127.0.1.18:55149 accepted tcp:127.0.0.1:45447 [in-mux -> direct] email: i1.c2'),
    i1c2('127.0.1.18', 55149),
    'a stream inside a mux',
  );
  t.deepEqual(
    from('127.0.1.16:37541 accepted 127.0.0.1:45447 [in-ss2022 >> direct] email: i1.c2'),
    i1c2('127.0.1.16', 37541),
    'a target without its network',
  );
  t.deepEqual(
    from('[2001:db8::7]:4000 accepted tcp:[2001:db8::1]:443 [in >> direct] email: i1.c2'),
    i1c2('2001:db8::7', 4000),
  );
  t.deepEqual(
    from('127.0.4.1:0 accepted tcp:127.0.0.1:45447 [in-ws >> direct] email: i1.c2'),
    i1c2('127.0.4.1', 0),
    'an address that a proxy told',
  );
});

test('lines that name no connection of a user over TCP are none', (t) => {
  for (const line of [
    'udp:127.0.1.4:42939 accepted udp:127.0.0.1:54001 [in-ss >> direct] email: i1.c2',
    '127.0.0.1:58188 accepted //127.0.0.1:45075 [ht >> direct]',
    '127.0.1.10:43077 rejected  proxy/vless/encoding: invalid request user id: 07c20fec-0000-0000-0000-000000000000',
    '@ accepted tcp:127.0.0.1:1 [weir.api -> weir.api]',
    ':80 accepted tcp:127.0.0.1:1 [in >> direct] email: i1.c2',
    '127.0.0.1:x accepted tcp:127.0.0.1:1 [in >> direct] email: i1.c2',
  ])
    t.is(from(line), undefined, line);
  t.is(connectionOf('', NONE), undefined);
  t.is(
    connectionOf('127.0.0.1:1 accepted tcp:127.0.0.1:1 [in >> direct] email: i1.c2', NONE),
    undefined,
    'the end of a line whose beginning is lost',
  );
});

test('each line has its own time', (t) => {
  const at = (time: string) =>
    connectionOf(`${time}.000001 from 1.2.3.4:5 accepted tcp:a:443 email: i1.c2`, NONE)?.at;
  const second = (day: number, seconds: number) => new Date(2026, 10, day, 5, 24, seconds).getTime();
  t.deepEqual(
    ['2026/11/21 05:24:38', '2026/11/21 05:24:38', '2026/11/21 05:24:39', '2026/11/22 05:24:39'].map(at),
    [second(21, 38), second(21, 38), second(21, 39), second(22, 39)],
  );
});

test('a target cannot pass for a peer or a user', (t) => {
  t.deepEqual(
    from(
      '127.0.0.1:1 accepted tcp:evil from 9.9.9.9:9 accepted x email: i7.c7:443 [in >> direct] email: i1.c2',
    ),
    {
      name: 'i1.c2',
      address: '127.0.0.1',
      port: 1,
      at: new Date(2026, 10, 21, 5, 24, 38).getTime(),
    },
  );
});

/** The users whose connections these lines are, with their peers. */
function readAs(mark: string, lines: readonly string[]): string[] {
  const names = new NameMark();
  names.mark = mark;
  const reader = new AccessLines(names);
  return lines.flatMap((line) => {
    const found = reader.connectionOf(line);
    return found ? [`${found.name} ${found.address}`] : [];
  });
}

test('a line that a user had written counts for nobody: its name has no mark', (t) => {
  const own = `${TIME} from 127.0.0.1:2 accepted tcp:a.b:443 [in -> direct] email: i1.c2~mark`;
  const forged = `${TIME} from 203.0.113.9:1 accepted tcp:a.b:443 [in -> direct] email: i1.c3`;
  const refused = `${TIME} from 127.0.0.1:3 rejected  proxy/trojan: common/protocol: invalid domain name: x`;
  t.deepEqual(readAs('~mark', [own, forged, own]), ['i1.c2 127.0.0.1', 'i1.c2 127.0.0.1']);
  t.deepEqual(readAs('~mark', [refused, forged, `${forged}~mork`, own]), ['i1.c2 127.0.0.1']);
  const head = `${TIME} from 203.0.113.9:1 accepted tcp:a.b`;
  t.deepEqual(readAs('~mark', [refused, head, own]), ['i1.c2 127.0.0.1'], 'it hides no line of the core');
});

test('a target with a line break gives its user no other address', (t) => {
  const own = `${TIME} from 127.0.0.1:2 accepted tcp:a.b:443 [in -> direct] email: i1.c2~mark`;
  const broken = [
    `${TIME} from 127.0.0.1:4 accepted tcp:x`,
    `${TIME} from 198.51.100.9:1 accepted tcp:`,
    `${TIME} from 203.0.113.9:1 accepted tcp:y:443 [in -> direct] email: i1.c2~mark`,
  ];
  t.deepEqual(readAs('~mark', [own, ...broken, own]), ['i1.c2 127.0.0.1', 'i1.c2 127.0.0.1']);
});

async function logFile(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'access.log');
}
const lineOf = (port: number): string =>
  `${TIME} from 127.0.0.1:${port} accepted tcp:a.example:443 [in >> direct] email: i1.c2\n`;
async function portsOf(log: AccessLog): Promise<number[]> {
  const ports: number[] = [];
  await log.read((batch) => void ports.push(...batch.map(({ port }) => port)));
  return ports;
}

test('each line is read once; half a line waits for its end; a log cut to nothing is read from its beginning', async (t) => {
  const path = await logFile(t);
  const log = new AccessLog(path, NONE);
  await writeFile(path, lineOf(1) + lineOf(2).slice(0, 40));
  t.deepEqual(await portsOf(log), [1]);
  t.deepEqual(await portsOf(log), []);
  await appendFile(path, lineOf(2).slice(40) + lineOf(3));
  t.deepEqual(await portsOf(log), [2, 3]);
  await truncate(path, 0);
  t.deepEqual(await portsOf(log), []);
  await appendFile(path, lineOf(4));
  t.deepEqual(await portsOf(log), [4]);
});

test('a log of many chunks is read whole, and a line without an end does not hold it up', async (t) => {
  const path = await logFile(t);
  const log = new AccessLog(path, NONE);
  await writeFile(path, Array.from({ length: 20_000 }, (_, i) => lineOf(i + 1)).join(''));
  t.deepEqual(
    await portsOf(log),
    Array.from({ length: 20_000 }, (_, i) => i + 1),
  );
  await appendFile(path, `${'x'.repeat(600_000)}\n${lineOf(5)}`);
  t.deepEqual(await portsOf(log), [5]);
});

test('over any number of cuts no line is lost and none is read twice, forwards or backwards', async (t) => {
  const path = await logFile(t);
  const log = new AccessLog(path, NONE);
  const keep = 3;
  const cut = async (): Promise<void> => {
    const done = await cutLog(path, { maxBytes: 1, keep, olderBytes: 1_000_000 });
    if (done) log.wasCut(done, keep);
  };
  const backwards = async (): Promise<number[]> => {
    const ports: number[] = [];
    const paths = [0, 1, 2, 3, 4].map((number) => olderLog(path, number));
    await readLog(paths, NONE, ({ from }) => ports.push(Number(from.split(':')[1])) > 0);
    return ports.reverse();
  };
  await writeFile(path, lineOf(1) + lineOf(2));
  t.deepEqual(await portsOf(log), [1, 2]);
  await appendFile(path, lineOf(3));
  await cut();
  await appendFile(path, lineOf(4));
  t.deepEqual(await portsOf(log), [3, 4], 'the end of the older part, and the beginning of the new one');
  await cut();
  await appendFile(path, lineOf(5));
  await cut();
  await appendFile(path, lineOf(6));
  t.deepEqual(await backwards(), [1, 2, 3, 4, 5, 6]);
  t.deepEqual(await portsOf(log), [5, 6], 'two cuts between two reads');
  t.deepEqual(await portsOf(log), []);
  for (let port = 7; port <= 11; port++) {
    await cut();
    await appendFile(path, lineOf(port));
  }
  t.deepEqual(await portsOf(log), [8, 9, 10, 11], 'as far back as parts are kept');
  t.deepEqual(await backwards(), [8, 9, 10, 11]);
  // Only the end of the log is kept, which begins with half a line.
  await appendFile(path, lineOf(12) + lineOf(13));
  const size = lineOf(12).length;
  const done = await cutLog(path, { maxBytes: 1, keep, olderBytes: size + 10 });
  t.like(done, { isKept: true, lost: lineOf(11).length + size - 10 });
  if (done) log.wasCut(done, keep);
  await appendFile(path, lineOf(14));
  t.deepEqual(await portsOf(log), [13, 14]);
  t.deepEqual(await backwards(), [9, 10, 13, 14]);
  // Nothing is kept.
  log.wasCut((await cutLog(path, { maxBytes: 1, keep: 0 })) ?? { isKept: false, lost: 0, reason: '' }, 0);
  await appendFile(path, lineOf(15));
  t.deepEqual(await portsOf(log), [15]);
});

test('followers of an adopted core begin with the part that was cut off last', async (t) => {
  const path = await logFile(t);
  await writeFile(path, lineOf(1));
  await cutLog(path, { maxBytes: 1, keep: 1, olderBytes: 1000 });
  await writeFile(path, lineOf(2));
  const log = new AccessLog(path, NONE);
  log.begin(0, [{ number: 1, position: 0 }]);
  t.deepEqual(await portsOf(log), [1, 2]);
  const without = new AccessLog(await logFile(t), NONE);
  without.begin(0, [{ number: 1, position: 0 }]);
  await t.throwsAsync(portsOf(without), { code: 'ENOENT' }, 'no log at all');
});

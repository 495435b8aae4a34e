// Large input, many servers, and many calls: nobody else waits, and each limit says so.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import test from 'ava';
import { mock } from 'node:test';
import type { JsonObject } from '../../engine/contract.js';
import { type Candidate, candidatesOf } from '../candidates.js';
import { dialAll } from '../dial.js';
import { isReverse, MOST_VALUES, referencesIn, renamed, valuesIn } from '../outbound-json.js';
import { readOutbound, readOutbounds } from '../request.js';
import { routes } from '../routes.js';
import { OutboundTester } from '../tester.js';

const guard = { problem: async () => undefined };
const socks = (tag: string, more: JsonObject = {}): JsonObject => ({ tag, protocol: 'socks', ...more });
const list = (values: number): JsonObject => ({ list: Array.from({ length: values }, () => 1) });

test('a text has the limits of a body, and an outbound at most 2,000 values', (t) => {
  const says = (message: RegExp) => ({ message });
  t.throws(
    () => readOutbound(`{"a":[${'1,'.repeat(250_000)}1]}`, 'outbound', []),
    says(/^outbound: it holds more than/),
  );
  t.throws(() => readOutbound(`{"a":${'['.repeat(500)}`, 'outbound', []), says(/^outbound: it nests deeper/));
  t.throws(() => readOutbound('{"a":1},{"b":1}', 'outbound', []), says(/^outbound: it is not valid JSON/));
  const most = socks('a', list(MOST_VALUES - 4));
  t.deepEqual(readOutbound(JSON.stringify(most), 'outbound', []), most);
  const large = socks('a', list(MOST_VALUES - 3));
  for (const sent of [large, JSON.stringify(large)])
    t.throws(() => readOutbound(sent, 'outbound', []), says(/^outbound: it holds more than 2000 values$/));
  t.throws(() => readOutbounds([most, large], 'all'), says(/^all\.1: it holds more than/));
  t.is(valuesIn(list(1_000_000)), MOST_VALUES + 1, 'it counts no further');
});

test('an outbound names at most twenty others, and those of one call have room together', async (t) => {
  const hub = (members: number): JsonObject =>
    socks('hub', { all: Array.from({ length: members }, (_, at) => ({ dialerProxy: `m${at}` })) });
  const members = Array.from({ length: 100 }, (_, at) => socks(`m${at}`));
  const [small] = (await candidatesOf(guard, [hub(19)], members)) as Candidate[];
  t.is(small?.members.length, 20);
  const [wide] = await candidatesOf(guard, [hub(100)], members);
  t.regex(wide && 'error' in wide ? wide.error : '', /more than 20/);
  const fifty = Array.from({ length: 50 }, (_, at) => socks(`o${at}`, list(1500)));
  const found = await candidatesOf(guard, fifty, []);
  const refused = found.filter((one) => 'error' in one);
  t.is(refused.length, 50 - Math.floor(50_000 / 1504));
  t.regex(refused[0] && 'error' in refused[0] ? refused[0].error : '', /no room for it/);
  const shared = fifty.map(({ tag }) => socks(String(tag), { proxySettings: { tag: 'one' } }));
  const chained = await candidatesOf(guard, shared, [socks('one', list(1900))]);
  t.true(
    chained.every((one) => 'outbound' in one),
    'what several dial through counts once',
  );
});

test('of two outbounds with one tag the tested one is dialed through', async (t) => {
  const [through] = (await candidatesOf(
    guard,
    [socks('a', { proxySettings: { tag: 'b' } }), socks('b', { own: true })],
    [socks('b', { own: false })],
  )) as Candidate[];
  t.like(through?.members[0], { tag: 'b', own: true });
});

test('each outbound is checked once, and the problem of a member is that of all who dial through it', async (t) => {
  const asked: unknown[] = [];
  const found = await candidatesOf(
    {
      problem: async ({ tag }) => {
        asked.push(tag);
        return tag === 'bad' ? 'it reads a file' : undefined;
      },
    },
    [
      socks('a', { proxySettings: { tag: 'bad' } }),
      socks('b', { proxySettings: { tag: 'bad' } }),
      socks('bad'),
    ],
    [],
  );
  t.deepEqual(asked.sort(), ['a', 'b', 'bad']);
  t.deepEqual(
    found.map((one) => ('error' in one ? one.error : '')),
    ['outbound bad: it reads a file', 'outbound bad: it reads a file', 'it reads a file'],
  );
});

test('keys are read as the core reads them', (t) => {
  t.true(isReverse({ ['\u017fettings']: { users: [{ reverse: { tag: 'r' } }] } }));
  const outbound = { tag: 'a', ['proxy\u017fettings']: { tag: 'b' }, streamSettings: { tag: 'a' } };
  t.deepEqual(referencesIn(outbound), [{ tag: 'b', path: 'proxy\u017fettings.tag' }]);
  t.deepEqual(
    renamed(
      outbound,
      new Map([
        ['a', 'o0'],
        ['b', 'o1'],
      ]),
    ),
    {
      tag: 'o0',
      ['proxy\u017fettings']: { tag: 'o1' },
      streamSettings: { tag: 'a' },
    },
  );
  const polluted = JSON.parse('{"tag":"a","__proto__":{"dialerProxy":"b"}}') as JsonObject;
  t.deepEqual(
    JSON.stringify(renamed(polluted, new Map([['b', 'o1']]))),
    '{"tag":"a","__proto__":{"dialerProxy":"o1"}}',
  );
});

test('servers are dialed some at a time, and names looked up two at a time and only while somebody waits', async (t) => {
  const server = createServer((socket) => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const good = await dialAll(Array.from({ length: 200 }, () => ({ host: '127.0.0.1', port })));
  t.is(good.filter(({ success }) => success).length, 200);

  let [running, most, asked] = [0, 0, 0];
  const names = Array.from({ length: 300 }, (_, at) => ({ host: `n${at}.example`, port }));
  const slow = await dialAll(names, {
    limit: 200,
    resolve: (_, _options, done) => {
      asked += 1;
      most = Math.max(most, ++running);
      setTimeout(() => {
        running -= 1;
        done(null, [{ address: '127.0.0.1', family: 4 }]);
      }, 150);
    },
  });
  t.is(most, 2);
  t.true(asked < 40, `${asked} of 300 were looked up`);
  t.deepEqual(
    slow.map(({ address }) => address),
    names.map(({ host }) => `${host}:${port}`),
    'in their order',
  );
  t.true(slow.some(({ success }) => success));
  t.is(slow.at(-1)?.error, 'no answer within 0.2 s');
  const [none] = await dialAll([{ host: 'none.example', port }], {
    resolve: (_, _o, done) => done(null, []),
  });
  t.is(none?.error, 'none.example has no address');
});

function tester() {
  return new OutboundTester({
    log: { warn: () => undefined } as never,
    guard: guard as never,
    template: { testUrl: () => 'http://a.example:99999/' } as never,
    configured: undefined,
    core: { isThere: true } as never,
    settings: { read: () => ({ outboundTestEgress: false }) } as never,
  });
}

test('five calls that dial are served, others are refused at once', async (t) => {
  const dead = socks('a', { settings: { servers: [{ address: '127.0.0.1', port: 9 }] } });
  const one = tester();
  const call = () =>
    one.test({ outbounds: [dead], all: [], mode: 'tcp' }).then(
      ([result]) => result?.success === false,
      ({ code }: { code: string }) => code,
    );
  const answers = await Promise.all(Array.from({ length: 6 }, call));
  t.deepEqual(answers.filter((answer) => answer === true).length, 4);
  t.deepEqual(answers.filter((answer) => answer === 'OUTBOUNDS_BUSY').length, 2);
  t.true(await call(), 'those that are over leave their places');
  // More than may wait: those that failed leave their places too.
  for (let n = 0; n < 5; n++)
    await t.throwsAsync(one.test({ outbounds: [dead], all: [], mode: 'http' }), {
      code: 'OUTBOUNDS_CANNOT_TEST',
    });
});

test.serial('a caller is not cut off while its test waits for others', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  let progressed = 0;
  let finish = (_: unknown[]): void => undefined;
  const test = () => new Promise<unknown[]>((resolve) => (finish = resolve));
  const all = routes({ tester: { test } } as never);
  for (const [name, body] of [
    ['engine.testOutbound', { outbound: socks('a') }],
    ['engine.testOutbounds', { outbounds: [socks('a')] }],
  ] as const) {
    progressed = 0;
    const route = all.find((one) => one.name === name);
    const reply = { progressed: () => void progressed++ };
    const answer = route?.handle({ body: { mode: 'http', ...body }, reply } as never);
    // The outbounds of the config are read first.
    await new Promise(setImmediate);
    mock.timers.tick(35_000);
    t.is(progressed, 3, name);
    finish([{ tag: 'a' }]);
    await answer;
  }
});

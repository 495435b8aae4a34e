// What a client program gets, on either lane: the fast one, and the one that every fetch takes as soon as a plugin has a say.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { definePlugin, type Plugin, Refusal, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { beforeSubscription, subscriptionHeaders } from '../contract.js';

const GB = 1024 ** 3;
const listener = (taps: Parameters<typeof definePlugin>[0]['taps']): Plugin =>
  definePlugin({
    name: 'server-status',
    version: '0.0.0',
    api: 1,
    about: 'In the place of another, to tap into fetches.',
    ...(taps && { taps }),
  });
const onlooker = listener(() => [tap(beforeSubscription, () => undefined)]);

interface Fetched {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}
async function fetchAt(panel: TestPanel, path: string, init: RequestInit = {}): Promise<Fetched> {
  const answer = await fetch(panel.subscriptionUrl + path, init);
  const {
    date: _date,
    'keep-alive': _keepAlive,
    connection: _connection,
    ...headers
  } = Object.fromEntries(answer.headers);
  return { status: answer.status, headers, body: await answer.text() };
}

/** What a request is answered with over the wire, but for the time of day. */
async function bytesOf(panel: TestPanel, request: string): Promise<string> {
  const socket = connect(Number(new URL(panel.subscriptionUrl).port), '127.0.0.1');
  socket.write(request);
  return (await text(socket)).replace(/^Date: .*$/m, '');
}

async function fill(panel: TestPanel, clock: FakeClock) {
  const ids = [
    await panel.addInbound({ remark: 'plain', port: 20_001 }),
    await panel.addInbound({
      remark: 'Сервер 1',
      port: 20_002,
      protocol: 'trojan',
      streamSettings: { network: 'ws', wsSettings: { path: '/x' } },
    }),
  ];
  const uuid = '11111111-2222-4333-8444-555555555555';
  await panel.addClient('ann', ids, {
    subId: 'sub-ann',
    uuid,
    password: 'p/w',
    totalGB: 80 * GB,
    expiryTime: clock.now() + 10 * 86_400_000,
    comment: 'x',
  });
  await panel.addClient('off', ids, {
    subId: 'sub-off',
    uuid: uuid.replace('1111', '2222'),
    password: 'off',
    enable: false,
  });
  await panel.addClient('over', ids, {
    subId: 'sub-over',
    uuid: uuid.replace('1111', '3333'),
    password: 'over',
    expiryTime: clock.now() - 1,
  });
  await panel.get('/panel/api/setting/update', {
    body: {
      subPath: '/s/',
      subTitle: 'Weir for {{EMAIL}}',
      subAnnounce: 'ü',
      subSupportUrl: 'https://help.example/?id={{SUB_ID}}',
    },
  });
}

test('both lanes give the same bytes and headers, to every client and for what is not there', async (t) => {
  const clock = new FakeClock();
  await using fast = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  await using slow = await TestPanel.boot({ plugins: [new FakeEngine().plugin, onlooker], clock });
  await fill(fast, clock);
  await fill(slow, clock);
  for (const path of [
    '/s/sub-ann',
    '/s/sub-off',
    '/s/sub-over',
    '/s/nobody',
    '/s/',
    '/s/sub-ann/more',
    '/elsewhere/sub-ann',
    '/s/%73ub-ann',
  ]) {
    for (const method of ['GET', 'HEAD', 'POST'])
      t.deepEqual(
        await fetchAt(fast, path, { method }),
        await fetchAt(slow, path, { method }),
        `${method} ${path}`,
      );
  }
  const { status, headers, body } = await fetchAt(fast, '/s/sub-ann');
  t.is(status, 200);
  t.is(
    headers['subscription-userinfo'],
    `upload=0; download=0; total=${80 * GB}; expire=${Math.floor((clock.now() + 10 * 86_400_000) / 1000)}`,
  );
  t.is(
    Buffer.from((headers['profile-title'] ?? '').replace('base64:', ''), 'base64').toString(),
    'Weir for ann',
  );
  t.is(headers['support-url'], 'https://help.example/?id=sub-ann');
  const links = Buffer.from(body, 'base64').toString().trim().split('\n');
  t.is(links.length, 2);
  t.is(
    links[0],
    'vless://11111111-2222-4333-8444-555555555555@127.0.0.1:20001?encryption=none&security=none&type=tcp#plain-ann%7C%F0%9F%93%8A80.00GB%7C%E2%8F%B310D',
  );
  t.is(
    links[1],
    'trojan://p%2Fw@127.0.0.1:20002?host=&path=%2Fx&security=none&type=ws#%D0%A1%D0%B5%D1%80%D0%B2%D0%B5%D1%80%201',
  );
});

test('a client without a working link gets its headers all the same, and an unknown one nothing', async (t) => {
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  await fill(panel, clock);
  for (const subId of ['sub-off', 'sub-over']) {
    const { status, headers, body } = await fetchAt(panel, `/s/${subId}`);
    t.deepEqual([status, body], [200, '']);
    t.truthy(headers['subscription-userinfo']);
  }
  t.like(await fetchAt(panel, '/s/nobody'), { status: 404, body: '' });
});

test('a plugin that refuses a fetch is answered as if nothing were there, and one that adds a header is heard', async (t) => {
  const clock = new FakeClock();
  const both = listener(() => [
    tap(beforeSubscription, ({ agent }) => {
      if (agent === 'curious') throw new Refusal('not for you');
    }),
    tap(subscriptionHeaders, (headers) => [...headers, ['X-Added', 'yes']]),
  ]);
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, both], clock });
  await fill(panel, clock);
  t.is((await fetchAt(panel, '/s/sub-ann')).headers['x-added'], 'yes');
  t.deepEqual(
    await fetchAt(panel, '/s/sub-ann', { headers: { 'user-agent': 'curious' } }),
    await fetchAt(panel, '/s/nobody'),
  );
});

test('links follow an inbound, a client and a setting at once', async (t) => {
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  await fill(panel, clock);
  const links = async () => Buffer.from((await fetchAt(panel, '/s/sub-ann')).body, 'base64').toString();
  await panel.get('/panel/api/inbounds/update/1', { body: { port: 20_009 } });
  t.true((await links()).includes(':20009?'));
  await panel.get('/panel/api/clients/update/ann', { body: { password: 'other' } });
  t.true((await links()).includes('trojan://other@'));
  await panel.get('/panel/api/inbounds/setEnable/1', { body: { enable: false } });
  t.false((await links()).includes('vless://'));
  await panel.get('/panel/api/setting/update', { body: { subPath: '/moved/' } });
  t.is((await fetchAt(panel, '/s/sub-ann')).status, 404);
  t.is((await fetchAt(panel, '/moved/sub-ann')).status, 200);
});

test('names that are the same for all clients are shared, and no others, until the template changes', async (t) => {
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  await fill(panel, clock);
  await panel.addClient('bob', [1, 2], { subId: 'sub-bob', uuid: '99999999-2222-4333-8444-555555555555' });
  const later = async (remarkTemplate: string, subShowIdentityOnAllLinks = false) => {
    await panel.get('/panel/api/setting/update', { body: { remarkTemplate, subShowIdentityOnAllLinks } });
    const names: string[] = [];
    for (const name of ['ann', 'bob', 'ann']) {
      const links = Buffer.from((await fetchAt(panel, `/s/sub-${name}`)).body, 'base64')
        .toString()
        .trim()
        .split('\n');
      names.push(decodeURIComponent(links[1]?.split('#')[1] ?? ''));
    }
    return names;
  };
  t.deepEqual(await later('{{INBOUND}}-{{EMAIL}}'), ['Сервер 1', 'Сервер 1', 'Сервер 1']);
  t.deepEqual(await later('{{PROTOCOL}} {{UNHEARD_OF}}x|{{EMAIL}}'), ['TROJAN x', 'TROJAN x', 'TROJAN x']);
  t.deepEqual(await later('{{INBOUND}}-{{SHORT_ID}}'), [
    'Сервер 1-11111111',
    'Сервер 1-99999999',
    'Сервер 1-11111111',
  ]);
  t.deepEqual(await later('{{INBOUND}}-{{EMAIL}}', true), ['Сервер 1-ann', 'Сервер 1-bob', 'Сервер 1-ann']);
  t.deepEqual(await later('{{COMMENT}}'), ['x', 'Сервер 1', 'x']);
  t.deepEqual(await later(''), ['Сервер 1-ann', 'Сервер 1-bob', 'Сервер 1-ann']);
});

test('what is not there is answered with the same bytes behind the right prefix as behind a wrong one', async (t) => {
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  await fill(panel, clock);
  await panel.get('/panel/api/setting/update', {
    body: { subResponseRules: [{ agent: 'evil', block: true }] },
  });
  t.is((await fetchAt(panel, '/s/sub-ann')).status, 200);
  const head = 'HTTP/1.1\r\nHost: weir\r\nUser-Agent: evil\r\nConnection: close\r\n\r\n';
  const elsewhere = await bytesOf(panel, `GET /x/nobody ${head}`);
  t.regex(elsewhere, /^HTTP\/1\.1 404 Not Found\r\n/);
  t.is(await bytesOf(panel, `GET /s/sub-ann ${head}`), elsewhere, 'a program that is blocked');
  for (const request of ['GET', 'HEAD', 'POST'])
    for (const id of ['nobody', '__proto__', '%', '%C3%28', 'sub-ann%', 'sub-ann/', 'x'.repeat(9000)])
      for (const version of ['1.0', '1.1']) {
        const ask = (prefix: string) =>
          bytesOf(
            panel,
            `${request} ${prefix}${id} HTTP/${version}\r\nHost: weir\r\nConnection: close\r\n\r\n`,
          );
        t.is(await ask('/s/'), await ask('/x/'), `${request} ${id.slice(0, 20)} ${version}`);
      }
});

// Runs on every database in test:full.
import test from 'ava';
import { FakeEngine, freePort, refused, selfSigned, TestPanel } from '../../../test/harness/index.js';
import { type Observed, servicesOf } from '../../../test/harness/services-of.js';
import type { Database } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import { placeOf } from '../fallback.js';
import fallbacks from '../index.js';
import type { FallbackStore } from '../store.js';

interface Fallback {
  readonly id: number;
  readonly masterId: number;
  readonly childId: number;
  readonly dest: string;
  readonly path: string;
  readonly sortOrder: number;
}
const { cert, key } = selfSigned();
const tls = {
  network: 'tcp',
  security: 'tls',
  tlsSettings: { certificates: [{ certificate: cert.split('\n'), key: key.split('\n') }] },
};
const engine = new FakeEngine();
let panel: TestPanel;
let [master, child, plain, vmess] = [0, 0, 0, 0];
let childPort = 0;
let probe: Observed<{ readonly store: FallbackStore; readonly db: Database }>;

const at = (id: number) => `/panel/api/inbounds/${id}/fallbacks`;
const list = (id: number): Promise<Fallback[]> => panel.get(at(id));
const save = (id: number, ...rows: object[]): Promise<Fallback[]> =>
  panel.get(at(id), { body: { fallbacks: rows } });
const say = async (id: number, ...rows: object[]): Promise<string> =>
  (await panel.call<{ msg: string }>(at(id), { body: { fallbacks: rows } })).body.msg;
const inCore = (tag: string): unknown =>
  (engine.configs.find((config) => config['tag'] === tag) as { settings: JsonObject }).settings['fallbacks'];
const parentOf = async (id: number): Promise<unknown> =>
  (await panel.get<{ fallbackParent: unknown }>(`/panel/api/inbounds/get/${id}`)).fallbackParent;

test.before(async () => {
  probe = servicesOf(fallbacks);
  panel = await TestPanel.boot({ plugins: [engine.plugin, probe.plugin] });
  childPort = await freePort();
  master = await panel.addInbound({ tag: 'master', protocol: 'trojan', streamSettings: tls });
  child = await panel.addInbound({ tag: 'child', listen: '127.0.0.1', port: childPort });
  plain = await panel.addInbound({ tag: 'plain', protocol: 'trojan' });
  vmess = await panel.addInbound({ tag: 'vmess', protocol: 'vmess' });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

test.serial('fallbacks are kept in their order, lead to the place of the child, and follow it', async (t) => {
  const saved = await save(
    master,
    { dest: 'example.com:80', sortOrder: 7 },
    { childId: child, path: '/ws', alpn: 'http/1.1', name: 'a.example', xver: 1 },
  );
  t.deepEqual(
    saved.map(({ childId, dest, sortOrder }) => ({ childId, dest, sortOrder })),
    [
      { childId: child, dest: '', sortOrder: 2 },
      { childId: 0, dest: 'example.com:80', sortOrder: 7 },
    ],
  );
  t.deepEqual(await list(master), saved);
  const toChild = { path: '/ws', alpn: 'http/1.1', name: 'a.example', xver: 1 };
  t.deepEqual(inCore('master'), [{ dest: `127.0.0.1:${childPort}`, ...toChild }, { dest: 'example.com:80' }]);
  t.deepEqual(await parentOf(child), { masterId: master, path: '/ws' });

  const moved = await freePort();
  await panel.get(`/panel/api/inbounds/update/${child}`, { body: { port: moved } });
  t.deepEqual(inCore('master'), [{ dest: `127.0.0.1:${moved}`, ...toChild }, { dest: 'example.com:80' }]);
  childPort = moved;
});

test.serial('a destination that is an inbound of this panel becomes its child', async (t) => {
  for (const dest of [childPort, String(childPort), `127.0.0.1:${childPort}`, `localhost:${childPort}`]) {
    const [row] = await save(master, { dest });
    t.like(row, { childId: child, dest: '' }, String(dest));
  }
});

test.serial(
  'without rows the fallbacks in the settings stay in force, and are shown at the child',
  async (t) => {
    await panel.get(`/panel/api/inbounds/update/${master}`, {
      body: { settings: { fallbacks: [{ dest: childPort, path: '/own' }] } },
    });
    await save(master, { dest: 'example.com:80' });
    t.is(await parentOf(child), null);
    t.deepEqual(inCore('master'), [{ dest: 'example.com:80' }]);
    t.deepEqual(await save(master), []);
    t.deepEqual(inCore('master'), [{ dest: childPort, path: '/own' }]);
    t.deepEqual(await parentOf(child), { masterId: master, path: '/own' });
    await panel.get(`/panel/api/inbounds/update/${master}`, { body: { settings: {} } });
  },
);

test.serial(
  'fallbacks that the core cannot use are stored, and the reply says why they are idle',
  async (t) => {
    t.is(
      await say(plain, { childId: child }),
      'fallbacks saved; they are idle: fallbacks need the security tls or reality',
    );
    t.is((await list(plain)).length, 1);
    t.is(inCore('plain'), undefined);
    t.is(await say(plain), 'fallbacks saved');
  },
);

test.serial('bad fallbacks are refused by name and change nothing', async (t) => {
  await save(master, { childId: child });
  const before = await list(master);
  const panelPort = new URL(panel.url).port;
  const wrong: readonly (readonly [row: object, field: string, code?: string, status?: number])[] = [
    [{}, 'fallbacks.0.childId'],
    [{ childId: 999 }, 'fallbacks.0.childId', 'INBOUNDS_NOT_FOUND', 404],
    [{ childId: -1 }, 'fallbacks.0.childId'],
    [{ childId: master }, 'fallbacks.0.childId', 'FALLBACKS_CYCLE', 422],
    [{ dest: `127.0.0.1:${panelPort}` }, 'fallbacks.0.dest'],
    [{ dest: '127.0.0.1:9' }, 'fallbacks.0.dest'],
    [{ dest: '/run/some.sock' }, 'fallbacks.0.dest'],
    [{ dest: 'a b' }, 'fallbacks.0.dest'],
    [{ dest: 70_000 }, 'fallbacks.0.dest'],
    [{ childId: child, path: 'ws' }, 'fallbacks.0.path'],
    [{ childId: child, alpn: 'h3' }, 'fallbacks.0.alpn'],
    [{ childId: child, xver: 3 }, 'fallbacks.0.xver'],
    [{ childId: child, name: 'a\u0000' }, 'fallbacks.0.name'],
  ];
  for (const [row, field, code = 'KERNEL_INVALID', status = 400] of wrong)
    await refused(t, panel, at(master), { body: { fallbacks: [row] } }, { status, code, field });
  const many = Array.from({ length: 101 }, () => ({ childId: child }));
  await refused(t, panel, at(master), { body: { fallbacks: many } }, { status: 400, code: 'KERNEL_INVALID' });
  await refused(
    t,
    panel,
    at(vmess),
    { body: { fallbacks: [{ childId: child }] } },
    { status: 422, code: 'FALLBACKS_NO_MASTER' },
  );
  await refused(t, panel, at(999), { body: { fallbacks: [] } }, { status: 404, code: 'INBOUNDS_NOT_FOUND' });
  t.is((await panel.call(at(999))).status, 404);
  engine.refuses = 'no fallbacks beside decryption';
  await refused(
    t,
    panel,
    at(master),
    { body: { fallbacks: [{ childId: plain }] } },
    { status: 422, code: 'INBOUNDS_CORE_REFUSED', says: 'no fallbacks beside decryption' },
  );
  engine.refuses = undefined;
  t.deepEqual(await list(master), before);
});

test.serial('fallbacks that lead back to their start are refused', async (t) => {
  await save(master, { childId: plain });
  await refused(
    t,
    panel,
    at(plain),
    { body: { fallbacks: [{ dest: 'example.com:80' }, { childId: master }] } },
    { status: 422, code: 'FALLBACKS_CYCLE', field: 'fallbacks.1.childId' },
  );
});

test.serial('a deleted inbound takes its fallbacks along, as master and as child', async (t) => {
  const third = await panel.addInbound({ tag: 'third' });
  await save(master, { childId: third }, { childId: child });
  await save(plain, { childId: third, path: '/plain' });
  t.deepEqual(await parentOf(third), { masterId: master, path: '' }, 'the lowest id counts');
  await panel.get(`/panel/api/inbounds/del/${third}`, { body: {} });
  t.deepEqual(
    (await list(master)).map(({ childId }) => childId),
    [child],
  );
  t.deepEqual(await list(plain), []);
  const { store } = probe.services;
  t.deepEqual(await store.memory.fresh(), store.memory.state, 'memory equals the database');
});

// The plugin of inbounds does not learn of this deletion until the restart below.
test.serial('an inbound that is deleted while its fallbacks are saved is not found', async (t) => {
  const goes = await panel.addInbound({ tag: 'goes' });
  await probe.services.db.write((tx) => tx.run('DELETE FROM inbounds WHERE id = :goes', { goes }));
  await refused(
    t,
    panel,
    at(master),
    { body: { fallbacks: [{ childId: goes }] } },
    { status: 404, code: 'INBOUNDS_NOT_FOUND', field: 'fallbacks', says: 'deleted meanwhile' },
  );
  const { store } = probe.services;
  t.deepEqual(await store.memory.fresh(), store.memory.state);
});

test.serial(
  'links lead to the master after a restart too, and to the child itself when the fallback goes',
  async (t) => {
    const lone = await panel.addInbound({ tag: 'lone', listen: '127.0.0.1' });
    await panel.addClient('ada', [lone]);
    await save(master, { childId: lone, path: '/lone' });
    const { port } = await panel.get<{ port: number }>(`/panel/api/inbounds/get/${master}`);
    const own = await panel.get<{ port: number }>(`/panel/api/inbounds/get/${lone}`);
    const linkOf = async (of: TestPanel): Promise<URL> => {
      const [link = ''] = await of.get<string[]>('/panel/api/clients/links/ada');
      return new URL(link);
    };
    const portOf = async (of: TestPanel): Promise<string> => (await linkOf(of)).port;
    t.is(await portOf(panel), String(port));
    t.is((await linkOf(panel)).searchParams.get('security'), 'tls', 'which the master has');
    await panel.stop();
    const { dataDirectory } = panel;
    panel = await TestPanel.boot({ plugins: [engine.plugin], dataDirectory });
    t.is(await portOf(panel), String(port), 'after a restart');
    const moved = await freePort();
    await panel.get(`/panel/api/inbounds/update/${master}`, { body: { port: moved } });
    t.is(await portOf(panel), String(moved), 'the master has moved');
    await panel.get(`/panel/api/inbounds/setEnable/${master}`, { body: { enable: false } });
    t.is(await portOf(panel), String(own.port), 'the master is disabled');
    await panel.get(`/panel/api/inbounds/setEnable/${master}`, { body: { enable: true } });
    t.is(await portOf(panel), String(moved));
    // Of two masters the one whose fallbacks act counts, even where another has a lower id.
    const second = await panel.addInbound({ tag: 'second', protocol: 'trojan', streamSettings: tls });
    await save(second, { childId: lone });
    t.deepEqual(await parentOf(lone), { masterId: master, path: '/lone' });
    await panel.get(`/panel/api/inbounds/setEnable/${master}`, { body: { enable: false } });
    t.deepEqual(await parentOf(lone), { masterId: second, path: '' });
    const other = await panel.get<{ port: number }>(`/panel/api/inbounds/get/${second}`);
    t.is(await portOf(panel), String(other.port));
    await panel.get(`/panel/api/inbounds/update/${second}`, { body: { streamSettings: { network: 'tcp' } } });
    t.is(await portOf(panel), String(own.port), 'no fallbacks act');
    await panel.get(`/panel/api/inbounds/del/${second}`, { body: {} });
    await save(master);
    t.is(await portOf(panel), String(own.port));
  },
);

test('the core reaches a child where it listens', (t) => {
  for (const [listen, place] of [
    ['', '127.0.0.1:80'],
    ['0.0.0.0', '127.0.0.1:80'],
    ['::', '127.0.0.1:80'],
    ['::1', '[::1]:80'],
    ['10.0.0.1', '10.0.0.1:80'],
    ['/run/weir/a.sock,0666', '/run/weir/a.sock'],
    ['@name', '@name'],
  ] as const)
    t.is(placeOf({ listen, port: 80 } as Parameters<typeof placeOf>[0]), place);
});

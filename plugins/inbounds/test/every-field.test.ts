// Each field of an inbound: it is set, read back, and seen to act. A field without a case fails.
import test from 'ava';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';
import { hiddenNames, inboundRecord } from '../fields.js';

type Fields = Readonly<Record<string, unknown>>;
interface Acts {
  readonly id: number;
  readonly set: (fields: Fields) => Promise<void>;
  readonly row: () => Promise<Fields>;
  /** the only link of the client `a` */
  readonly link: () => Promise<string>;
  /** what the core gets of it, the only inbound; undefined when it gets nothing */
  readonly inCore: () => Readonly<Record<string, Fields>> | undefined;
  /** bytes through the client `a`, and the poll that finds them */
  readonly move: (bytes: number) => Promise<void>;
  readonly pass: (ms: number) => Promise<void>;
  readonly is: (actual: unknown, expected: unknown) => void;
}
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FLOW = 'xtls-rprx-vision';
const API = '/panel/api/inbounds';
const engine = new FakeEngine();
const clock = new FakeClock();
let panel: TestPanel;

/** After each, `row` shows what `set` sent. */
const CASES: Readonly<Record<string, (of: Acts) => Promise<void>>> = {
  enable: async ({ set, inCore, is }) => {
    await set({ enable: false });
    is(inCore(), undefined);
  },
  remark: async ({ set, link, is }) => {
    await set({ remark: 'paris' });
    is((await link()).includes('paris'), true);
  },
  listen: async ({ set, inCore, is }) => {
    await set({ listen: '127.0.0.2' });
    is(inCore()?.['listen'], '127.0.0.2');
  },
  port: async ({ set, inCore, link, is }) => {
    const port = await freePort();
    await set({ port });
    is(inCore()?.['port'], port);
    is(new URL(await link()).port, String(port));
  },
  protocol: async ({ set, inCore, link, is }) => {
    await set({ protocol: 'trojan' });
    is(inCore()?.['protocol'], 'trojan');
    is((await link()).startsWith('trojan://'), true);
  },
  tag: async ({ set, inCore, is }) => {
    await set({ tag: 'chosen' });
    is(inCore()?.['tag'], 'chosen');
  },
  expiryTime: async ({ set, pass, inCore, row, is }) => {
    await set({ expiryTime: clock.now() + HOUR });
    is(inCore() === undefined, false);
    await pass(HOUR + 5000);
    is(inCore(), undefined);
    is((await row())['depletedCause'], 'expiry');
  },
  total: async ({ set, move, inCore, row, is }) => {
    await set({ total: 1000 });
    await move(999);
    is(inCore() === undefined, false);
    await move(1);
    is(inCore(), undefined);
    is((await row())['depletedCause'], 'quota');
  },
  disableFlow: async ({ set, link, id, is }) => {
    await panel.get('/panel/api/clients/update/a', { body: { flow: FLOW } });
    const encryption = 'mlkem768x25519plus.native.0rtt.k';
    await set({ settings: { decryption: 'none', encryption }, streamSettings: { network: 'tcp' } });
    const { id: client } = await panel.get<{ id: number }>('/panel/api/clients/get/a');
    const flow = async () => [
      new URL(await link()).searchParams.get('flow') ?? '',
      engine.users.get(`i${id}.c${client}`)?.['flow'] ?? '',
    ];
    await set({ disableFlow: true });
    is(await flow(), ['', '']);
  },
  shareAddr: async ({ set, link, is }) => {
    await set({ shareAddr: 'share.example', shareAddrStrategy: 'custom' });
    is(new URL(await link()).hostname, 'share.example');
  },
  shareAddrStrategy: async ({ set, link, is }) => {
    await set({ shareAddr: 'share.example', shareAddrStrategy: 'custom' });
    is(new URL(await link()).hostname, 'share.example');
    for (const shareAddrStrategy of ['listen', 'node']) {
      await set({ shareAddrStrategy });
      is(new URL(await link()).hostname, '127.0.0.1');
    }
  },
  subSortIndex: async ({ set, id, is }) => {
    const other = await panel.addInbound();
    await panel.get('/panel/api/clients/a/attach', { body: { inboundIds: [other] } });
    const order = async () => {
      const links = await panel.get<string[]>('/panel/api/clients/links/a');
      const { port } = await panel.get<{ port: number }>(`${API}/get/${id}`);
      return links.findIndex((link) => new URL(link).port === String(port));
    };
    is(await order(), 0);
    await set({ subSortIndex: 9 });
    is(await order(), 1);
    await panel.get(`${API}/del/${other}`, { method: 'POST' });
  },
  trafficReset: async ({ set, move, pass, row, is }) => {
    await set({ trafficReset: 'hourly' });
    await move(500);
    is((await row())['down'], 500);
    await pass(HOUR);
    is((await row())['down'], 0);
  },
  trafficResetDay: async ({ set, move, pass, row, is }) => {
    await pass(DAY);
    const inThreeDays = new Date(clock.now() + 3 * DAY).getUTCDate();
    await set({ trafficReset: 'monthly', trafficResetDay: inThreeDays });
    await move(500);
    await pass(DAY);
    is((await row())['down'], 500);
    await pass(2 * DAY);
    is((await row())['down'], 0);
  },
  settings: async ({ set, inCore, is }) => {
    await set({ settings: { decryption: 'none', testseed: [1, 2, 3, 4] } });
    is(inCore()?.['settings']?.['testseed'], [1, 2, 3, 4]);
  },
  streamSettings: async ({ set, inCore, link, is }) => {
    await set({ streamSettings: { network: 'ws', wsSettings: { path: '/p' } } });
    is(inCore()?.['streamSettings']?.['network'], 'ws');
    is(new URL(await link()).searchParams.get('path'), '/p');
  },
  sniffing: async ({ set, inCore, is }) => {
    await set({ sniffing: { enabled: true, destOverride: ['tls'] } });
    is(inCore()?.['sniffing']?.['destOverride'], ['tls']);
  },
};
/** What replies show and callers do not set. */
const SHOWN: Readonly<Record<string, (of: Acts) => Promise<void>>> = {
  id: async ({ row, id, is }) => is((await row())['id'], id),
  up: async ({ row, is }) => is((await row())['up'], 0),
  down: async ({ move, row, is }) => {
    await move(7);
    is((await row())['down'], 7);
  },
  clientStats: async ({ move, row, is }) => {
    await move(7);
    const [stats] = (await row())['clientStats'] as Fields[];
    is([stats?.['email'], stats?.['down']], ['a', 7]);
  },
  fallbackParent: async ({ row, id, is }) => {
    is((await row())['fallbackParent'], null);
    const master = await panel.addInbound();
    await panel.get(`${API}/${master}/fallbacks`, { body: { fallbacks: [{ childId: id, path: '/x' }] } });
    is((await row())['fallbackParent'], { masterId: master, path: '/x' });
    await panel.get(`${API}/del/${master}`, { method: 'POST' });
    is((await row())['fallbackParent'], null);
  },
  lastTrafficResetTime: async ({ set, move, pass, row, is }) => {
    await set({ trafficReset: 'hourly' });
    await move(500);
    is((await row())['lastTrafficResetTime'], 0);
    const before = clock.now();
    await pass(HOUR);
    is(Number((await row())['lastTrafficResetTime']) > before, true);
  },
  nodeId: async ({ row, is }) => is((await row())['nodeId'], null),
  originNodeGuid: async ({ row, is }) => {
    const online = await panel.get<Fields>('/panel/api/clients/activeInbounds', { method: 'POST' });
    const guid = String((await row())['originNodeGuid']);
    is(guid.length > 0 && Object.keys(online).every((known) => known === guid), true);
  },
  // As `expiryTime` and `total` show.
  depletedCause: async ({ row, is }) => is((await row())['depletedCause'], null),
};

test.before(async () => {
  panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

test.serial('there is a case for each field', (t) => {
  const names = inboundRecord.names.filter((name) => !(hiddenNames as readonly string[]).includes(name));
  t.deepEqual(
    names.filter((name) => !(name in CASES) && !(name in SHOWN)),
    [],
  );
});

for (const [field, act] of Object.entries({ ...CASES, ...SHOWN }))
  test.serial(`${field} is shown and acts`, async (t) => {
    // Days pass, and sessions end.
    await panel.login();
    const id = await panel.addInbound();
    const { id: clientId } = await panel.addClient('a', [id], { password: 'secret' });
    const row = () => panel.get<Fields>(`${API}/get/${id}`);
    let sent: Fields = {};
    await act({
      id,
      row,
      set: async (fields) => {
        sent = fields;
        await panel.get(`${API}/update/${id}`, { body: fields });
      },
      link: async () => (await panel.get<string[]>('/panel/api/clients/links/a'))[0] ?? '',
      // There is no other.
      inCore: () => engine.configs.at(-1) as Readonly<Record<string, Fields>> | undefined,
      move: async (bytes) => {
        engine.move(id, clientId, 0, bytes);
        clock.tick(5000);
        await panel.kernel.settled();
      },
      pass: async (ms) => {
        clock.tick(ms);
        await panel.kernel.settled();
        await panel.login();
      },
      is: (actual, expected) => t.deepEqual(actual, expected),
    });
    const shown = await row();
    for (const [name, value] of Object.entries(sent))
      if (name === 'settings') t.like(shown[name], value as object);
      else t.deepEqual(shown[name], value, name);
    t.deepEqual(panel.faults, []);
    await panel.get('/panel/api/clients/del/a', { method: 'POST' });
    await panel.get(`${API}/del/${id}`, { method: 'POST' });
  });

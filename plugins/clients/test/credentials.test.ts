// Runs on every database in test:full.
// What a client has in one inbound only: made when it is attached, unique in the inbound, gone when it is detached.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import plugin from '../index.js';

interface Shown {
  readonly id: number;
  readonly password: string;
  readonly privateKey?: string;
  readonly publicKey?: string;
  readonly allowedIPs?: string;
  readonly keepAlive?: number;
  readonly credentials?: readonly ({ readonly inboundId: number } & Record<string, unknown>)[];
}
const API = '/panel/api/clients';
const KEY_16 = Buffer.alloc(16, 1).toString('base64');
const KEY_32 = Buffer.alloc(32, 1).toString('base64');
const ALICE = { privateKey: Buffer.alloc(32, 3).toString('base64') };

interface Services {
  readonly store: {
    all(): Iterable<{ readonly email: string; readonly credentials: unknown }>;
    readonly projection: { load(): Promise<void> };
  };
}
const engine = new FakeEngine();
const clients = servicesOf<Services>(plugin);
let panel: TestPanel;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [engine.plugin, clients.plugin], clock: new FakeClock() });
});
test.after.always(() => panel.stop());

const wireguard = (settings: object = {}): Promise<number> =>
  panel.addInbound({ protocol: 'wireguard', settings });
const shadowsocks = (method: string, bytes: number): Promise<number> =>
  panel.addInbound({
    protocol: 'shadowsocks',
    settings: { method, password: Buffer.alloc(bytes, 9).toString('base64') },
  });
const get = (email: string): Promise<Shown> => panel.get(`${API}/get/${email}`);
const update = (email: string, body: object) => panel.call(`${API}/update/${email}`, { body });
const inCore = (inboundId: number, id: number) => engine.users.get(`i${inboundId}.c${id}`);
const addressOf = async (email: string): Promise<string | undefined> => (await get(email)).allowedIPs;

test.serial(
  'each client gets a pair of keys and the next free address; a given-back one is used again',
  async (t) => {
    const id = await wireguard();
    for (const email of ['w1', 'w2', 'w3']) await panel.addClient(email, [id]);
    t.deepEqual(await Promise.all(['w1', 'w2', 'w3'].map(addressOf)), [
      '10.0.0.2/32',
      '10.0.0.3/32',
      '10.0.0.4/32',
    ]);
    const w1 = await get('w1');
    t.deepEqual(w1.credentials, [
      { inboundId: id, privateKey: w1.privateKey, publicKey: w1.publicKey, allowedIPs: ['10.0.0.2/32'] },
    ]);
    t.like(inCore(id, w1.id), {
      publicKey: w1.publicKey,
      allowedIPs: '10.0.0.2/32',
      preSharedKey: '',
      keepAlive: 0,
    });
    t.not((await get('w2')).publicKey, w1.publicKey);

    await panel.get(`${API}/w2/detach`, { body: { inboundIds: [id] } });
    t.is((await get('w2')).credentials, undefined);
    await panel.addClient('w4', [id]);
    t.is(await addressOf('w4'), '10.0.0.3/32');
    await panel.get(`${API}/del/w1`, { method: 'POST' });
    await panel.get(`${API}/bulkAttach`, { body: { emails: ['w2'], inboundIds: [id] } });
    t.is(await addressOf('w2'), '10.0.0.2/32');
    // Twice at once: the second finds what the first made.
    await panel.get(`${API}/w3/detach`, { body: { inboundIds: [id] } });
    const attach = () => panel.call(`${API}/w3/attach`, { body: { inboundIds: [id] } });
    const answers = await Promise.all([attach(), attach()]);
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    t.is(await addressOf('w3'), '10.0.0.4/32');
  },
);

test.serial(
  'an address or a key that another client of the inbound has is refused, and the client is named',
  async (t) => {
    const [id, other] = [await wireguard(), await wireguard()];
    await panel.addClient('x1', [id], { allowedIPs: '10.9.0.7, fd00:0::7', keepAlive: 25 });
    const x1 = await get('x1');
    t.is(x1.allowedIPs, '10.9.0.7/32,fd00::7/128');
    t.is(x1.keepAlive, 25);
    const taken = await panel.call(`${API}/add`, {
      body: { client: { email: 'x2', allowedIPs: ['10.9.0.7/32'] }, inboundIds: [id] },
    });
    t.is(taken.status, 409);
    t.is(taken.body.code, 'CLIENTS_CREDENTIAL_TAKEN');
    t.is((taken.body.obj as { issues?: { path: string }[] }).issues?.[0]?.path, 'client.allowedIPs');
    t.regex(taken.body.msg, /client x1 has 10\.9\.0\.7\/32 on inbound/);
    t.is((await panel.call(`${API}/get/x2`)).status, 404);
    // In another inbound the same address is another one.
    await panel.addClient('x3', [other], { allowedIPs: ['10.9.0.7/32', '10.9.0.7'] });
    t.is(await addressOf('x3'), '10.9.0.7/32');
    // The pool lies around the first address.
    await panel.addClient('x4', [id]);
    t.is(await addressOf('x4'), '10.9.0.2/32');
    t.is((await update('x4', { allowedIPs: 'fd00::7' })).body.code, 'CLIENTS_CREDENTIAL_TAKEN');
    t.is((await update('x4', { privateKey: x1.privateKey })).body.code, 'CLIENTS_CREDENTIAL_TAKEN');
    for (const [field, value] of [
      ['allowedIPs', '10.0.0.300'],
      ['allowedIPs', '10.0.0.1/33'],
      ['privateKey', 'short'],
      ['preSharedKey', 'x'.repeat(44)],
      ['keepAlive', 70_000],
    ] as const) {
      const { status, body } = await update('x4', { [field]: value });
      t.is(status, 400, field);
      t.regex(body.msg, new RegExp(field));
    }
    t.is(await addressOf('x4'), '10.9.0.2/32');
  },
);

test.serial(
  'an update changes what is sent, keeps the rest, and reaches the core; an echo changes nothing',
  async (t) => {
    const id = await wireguard();
    await panel.addClient('u1', [id]);
    const before = await get('u1');
    engine.told.length = 0;
    t.is((await update('u1', before)).status, 200);
    t.deepEqual(engine.told, []);
    await update('u1', { allowedIPs: '10.0.0.77', privateKey: '', keepAlive: 0 });
    t.deepEqual(engine.told, [[{ inboundId: id, clientId: before.id }]]);
    t.like(inCore(id, before.id), { publicKey: before.publicKey, allowedIPs: '10.0.0.77/32' });
    // A new private key brings its public key, also where the form repeats the old one.
    await update('u1', { ...before, privateKey: ALICE.privateKey, credentials: undefined, allowedIPs: '' });
    const after = await get('u1');
    t.is(after.privateKey, ALICE.privateKey);
    t.not(after.publicKey, before.publicKey);
    t.is(after.allowedIPs, '10.0.0.77/32');
    t.is((await update('u1', { privateKey: before.privateKey, publicKey: KEY_32 })).status, 400);
    // A key that only the client knows.
    await update('u1', { publicKey: KEY_32 });
    t.is((await get('u1')).privateKey, undefined);
    t.deepEqual(await panel.get(`${API}/links/u1`), []);
    // Two updates at once do not undo each other.
    await Promise.all([update('u1', { keepAlive: 15 }), update('u1', { allowedIPs: '10.0.0.78' })]);
    t.like(await get('u1'), { keepAlive: 15, allowedIPs: '10.0.0.78/32' });
    // The address that it left is free, and the one that it has is not.
    const next = await wireguard();
    await panel.addClient('u2', [next]);
    await update('u2', { allowedIPs: '10.0.0.3' });
    for (const email of ['u3', 'u4']) await panel.addClient(email, [next]);
    t.deepEqual(await Promise.all(['u3', 'u4'].map(addressOf)), ['10.0.0.2/32', '10.0.0.4/32']);
  },
);

test.serial(
  'a client on two inbounds has its own keys and address on each; export and import keep them',
  async (t) => {
    const ids = [
      await wireguard({ peers: [{ publicKey: KEY_32, allowedIPs: ['10.5.0.2/32'] }] }),
      await wireguard(),
    ];
    await panel.addClient('two', ids);
    await update('two', { credentials: [{ inboundId: ids[1], allowedIPs: ['10.6.0.9'] }] });
    const shown = await get('two');
    t.deepEqual(
      shown.credentials?.map(({ inboundId, allowedIPs }) => [inboundId, allowedIPs] as unknown),
      [
        [ids[0], ['10.5.0.3/32']],
        [ids[1], ['10.6.0.9/32']],
      ],
    );
    t.is<unknown, unknown>(shown.publicKey, shown.credentials?.[0]?.['publicKey']);
    t.not(shown.credentials?.[0]?.['publicKey'], shown.credentials?.[1]?.['publicKey']);
    // What names no inbound goes to the first that has it, where `get` shows it.
    await update('two', { privateKey: ALICE.privateKey });
    const alone = (await get('two')).credentials;
    t.is<unknown, unknown>(alone?.[0]?.['privateKey'], ALICE.privateKey);
    t.deepEqual(alone?.[1], shown.credentials?.[1]);
    await update('two', { privateKey: shown.privateKey });
    t.deepEqual((await get('two')).credentials, shown.credentials);
    const exported = (await panel.get<{ client: { email: string } }[]>(`${API}/export`)).filter(
      ({ client }) => client.email === 'two',
    );
    await panel.get(`${API}/del/two`, { method: 'POST' });
    await panel.get(`${API}/import`, { body: { data: JSON.stringify(exported) } });
    t.deepEqual((await get('two')).credentials, shown.credentials);
    for (const inboundIds of [[ids[0]], [ids[1], ids[1]]]) {
      const credentials = inboundIds.map((inboundId) => ({ inboundId }));
      const body = { client: { email: 'far', credentials }, inboundIds: [ids[1]] };
      t.is((await panel.call(`${API}/add`, { body })).status, 400, 'another inbound, and one twice');
    }
  },
);

test.serial(
  'a client on two inbounds of shadowsocks 2022 has a key of the right size on each (R7)',
  async (t) => {
    const small = await shadowsocks('2022-blake3-aes-128-gcm', 16);
    const large = await shadowsocks('2022-blake3-aes-256-gcm', 32);
    await panel.addClient('ss', [small, large], { password: KEY_16 });
    const { id } = await get('ss');
    t.is(inCore(small, id)?.['key'], KEY_16);
    t.is(Buffer.from(String(inCore(large, id)?.['key']), 'base64').length, 32);
    // An inbound that moves in with another password for the same client: its links stay valid.
    await panel.get('/panel/api/inbounds/import', {
      body: {
        data: {
          protocol: 'shadowsocks',
          listen: '127.0.0.1',
          port: 24_771,
          settings: {
            method: '2022-blake3-aes-256-gcm',
            password: KEY_32,
            clients: [{ email: 'ss', password: Buffer.alloc(32, 5).toString('base64') }],
          },
        },
      },
    });
    const moved = (await get('ss')).credentials?.[0]?.inboundId ?? 0;
    t.is(inCore(moved, id)?.['key'], Buffer.alloc(32, 5).toString('base64'));
    t.is(inCore(small, id)?.['key'], KEY_16);
    t.is((await get('ss')).password, KEY_16);
    const same = { email: 'ss2', credentials: [{ inboundId: small, password: KEY_16 }] };
    t.is(
      (await panel.call(`${API}/add`, { body: { client: same, inboundIds: [small] } })).body.code,
      'CLIENTS_PASSWORD_TAKEN',
    );
  },
);

test.serial(
  'an inbound of wireguard that moves in keeps the keys and addresses of its clients',
  async (t) => {
    const id = await wireguard();
    await panel.addClient('old', [id]);
    const clients = [
      { email: 'old', privateKey: ALICE.privateKey, allowedIPs: ['10.8.0.9/32'], password: '' },
      { email: 'new', publicKey: KEY_32, allowedIPs: ['10.8.0.10/32'], keepAlive: 20 },
    ];
    await panel.get('/panel/api/inbounds/import', {
      body: { data: { protocol: 'wireguard', listen: '127.0.0.1', port: 24_772, settings: { clients } } },
    });
    const old = await get('old');
    t.is(old.allowedIPs, '10.0.0.2/32');
    t.like(old.credentials?.[1], { privateKey: ALICE.privateKey, allowedIPs: ['10.8.0.9/32'] });
    t.like(await get('new'), { publicKey: KEY_32, allowedIPs: '10.8.0.10/32', keepAlive: 20 });
    const shown = await panel.get<{ settings: { clients: Record<string, unknown>[] } }>(
      `/panel/api/inbounds/get/${old.credentials?.[1]?.inboundId}`,
    );
    t.like(shown.settings.clients[1], { email: 'new', publicKey: KEY_32, allowedIPs: ['10.8.0.10/32'] });
  },
);

test.serial('bulkCreate: who cannot have its address is skipped, and the others are added', async (t) => {
  const id = await wireguard();
  const item = (email: string, more: object = {}) => ({ client: { email, ...more }, inboundIds: [id] });
  const result = await panel.get<{
    created: number;
    skipped: { index: number; email: string; code: string }[];
  }>(`${API}/bulkCreate`, {
    body: [
      item('k1', { allowedIPs: '10.0.0.5' }),
      item('k2', { allowedIPs: '10.0.0.5' }),
      item('k3', { allowedIPs: 'nonsense' }),
      item('k4'),
    ],
  });
  t.is(result.created, 2);
  t.deepEqual(
    result.skipped.map(({ index, email, code }) => [index, email, code]),
    [
      [1, 'k2', 'CLIENTS_CREDENTIAL_TAKEN'],
      [2, 'k3', 'KERNEL_INVALID'],
    ],
  );
  t.is(await addressOf('k4'), '10.0.0.2/32');
  // Who is refused on one inbound keeps nothing on the other.
  const second = await wireguard();
  const on = (email: string, credentials: object[], inboundIds: number[]) => ({
    client: { email, credentials },
    inboundIds,
  });
  const wanted = { inboundId: id, allowedIPs: '10.0.0.9' };
  const again = await panel.get<{ created: number; skipped: { email: string }[] }>(`${API}/bulkCreate`, {
    body: [
      on('k5', [wanted, { inboundId: second, allowedIPs: 'nonsense' }], [id, second]),
      on('k6', [wanted], [id]),
    ],
  });
  t.deepEqual(
    again.skipped.map(({ email }) => email),
    ['k5'],
  );
  t.is(await addressOf('k6'), '10.0.0.9/32');
});

test.serial('a pool is filled, widened once, and then says that it is full', async (t) => {
  const id = await wireguard();
  const emails = Array.from({ length: 600 }, (_, i) => `p${i}`);
  const result = await panel.get<{ created: number }>(`${API}/bulkCreate`, {
    body: emails.map((email) => ({ client: { email }, inboundIds: [id] })),
  });
  t.is(result.created, 600);
  const addresses = await Promise.all(emails.map(addressOf));
  t.is(new Set(addresses).size, 600);
  t.is(addresses[252], '10.0.0.254/32');
  t.is(addresses[253], '10.0.1.1/32');
});

test.serial('an inbound that changes its protocol makes the credentials of the new one', async (t) => {
  const id = await panel.addInbound();
  await panel.addClient('c1', [id]);
  t.is((await get('c1')).credentials, undefined);
  const change = (body: object) => panel.get(`/panel/api/inbounds/update/${id}`, { body });
  await change({ protocol: 'wireguard', settings: {}, streamSettings: {} });
  t.is(await addressOf('c1'), '10.0.0.2/32');
  await change({ protocol: 'vless', settings: {} });
  t.is((await get('c1')).credentials, undefined);
  await change({ protocol: 'wireguard', settings: {}, streamSettings: {} });
  t.is(await addressOf('c1'), '10.0.0.2/32', 'its address was given back');
});

test.serial(
  'the server key of an inbound stays when an update leaves it out; the option shows its public half',
  async (t) => {
    const id = await wireguard({ mtu: 1380, dns: '1.1.1.1' });
    const secretOf = async (): Promise<unknown> =>
      (await panel.get<{ settings: Record<string, unknown> }>(`/panel/api/inbounds/get/${id}`)).settings[
        'secretKey'
      ];
    const secret = await secretOf();
    await panel.get(`/panel/api/inbounds/update/${id}`, {
      body: { settings: { mtu: 1380, dns: '1.1.1.1' } },
    });
    t.is(await secretOf(), secret);
    const options = await panel.get<Record<string, unknown>[]>('/panel/api/inbounds/options');
    const option = options.find((one) => one['id'] === id);
    t.like(option, { wgMtu: 1380, wgDns: '1.1.1.1' });
    t.is(Buffer.from(String(option?.['wgPublicKey']), 'base64').length, 32);
    t.not(option?.['wgPublicKey'], secret);
  },
);

test.serial('memory equals the database: after all this a fresh read has the same credentials', async (t) => {
  const { store } = clients.services;
  const all = () => [...store.all()].map(({ email, credentials }) => [email, credentials]);
  const before = all();
  await store.projection.load();
  t.deepEqual(all(), before);
});

test.serial('attach and detach name the inbounds where there was nothing to do', async (t) => {
  const [one, two] = [await wireguard(), await wireguard()];
  await panel.addClient('idle', [one]);
  const said = async (what: string, inboundIds: number[]): Promise<string> =>
    (await panel.call(`${API}/idle/${what}`, { body: { inboundIds } })).body.msg;
  t.is(await said('attach', [one, two]), `client attached; it was already attached to #${one}`);
  t.is(await said('detach', [two, 999]), 'client detached; it was not attached to #999');
  t.is(await said('detach', [one]), 'client detached');
});

import test from 'ava';
import { randomUUID } from 'node:crypto';
import { type CoreAccount, type CoreInbound, CoreRefused, type JsonObject } from '../../driver.js';
import {
  base,
  byName,
  emptyRecord,
  temporaryDriver,
  trojanInbound,
  trojanUser,
  vlessInbound,
  vlessUser,
} from './harness.js';
import { freePort } from './traffic.js';

test('users of the config are read back as they were given', async (t) => {
  const driver = await temporaryDriver(t);
  const vless = [
    vlessUser('i1.c1'),
    { name: 'i1.c2', account: { protocol: 'vless', id: randomUUID(), flow: 'xtls-rprx-vision' } },
  ];
  const trojan = [trojanUser('i2.c1', 'пароль 🔑 "quoted"')];
  await driver.start(
    base,
    [
      { ...vlessInbound('v', await freePort()), users: vless },
      { ...trojanInbound('t', await freePort()), users: trojan },
    ],
    emptyRecord,
  );
  t.deepEqual(byName(await driver.users('v')), vless);
  t.deepEqual(await driver.users('t'), trojan);
});

test('a user is added, replaced and removed while the core runs', async (t) => {
  const driver = await temporaryDriver(t);
  await driver.start(
    base,
    [
      { ...vlessInbound('v', await freePort()), users: [] },
      { ...trojanInbound('t', await freePort()), users: [] },
    ],
    emptyRecord,
  );
  for (const [tag, first, second] of [
    ['v', vlessUser('i1.c1'), vlessUser('i1.c1')],
    ['t', trojanUser('i1.c1'), trojanUser('i1.c1')],
  ] as const) {
    await driver.putUser(tag, first);
    t.deepEqual(await driver.users(tag), [first]);
    await driver.putUser(tag, second);
    t.deepEqual(await driver.users(tag), [second]);
    await driver.putUser(tag, second);
    t.deepEqual(await driver.users(tag), [second]);
    await driver.removeUser(tag, 'i1.c1');
    await driver.removeUser(tag, 'i1.c1');
    t.deepEqual(await driver.users(tag), []);
  }
});

test('an id in upper case is read back in lower case, whichever way it went in', async (t) => {
  const driver = await temporaryDriver(t);
  const ids = [randomUUID(), randomUUID()] as const;
  await driver.start(
    base,
    [{ ...vlessInbound('v', await freePort()), users: [vlessUser('i1.c1', ids[0].toUpperCase())] }],
    emptyRecord,
  );
  await driver.putUser('v', vlessUser('i1.c2', ids[1].toUpperCase()));
  t.deepEqual(byName(await driver.users('v')), [vlessUser('i1.c1', ids[0]), vlessUser('i1.c2', ids[1])]);
});

test('a flow that the inbound gives by default does not reach users without one', async (t) => {
  const driver = await temporaryDriver(t);
  const inbound = vlessInbound('v', await freePort());
  const user = vlessUser('i1.c1');
  await driver.start(
    base,
    [
      {
        ...inbound,
        config: { ...inbound.config, settings: { decryption: 'none', flow: 'xtls-rprx-vision' } },
        users: [user],
      },
    ],
    emptyRecord,
  );
  t.deepEqual(await driver.users('v'), [user]);
});

test('an account that would kill or mislead the core is refused and the core lives on', async (t) => {
  const driver = await temporaryDriver(t);
  let ends = 0;
  driver.onExit(() => (ends += 1));
  await driver.start(
    base,
    [
      { ...vlessInbound('v', await freePort()), users: [] },
      { ...trojanInbound('t', await freePort()), users: [] },
    ],
    emptyRecord,
  );
  const id = randomUUID();
  const refused: Array<[string, Record<string, string>, RegExp]> = [
    ['v', { protocol: 'trojan', password: 'p' }, /account is for trojan, the inbound speaks vless/],
    ['t', { protocol: 'vless', id, flow: '' }, /account is for vless, the inbound speaks trojan/],
    ['v', { protocol: 'vless', id: 'example', flow: '' }, /id must be a UUID/],
    ['v', { protocol: 'vless', id, flow: 'xtls-rprx-direct' }, /flow must be/],
    ['v', { protocol: 'vless', id }, /flow is missing/],
    ['v', { protocol: 'vless', id, flow: '', alterId: '0' }, /no field alterId/],
    ['t', { protocol: 'trojan', password: '' }, /password must not be empty/],
    ['nope', { protocol: 'vless', id, flow: '' }, /no such inbound/],
  ];
  for (const [tag, { protocol = '', ...fields }, message] of refused) {
    await t.throwsAsync(driver.putUser(tag, { name: 'i1.c1', account: { protocol, ...fields } }), {
      instanceOf: CoreRefused,
      message,
    });
  }
  await t.throwsAsync(driver.putUser('v', vlessUser('a>>>b')), { instanceOf: CoreRefused });
  await t.throwsAsync(driver.putUser('v', vlessUser('')), { instanceOf: CoreRefused });
  await driver.putUser('v', vlessUser('i1.c1', id));
  t.deepEqual(await driver.users('v'), [vlessUser('i1.c1', id)]);
  t.is(ends, 0);
});

test('a tag that changes its protocol takes accounts of the new one only', async (t) => {
  const driver = await temporaryDriver(t);
  const port = await freePort();
  await driver.start(base, [{ ...vlessInbound('x', port), users: [vlessUser('i1.c1')] }], emptyRecord);
  await driver.putInbound({ ...trojanInbound('x', port), users: [trojanUser('i1.c2', 'p')] });
  await t.throwsAsync(driver.putUser('x', vlessUser('i1.c1')), { instanceOf: CoreRefused });
  t.deepEqual(await driver.users('x'), [trojanUser('i1.c2', 'p')]);
  await driver.removeInbound('x');
  await driver.removeInbound('x');
  await t.throwsAsync(driver.users('x'), { instanceOf: CoreRefused });
});

test('many calls at once on one inbound all take effect', async (t) => {
  const driver = await temporaryDriver(t);
  await driver.start(base, [{ ...vlessInbound('v', await freePort()), users: [] }], emptyRecord);
  const users = Array.from({ length: 300 }, (_, i) => vlessUser(`i1.c${1000 + i}`));
  await Promise.all(users.map((user) => driver.putUser('v', user)));
  t.deepEqual(byName(await driver.users('v')), users);
});

test('an inbound with more users than one request holds is put whole', async (t) => {
  const driver = await temporaryDriver(t);
  await driver.start(base, [], emptyRecord);
  const users = Array.from({ length: 40_000 }, (_, i) => vlessUser(`i1.c${100_000 + i}`));
  await driver.putInbound({ ...vlessInbound('v', await freePort()), users });
  t.deepEqual(byName(await driver.users('v')), users);
});

const KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const other = (protocol: string, settings: JsonObject): CoreInbound => ({
  tag: 'x',
  protocol,
  config: { tag: 'x', listen: '127.0.0.1', port: 0, protocol: protocol.split('-')[0] as string, settings },
});
const MORE: [CoreInbound, CoreAccount, CoreAccount][] = [
  [other('vmess', {}), { protocol: 'vmess', id: randomUUID() }, { protocol: 'vmess', id: randomUUID() }],
  [
    other('shadowsocks', { network: 'tcp' }),
    { protocol: 'shadowsocks', password: 'пароль', method: 'aes-256-gcm' },
    { protocol: 'shadowsocks', password: 'p', method: 'xchacha20-poly1305' },
  ],
  [
    other('shadowsocks-2022', { method: '2022-blake3-aes-256-gcm', password: KEY }),
    { protocol: 'shadowsocks-2022', key: KEY },
    { protocol: 'shadowsocks-2022', key: KEY.replace('A', 'B') },
  ],
];
for (const [{ protocol, config }, first, second] of MORE) {
  test(`users of ${protocol} come, change and go on a running inbound, and are in the config of the next start`, async (t) => {
    const inbound = { tag: 'x', protocol, config: { ...config, port: await freePort() } };
    const driver = await temporaryDriver(t);
    await driver.start(base, [{ ...inbound, users: [] }], emptyRecord);
    await driver.putUser('x', { name: 'i1.c1', account: first });
    t.deepEqual(await driver.users('x'), [{ name: 'i1.c1', account: first }]);
    // Twice, for a second one of the same name must not stay beside the first.
    await driver.putUser('x', { name: 'i1.c1', account: second });
    await driver.putUser('x', { name: 'i1.c1', account: second });
    t.deepEqual(await driver.users('x'), [{ name: 'i1.c1', account: second }]);
    await driver.removeUser('x', 'i1.c1');
    t.deepEqual(await driver.users('x'), []);
    await driver.putInbound({ ...inbound, users: [{ name: 'i1.c2', account: first }] });
    t.deepEqual(await driver.users('x'), [{ name: 'i1.c2', account: first }]);
    await driver.stop();
    await driver.start(base, [{ ...inbound, users: [{ name: 'i1.c2', account: first }] }], emptyRecord);
    t.deepEqual(await driver.users('x'), [{ name: 'i1.c2', account: first }]);
  });
}

test('a malformed key never reaches the core, where it would freeze all users of the inbound', async (t) => {
  const driver = await temporaryDriver(t);
  const [inbound] = MORE[2] as (typeof MORE)[number];
  await driver.start(
    base,
    [{ ...inbound, config: { ...inbound.config, port: await freePort() }, users: [] }],
    emptyRecord,
  );
  for (const key of ['', 'short', `${KEY}=`, 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8']) {
    await t.throwsAsync(
      driver.putUser('x', { name: 'i1.c1', account: { protocol: 'shadowsocks-2022', key } }),
      {
        instanceOf: CoreRefused,
        message: /key must be/,
      },
    );
  }
  await driver.putUser('x', { name: 'i1.c1', account: { protocol: 'shadowsocks-2022', key: KEY } });
  t.is((await driver.users('x')).length, 1);
});

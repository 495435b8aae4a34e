// The VPN provider: every action, the outbound, what callers send wrong, and what the provider may answer instead.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import {
  COUNTRIES,
  listOf,
  newKey,
  NordApi,
  openProviderPanel,
  ORIGIN,
  serverOf,
  TOKEN,
} from './nord-api.js';

test.serial('countries, servers, the key of an account, and one of another account', async (t) => {
  const api = new NordApi();
  const { panel, act } = await openProviderPanel(t);
  t.is((await act('data')).body.obj, '');
  t.deepEqual(JSON.parse((await act('countries')).body.obj), COUNTRIES);

  const listed = await act('servers', { countryId: '81' });
  t.deepEqual(JSON.parse(listed.body.obj), listOf([api.servers[0] as object, api.servers[2] as object]));
  t.is(listed.body.msg, '2 servers; 1 with a load of at most 7 are left out');
  t.is(api.asked.at(-1), '/v2/servers?limit=0&filters[servers_technologies][id]=35&filters[country_id]=81');
  t.is((await act('servers', { countryId: 81 })).status, 200);

  const made = await act('reg', { token: TOKEN });
  t.deepEqual(JSON.parse(made.body.obj), { private_key: api.key, token: TOKEN });
  t.is((await act('data')).body.obj, made.body.obj);
  const all = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  t.deepEqual([all['vpnproviderSecret'], all['hasVpnproviderSecret']], ['', true]);

  const key = newKey();
  const set = await act('setKey', { key: Buffer.from(key, 'base64').toString('base64url') });
  t.deepEqual(JSON.parse(set.body.obj), { private_key: key, token: '' });
  t.is((await act('del')).body.obj, '');
  t.is((await act('data')).body.obj, '');
});

test.serial(
  'a server is applied as it is listed, or by its name; again, it is replaced at its place',
  async (t) => {
    const api = new NordApi();
    const { act, apply, outbounds } = await openProviderPanel(t);
    await act('reg', { token: TOKEN });
    const { servers } = JSON.parse((await act('servers', { countryId: 81 })).body.obj) as {
      servers: { hostname: string; technologies: { id: number; metadata: { value: string }[] }[] }[];
    };
    const [server] = servers;
    const key = server?.technologies.find(({ id }) => id === 35)?.metadata[0]?.value;
    const applied = await apply({ server });
    t.is(applied.status, 200, applied.text);
    t.deepEqual(applied.body.obj, {
      tag: 'nord-de1.nordvpn.com',
      replaced: false,
      endpoint: '203.0.113.1:51820',
    });
    t.deepEqual((await outbounds()).at(-1), {
      tag: 'nord-de1.nordvpn.com',
      protocol: 'wireguard',
      settings: {
        mtu: 1420,
        domainStrategy: 'ForceIPv4v6',
        noKernelTun: true,
        secretKey: api.key,
        address: ['10.5.0.2/32'],
        peers: [{ publicKey: key, endpoint: '203.0.113.1:51820' }],
      },
    } as never);

    t.like((await apply({ hostname: 'DE3.nordvpn.com', countryId: '81' })).body.obj, {
      tag: 'nord-de3.nordvpn.com',
    });
    // A server with hardly any load is not listed, but it is there.
    t.like((await apply({ hostname: 'de2.nordvpn.com', countryId: 81 })).body.obj, { replaced: false });
    const next = newKey();
    const set = await act('setKey', { key: next });
    t.regex(set.body.msg, /previous one; apply them again: nord-de1\.nordvpn\.com, nord-de3/);
    api.servers = [serverOf(1, 50)];
    t.like((await apply({ hostname: 'de1.nordvpn.com', countryId: 81 })).body.obj, { replaced: true });
    const all = await outbounds();
    t.deepEqual(
      all.map(({ tag }) => tag),
      ['direct', 'blocked', 'nord-de1.nordvpn.com', 'nord-de3.nordvpn.com', 'nord-de2.nordvpn.com'],
    );
    t.like(all[2], { settings: { secretKey: next } } as never);
    t.regex((await act('del')).body.msg, /still have it: nord-de1\.nordvpn\.com$/);

    await act('setKey', { key: next });
    const ipv6 = { ...(api.servers[0] as object), hostname: 'de9.nordvpn.com', station: '2001:db8::9' };
    t.like((await apply({ server: ipv6 })).body.obj, { endpoint: '[2001:db8::9]:51820' });
  },
);

test.serial('wrong input is refused by name, and the provider is not asked', async (t) => {
  const api = new NordApi();
  const { act, apply, outbounds } = await openProviderPanel(t);
  const early = await apply({ hostname: 'de1.nordvpn.com', countryId: 81 });
  t.deepEqual([early.status, early.body.code], [409, 'VPNPROVIDER_NO_KEY']);
  await act('setKey', { key: newKey() });
  const stored = (await act('data')).body.obj;
  const good = serverOf(1, 30);
  const cases: readonly [call: ReturnType<typeof act>, field: RegExp, says: RegExp][] = [
    [act('cities'), /^action$/, /data, countries, servers, reg, setKey, del/],
    [act('servers'), /^countryId$/, /required/],
    [act('servers', { countryId: '' }), /^countryId$/, /required/],
    [act('servers', { countryId: '8 OR 1' }), /^countryId$/, /number/],
    [act('servers', { countryId: -1 }), /^countryId$/, /./],
    [act('servers', { countryId: 1e12 }), /^countryId$/, /./],
    [act('reg', {}), /^token$/, /required/],
    [act('reg', { token: 'a b' }), /^token$/, /without blanks/],
    [act('reg', { token: 'x'.repeat(513) }), /^token$/, /512/],
    [act('reg', { token: 7 }), /^token$/, /string/],
    [act('setKey', {}), /^key$/, /required/],
    [act('setKey', { key: 'x' }), /^key$/, /32 bytes/],
    [apply({}) as never, /^hostname$/, /required/],
    [apply({ hostname: 'de1.nordvpn.com' }) as never, /^countryId$/, /required/],
    [apply({ hostname: 'a b', countryId: 81 }) as never, /^hostname$/, /host name/],
    [apply({ hostname: `${'x'.repeat(50)}.${'x'.repeat(60)}`, countryId: 81 }) as never, /^hostname$/, /100/],
    [apply({ server: good, hostname: 'de1.nordvpn.com' }) as never, /^hostname$/, /exclude each other/],
    [apply({ server: 'de1' }) as never, /^server$/, /object/],
    [apply({ server: { ...good, station: undefined } }) as never, /^server\.station$/, /required/],
    [apply({ server: { ...good, station: '1.2.3.4:5' } }) as never, /^server\.station$/, /host name/],
    [apply({ server: { ...good, hostname: 7 } }) as never, /^server\.hostname$/, /string/],
    [
      apply({ server: { ...good, technologies: [] } }) as never,
      /^server\.technologies$/,
      /no 35 with a public_key/,
    ],
    [
      apply({
        server: { ...good, technologies: [{ id: 35, metadata: [{ name: 'public_key', value: 'x' }] }] },
      }) as never,
      /^server\.technologies$/,
      /no 35 with a public_key/,
    ],
  ];
  for (const [call, field, says] of cases) {
    const answer = await call;
    t.is(answer.status, 400, `${String(field)}: ${answer.text}`);
    const { issues } = answer.body.obj as unknown as { issues: { path: string }[] };
    t.regex(issues[0]?.path ?? '', field, answer.text);
    t.regex(answer.body.msg, says);
  }
  t.deepEqual(api.asked, []);
  t.is((await act('data')).body.obj, stored);
  t.is((await outbounds()).length, 2);
  t.regex((await act('data', { token: 'x' })).body.msg, /ignored: token/);
});

test.serial('whatever the provider answers, what is stored stays', async (t) => {
  const api = new NordApi();
  const { act, apply, outbounds } = await openProviderPanel(t);
  await act('setKey', { key: newKey() });
  const stored = (await act('data')).body.obj;
  const find = () => apply({ hostname: 'de1.nordvpn.com', countryId: 81 }) as never as ReturnType<typeof act>;
  const calls = {
    countries: () => act('countries'),
    servers: () => act('servers', { countryId: 81 }),
    reg: () => act('reg', { token: 'wrong' }),
    find,
  };
  const everywhere: readonly [status: number, body: unknown, replied: number, says: RegExp][] = [
    [400, { errors: [{ code: 1, message: 'Bad filter' }] }, 422, /answered 400: Bad filter$/],
    [404, { message: 'Nothing\nhere' }, 422, /answered 404: Nothing here$/],
    [429, '', 422, /try again later$/],
    [500, '<html>', 502, /answered 500$/],
    [302, '', 502, /answered 302$/],
    [200, '<html><body>Welcome</body></html>', 502, /cannot be used/],
    [200, '', 502, /cannot be used/],
    [200, '7', 502, /cannot be used/],
    [200, '{"servers":[{"id":1}', 502, /cannot be used/],
    [200, `[${'"x",'.repeat(3_000_000)}1]`, 502, /cannot be used/],
  ];
  for (const [status, body, replied, says] of everywhere) {
    api.instead = () => [status, body];
    for (const [name, call] of Object.entries(calls)) {
      const answer = await call();
      t.is(answer.status, replied, `${name} ${status}: ${answer.text.slice(0, 300)}`);
      t.regex(answer.body.msg, says, name);
      t.true(answer.body.msg.length < 600);
    }
  }
  api.instead = () => [302, '', { location: `${ORIGIN}/elsewhere` }];
  for (const [name, call] of Object.entries(calls))
    t.regex((await call()).body.msg, /this call follows no redirects/, name);
  const one = serverOf(1, 9);
  const wrong = (technologies: unknown) => listOf([{ ...one, technologies }]);
  const single: readonly [call: keyof typeof calls, body: unknown, status: number, says: RegExp][] = [
    ['countries', { countries: [] }, 502, /not a list of countries/],
    ['countries', ['x'.repeat(600_000)], 502, /larger than 524288 bytes/],
    ['servers', [], 502, /no list servers/],
    ['servers', { servers: {} }, 502, /no list servers/],
    ['servers', { other: { servers: [] } }, 502, /no list servers/],
    ['servers', { servers: [1] }, 502, /no object/],
    ['servers', { servers: [{ text: 'x'.repeat(70_000) }] }, 502, /64 KiB/],
    ['servers', { other: 'x'.repeat(2_200_000), servers: [] }, 502, /256 KiB/],
    ['reg', {}, 502, /no nordlynx_private_key; this account may have no subscription/],
    ['reg', { nordlynx_private_key: 7 }, 502, /not a key/],
    ['reg', { nordlynx_private_key: 'x' }, 502, /not a key/],
    ['find', listOf([]), 404, /no server de1\.nordvpn\.com/],
    ['find', wrong([]), 502, /entry of de1\.nordvpn\.com cannot be used/],
    ['find', wrong('none'), 502, /technologies/],
    ['find', listOf([{ ...one, station: 7 }]), 502, /station/],
  ];
  for (const [name, body, status, says] of single) {
    api.instead = () => [200, body];
    const answer = await calls[name]();
    t.is(answer.status, status, `${name}: ${answer.text.slice(0, 300)}`);
    t.regex(answer.body.msg, says);
  }
  api.instead = () => [401, { errors: { code: 100103, message: 'Unauthorized' } }];
  const refused = await calls.reg();
  t.deepEqual([refused.status, refused.body.code], [422, 'VPNPROVIDER_REFUSED']);
  t.regex(refused.body.msg, /answered 401: Unauthorized; check the token$/);
  // A load that the provider does not say, or writes as text, leaves nothing out.
  api.instead = () => [
    200,
    listOf([
      { ...one, load: undefined },
      { ...one, load: '3' },
    ]),
  ];
  t.is((await calls.servers()).body.msg, '2 servers');
  t.is((await act('data')).body.obj, stored);
  t.is((await outbounds()).length, 2);
});

test.serial('key and token are sealed on disk, and in no log line', async (t) => {
  const api = new NordApi();
  const { panel, act } = await openProviderPanel(t);
  await act('reg', { token: TOKEN });
  await panel.stop();
  for (const name of await readdir(panel.dataDirectory, { recursive: true })) {
    const bytes = await readFile(join(panel.dataDirectory, name)).catch(() => Buffer.alloc(0));
    for (const secret of [api.key, TOKEN]) t.false(bytes.includes(secret), `${name} holds a secret`);
  }
  for (const secret of [api.key, TOKEN]) t.false(panel.log.join('\n').includes(secret));
  t.is(api.authorizations.length, 1);
});

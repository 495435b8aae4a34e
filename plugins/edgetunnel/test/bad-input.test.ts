// What callers send wrong, and what the service may answer instead of what it should: nothing changes, and the error says why.
import test from 'ava';
import { until } from '../../../test/harness/until.js';
import { newKeyPair } from '../keys.js';
import { openService, openTunnelPanel } from './tunnel-panel.js';
import { type Answer, ORIGIN, refused, type WarpApi } from './warp-api.js';

const { privateKey, publicKey } = newKeyPair();

test.serial('wrong input of each action is refused by name, and the service is not asked', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  const cases: readonly [action: string, body: object | undefined, field: string, says: RegExp][] = [
    ['quota', {}, 'action', /data, del, config, reg, license, changeIp, interval/],
    ['reg', { privateKey: 'short' }, 'privateKey', /32 bytes in base64/],
    ['reg', { privateKey: 7 }, 'privateKey', /./],
    ['reg', { privateKey, publicKey: newKeyPair().publicKey }, 'publicKey', /does not belong to privateKey/],
    ['reg', { publicKey }, 'privateKey', /required/],
    ['license', undefined, 'license', /required/],
    ['license', { license: '' }, 'license', /required/],
    ['license', { license: 'a b' }, 'license', /letters, digits and hyphens/],
    ['license', { license: 'x'.repeat(129) }, 'license', /at most 128/],
    ['interval', {}, 'interval', /required/],
    ['interval', { interval: -1 }, 'interval', /./],
    ['interval', { interval: 1.5 }, 'interval', /integer/],
    ['interval', { interval: 366 }, 'interval', /365/],
    ['interval', { interval: 'often' }, 'interval', /number/],
  ];
  for (const [action, body, field, says] of cases) {
    const answer = await tunnel.act(action, body);
    const { issues } = answer.body.obj as unknown as { issues: { path: string }[] };
    t.is(answer.status, 400, `${action} ${JSON.stringify(body)}: ${answer.text}`);
    t.is(issues[0]?.path, field, answer.text);
    t.regex(answer.body.msg, says);
  }
  for (const action of ['config', 'license', 'changeIp']) {
    const answer = await tunnel.act(action, { license: 'x' });
    t.deepEqual([answer.status, answer.body.code], [409, 'EDGETUNNEL_NO_DEVICE'], action);
  }
  t.is((await tunnel.apply()).body.code, 'EDGETUNNEL_NO_DEVICE');
  t.deepEqual(api.calls, []);
  t.is(await tunnel.stored(), undefined);
  t.is(await tunnel.setting('edgetunnelUpdateInterval'), 0);
});

test.serial(
  'programs of other panels send forms and base64url; a key that nothing reads is named',
  async (t) => {
    const api = openService();
    const tunnel = await openTunnelPanel(t);
    const answer = await tunnel.panel.call('/panel/api/engine/edgetunnel/reg', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      rawBody: new URLSearchParams({
        privateKey: Buffer.from(privateKey, 'base64').toString('base64url'),
        publicKey: Buffer.from(publicKey, 'base64').toString('base64url'),
        license: 'x',
      }).toString(),
    });
    t.is(answer.status, 200, answer.text);
    t.regex(answer.body.msg, /ignored: license/);
    t.deepEqual(api.asked[0]?.body['key'], publicKey);
    t.is((await tunnel.stored())?.private_key, privateKey);
    const interval = await tunnel.panel.call('/panel/api/engine/edgetunnel/interval', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      rawBody: 'interval=3',
    });
    t.is(interval.status, 200);
    t.is(await tunnel.setting('edgetunnelUpdateInterval'), 3);
  },
);

test.serial('a stored device that an admin writes by hand must be one', async (t) => {
  openService();
  const tunnel = await openTunnelPanel(t);
  const set = (edgetunnelSecret: unknown) =>
    tunnel.panel.call('/panel/api/setting/update', { body: { edgetunnelSecret } });
  const good = {
    access_token: 'a',
    device_id: 'b',
    license_key: 'c',
    private_key: privateKey,
    client_id: '',
  };
  for (const wrong of [
    'x',
    '[]',
    JSON.stringify({ ...good, private_key: 'x' }),
    JSON.stringify({ ...good, device_id: '../x' }),
    JSON.stringify({ ...good, access_token: 'a\nb' }),
    JSON.stringify({ ...good, client_id: 'AQIDBA==' }),
    7,
  ]) {
    const { status, body } = await set(wrong);
    t.is(status, 400, JSON.stringify(wrong));
    t.regex(body.msg, /^edgetunnel/);
  }
  // As other panels store it, from before they stored client_id.
  const { client_id: _, ...older } = good;
  t.is((await set(JSON.stringify(older))).status, 200);
  t.deepEqual(await tunnel.stored(), older as never);
});

/** A good reply with something else at one place. */
function changed(api: WarpApi, place: string, value: unknown): Answer {
  const [status, body] = api.register({ key: publicKey });
  const copy = structuredClone(body) as Record<string, unknown>;
  const path = place.split('.');
  const last = path.pop() ?? '';
  const owner = path.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy);
  if (value === undefined) delete owner[last];
  else owner[last] = value;
  return [status, copy];
}

test.serial('whatever the service answers to a registration, the device in force stays', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  await tunnel.apply();
  const before = [await tunnel.stored(), await tunnel.currentTemplate()];
  const answers: readonly [() => Answer, status: number, says: RegExp][] = [
    [() => refused(400, 'Invalid public key'), 422, /answered 400: Invalid public key$/],
    [() => refused(403, 'a\u0007b\nc'), 422, /answered 403: a b c$/],
    [() => refused(429, ''), 422, /answered 429; try again later$/],
    [() => [500, 'oops'], 502, /answered 500$/],
    [() => [302, ''], 502, /answered 302$/],
    [() => [302, '', { location: `${ORIGIN}/elsewhere` }], 502, /redirects, and this call follows no/],
    [() => [503, '<html><body>Sorry</body></html>'], 502, /answered 503$/],
    [() => [200, '<html><body>Welcome</body></html>'], 502, /not a JSON object/],
    [() => [200, ''], 502, /not a JSON object/],
    [() => [200, '[]'], 502, /not a JSON object/],
    [() => [200, 'null'], 502, /not a JSON object/],
    [() => [200, '{"id":'], 502, /not a JSON object/],
    [() => [200, `{"id":"${'x'.repeat(300_000)}"}`], 502, /cannot be used: .*larger/],
    [() => [200, `{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`], 502, /id is required/],
    [() => changed(api, 'id', undefined), 502, /id is required/],
    [() => changed(api, 'id', 7), 502, /id must be a string/],
    [() => changed(api, 'id', '../account'), 502, /id must be: id of a device/],
    [() => changed(api, 'token', undefined), 502, /token is required/],
    [() => changed(api, 'token', 'a\r\nx: y'), 502, /token must be/],
    [() => changed(api, 'account', undefined), 502, /account is required/],
    [() => changed(api, 'account', 'free'), 502, /account must be/],
    [() => changed(api, 'account.license', undefined), 502, /account\.license is required/],
    [() => changed(api, 'account.license', 7), 502, /account\.license must be a string/],
    [() => changed(api, 'config.client_id', 'AQ=='), 502, /config\.client_id: .*three bytes/],
  ];
  for (const [answer, status, says] of answers) {
    api.instead.set('POST /reg', answer);
    for (const action of ['reg', 'changeIp']) {
      const reply = await tunnel.act(action);
      t.is(reply.status, status, `${action}: ${reply.text.slice(0, 300)}`);
      t.regex(reply.body.msg, says);
      t.is(reply.body.code, status === 422 ? 'EDGETUNNEL_REFUSED' : 'EDGETUNNEL_SERVICE');
      t.true(reply.body.msg.length < 600);
    }
  }
  t.deepEqual([await tunnel.stored(), await tunnel.currentTemplate()], before);
  t.deepEqual(await tunnel.store.list('new'), []);
  await until(
    () => api.devices.size === 11,
    'a device that cannot be used is deleted again, where the reply names it',
  );
});

test.serial('a tunnel that cannot be one is neither applied nor rotated to', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  await tunnel.apply();
  const before = [await tunnel.stored(), await tunnel.currentTemplate()];
  const cases: readonly [place: string, value: unknown, says: RegExp][] = [
    ['config', undefined, /config is required/],
    ['config.interface', undefined, /config\.interface is required/],
    ['config.interface.addresses.v4', undefined, /v4 is required/],
    ['config.interface.addresses.v4', '172.16.0.2/32', /v4: it must be an IPv4 address/],
    ['config.interface.addresses.v6', '::1::', /v6: it must be an IPv6 address/],
    ['config.interface.addresses', [], /config\.interface\.addresses must be/],
    ['config.peers', undefined, /config\.peers is required/],
    ['config.peers', [], /config\.peers must contain at least 1/],
    ['config.peers', {}, /config\.peers must be an array/],
    ['config.peers.0.public_key', undefined, /public_key is required/],
    ['config.peers.0.public_key', 'bmVpbg==', /32 bytes/],
    ['config.peers.0.endpoint', 'host:1', /endpoint must be/],
    ['config.peers.0.endpoint.host', undefined, /endpoint\.host is required/],
    ['config.peers.0.endpoint.host', 'engage.example.com', /host:port/],
    ['config.peers.0.endpoint.host', 'engage.example.com:0', /host:port/],
    ['config.peers.0.endpoint.host', 'engage.example.com:65536', /host:port/],
    ['config.peers.0.endpoint.host', 'a b:1', /host:port/],
    ['config.peers.0.endpoint.host', '[::1:1', /host:port/],
    ['config.peers.0.endpoint.host', 'user@host:1', /host:port/],
  ];
  for (const [place, value, says] of cases) {
    api.instead.set('GET /reg', () => changed(api, place, value));
    api.instead.set('POST /reg', () => changed(api, place, value));
    for (const reply of [await tunnel.apply(), await tunnel.act('changeIp')]) {
      t.is(reply.status, 502, `${place}: ${reply.text.slice(0, 300)}`);
      t.regex(reply.body.msg, says, place);
    }
  }
  t.deepEqual([await tunnel.stored(), await tunnel.currentTemplate()], before);
  // An address family that a device does not have is no fault.
  api.instead.set('GET /reg', () => changed(api, 'config.interface.addresses.v6', ''));
  t.is((await tunnel.apply()).status, 200);
  t.deepEqual((await tunnel.outbound())?.settings['address'], ['172.16.0.2/32']);
  // An IPv6 far end stands in brackets.
  api.instead.set('GET /reg', () => changed(api, 'config.peers.0.endpoint.host', '[2606:4700:d0::1]:2408'));
  t.like((await tunnel.apply()).body.obj, { endpoint: '[2606:4700:d0::1]:2408', replaced: true });
  for (const v4 of [undefined, '', 'engage.example.com:0', '300.1.1.1:0']) {
    api.instead.set('GET /reg', () => changed(api, 'config.peers.0.endpoint.v4', v4));
    t.like((await tunnel.apply()).body.obj, { endpoint: 'engage.cloudflareclient.com:2408' }, String(v4));
  }
});

test.serial('a licence or a device that the service refuses changes nothing here', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  const before = await tunnel.stored();
  for (const [answer, status, says] of [
    [refused(400, 'Invalid license'), 422, /answered 400: Invalid license/],
    [[200, { errors: [{ message: 'Too many connected devices.' }] }], 422, /Too many connected devices/],
    [[200, {}], 422, /it gives no reason/],
    [[200, { id: { toString: 1, valueOf: 1 } }], 422, /it gives no reason/],
    [[200, '<html>'], 502, /not a JSON object/],
  ] as const) {
    api.instead.set('PUT', () => answer);
    const reply = await tunnel.act('license', { license: 'abc' });
    t.is(reply.status, status, reply.text);
    t.regex(reply.body.msg, says);
  }
  api.devices.clear();
  for (const reply of [await tunnel.act('config'), await tunnel.apply()]) {
    t.is(reply.status, 422);
    t.regex(reply.body.msg, /answered 404: Not found; .*register a new one/);
  }
  t.deepEqual(await tunnel.stored(), before);
});

// The ways in which a central and a node trust each other.
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import test from 'ava';
import { FakeEngine, refused, selfSigned } from '../../../test/harness/index.js';
import { issue } from '../../../test/harness/self-signed.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import nodes from '../index.js';
import type { AuthorityStore } from '../mtls/authority-store.js';
import { add, boot, local, NODES, only } from './world.js';
import { tlsPanel } from './tls-world.js';

const sha256 = (pem: string): Buffer => createHash('sha256').update(new X509Certificate(pem).raw).digest();
interface Tested {
  readonly status: string;
  readonly error: string;
}

test('verify, skip and pin: a certificate is taken or refused, and nothing is sent to the wrong one', async (t) => {
  const { panel } = await boot(t);
  const far = await tlsPanel(t);
  const body = local(far.port, far.token, { scheme: 'https', name: 'far' });
  const asked = (more: object): Promise<Tested> => panel.get(`${NODES}/test`, { body: { ...body, ...more } });

  t.regex((await asked({})).error, /certificate of 127\.0\.0\.1:\d+ is self-signed; .*pin/);
  t.is((await asked({ tlsVerifyMode: 'skip' })).status, 'online');
  t.regex((await asked({ scheme: 'http' })).error, /speaks https, not http/);
  const pin = await panel.get<string>(`${NODES}/certFingerprint`, { body });
  t.is(pin, sha256(far.cert).toString('base64'));
  const hex = sha256(far.cert).toString('hex');
  for (const written of [pin, hex, hex.toUpperCase().replaceAll(/(..)(?=.)/g, '$1:')])
    t.is((await asked({ tlsVerifyMode: 'pin', pinnedCertSha256: written })).status, 'online', written);

  // Another server with another certificate: it learns neither path nor token.
  const received: string[] = [];
  const other = createServer(selfSigned(), (socket) => {
    socket.on('data', (chunk: Buffer) => received.push(chunk.toString())).on('error', () => undefined);
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  other.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const wrong = await asked({ port, tlsVerifyMode: 'pin', pinnedCertSha256: pin });
  t.regex(wrong.error, /another certificate than the pinned one/);
  t.is((await asked({ port })).status, 'offline');
  t.deepEqual(received, []);
  t.is((await asked({ port, tlsVerifyMode: 'skip' })).status, 'offline');
  t.is(received.length, 1, 'the server does hear what is sent to it');

  const id = await add(panel, { ...body, tlsVerifyMode: 'pin', pinnedCertSha256: hex });
  t.is((await only(panel)).status, 'online');
  const files = await panel.get<{ webCertFile: string }>(`${NODES}/webCert/${id}`);
  t.regex(files.webCertFile, /cert\.pem$/);
  await refused(
    t,
    panel,
    `${NODES}/certFingerprint`,
    { body: { ...body, scheme: 'http' } },
    {
      status: 400,
      code: 'NODES_NO_HTTPS',
    },
  );
});

test('mtls: without a token, for what a central needs and nothing else; and rotation without a gap', async (t) => {
  const observed = servicesOf<{ authorities: AuthorityStore }>(nodes);
  const { panel } = await boot(t, { plugins: [new FakeEngine().plugin, observed.plugin] });
  const far = await tlsPanel(t);
  const trust = async (caCert: string) => {
    const said = await far.call('/panel/api/nodes/mtls/trustCA', { body: { caCert } });
    t.true(said.body.success, said.body.msg);
  };
  const pinned = { tlsVerifyMode: 'mtls', pinnedCertSha256: sha256(far.cert).toString('hex') };
  const body = { ...local(far.port, '', { scheme: 'https', name: 'far' }), ...pinned };
  const asked = (): Promise<Tested> => panel.get(`${NODES}/test`, { body });

  t.regex((await asked()).error, /no authority for mtls yet/);
  const { caCert: first } = await panel.get<{ caCert: string }>(`${NODES}/mtls/ca`, { method: 'POST' });
  t.is(
    (await panel.get<{ caCert: string }>(`${NODES}/mtls/ca`, { method: 'POST' })).caCert,
    first,
    'minted once',
  );
  t.true(new X509Certificate(first).ca);
  t.regex((await asked()).error, /does not accept the certificate of this panel/);

  await trust(first);
  t.is((await asked()).status, 'online', 'at once, without a restart');
  const id = await add(panel, body);
  t.is((await only(panel)).status, 'online');

  // Callers without a certificate are admitted as before, and those of another authority are nobody.
  t.is((await far.call('/panel/api/server/status')).status, 200);
  const stranger = issue({ name: 'stranger', issuer: issue({ name: 'Weir nodes', isAuthority: true }) });
  const as = (pair: { cert: string; key: string }, path: string, more: object = {}) =>
    far.call(path, { ...more, cert: pair.cert, key: pair.key, headers: {} });
  t.is((await as(stranger, '/panel/api/server/status')).status, 401);

  // The principal of a central: what it may call, and what not.
  const [authority] = observed.services.authorities.list();
  const own = authority?.client ?? selfSigned();
  t.is((await as(own, '/panel/api/server/status')).status, 200);
  t.is((await as(own, '/panel/api/server/descendants')).status, 200);
  for (const [path, more] of [
    ['/panel/api/setting/all', { method: 'POST' }],
    ['/panel/api/setting/apiTokens', {}],
    ['/panel/api/nodes/list', {}],
    ['/panel/api/nodes/mtls/trustCA', { body: { caCert: '' } }],
    ['/panel/api/server/getDb', {}],
  ] as const) {
    const said = await as(own, path, more);
    t.is(said.status, 403, path);
    t.is(said.body.code, 'NODES_ROUTE');
  }

  // A new authority beside the old one: the node is reached all the time.
  const online = async (why: string) => {
    await panel.get(`${NODES}/probe/${id}`, { method: 'POST' });
    t.is((await only(panel)).status, 'online', why);
  };
  const { caCert: both } = await panel.get<{ caCert: string }>('/panel/api/x/nodes/mtls/rotate', {
    method: 'POST',
  });
  t.is(both.match(/BEGIN/g)?.length, 2);
  await online('with the previous one, because the node does not know the new one');
  const retire = (force = false) => panel.call('/panel/api/x/nodes/mtls/retire', { body: { force } });
  t.is((await retire()).body.code, 'NODES_STILL_USED');
  await trust(both);
  await online('with either');
  await panel.get(`${NODES}/update/${id}`, { body: { remark: 'forgets which one worked' } });
  await online('with the new one');
  t.is((await retire()).status, 200);
  await online('with the new one alone');
  const { caCert: second } = await panel.get<{ caCert: string }>(`${NODES}/mtls/ca`, { method: 'POST' });
  await trust(second);
  await online('and trusted alone');

  // What is trusted no longer is nobody, also on a connection that was opened before.
  await trust(issue({ name: 'somebody else', isAuthority: true }).cert);
  await panel.get(`${NODES}/probe/${id}`, { method: 'POST' });
  t.regex((await only(panel)).lastError, /does not accept the certificate/);
  await trust(second);
  await online('trusted again, at once');
  await trust('');
  await panel.get(`${NODES}/probe/${id}`, { method: 'POST' });
  t.regex((await only(panel)).lastError, /does not accept the certificate/);
  t.deepEqual(panel.faults, []);
});

test('the certificate of this panel is renewed in time, and nodes that trust its authority need nothing new', async (t) => {
  const observed = servicesOf<{ authorities: AuthorityStore }>(nodes);
  const { panel, clock } = await boot(t, { plugins: [new FakeEngine().plugin, observed.plugin] });
  await panel.get(`${NODES}/mtls/ca`, { method: 'POST' });
  const { authorities } = observed.services;
  const [first] = authorities.list();
  for (const [days, isNew] of [
    [200, false],
    [90, true],
  ] as const) {
    clock.jump(days * 86_400_000);
    await authorities.renew();
    const [now] = authorities.list();
    t.is(now?.caCert, first?.caCert);
    t.is(now?.client.cert !== first?.client.cert, isNew, `after ${days} days more`);
  }
  // What calls show from now on, without a restart.
  const { cert = '', key = '' } = authorities.list()[0]?.client ?? {};
  const renewed = new X509Certificate(cert);
  t.true(Date.parse(renewed.validTo) > clock.now() + 300 * 86_400_000);
  t.true(renewed.checkPrivateKey(createPrivateKey(key)));
  t.true(renewed.verify(new X509Certificate(first?.caCert ?? '').publicKey));
});

test('a bundle that is no list of authorities is refused', async (t) => {
  const { panel } = await boot(t);
  const leaf = selfSigned();
  const old = issue({ name: 'old', isAuthority: true, from: -9, until: -1 });
  const root = issue({ name: 'root', isAuthority: true });
  const below = issue({ name: 'below', isAuthority: true, issuer: root });
  for (const [caCert, says] of [
    ['no PEM', 'not a certificate'],
    [leaf.cert, 'not of an authority'],
    [`${root.cert}${leaf.key}`, 'not a certificate'],
    [root.cert.replace('M', 'A'), 'cannot be read'],
    [old.cert, 'has expired'],
    [below.cert, 'not signed by itself'],
    [root.cert.repeat(17), 'at most 16'],
  ] as const)
    await refused(
      t,
      panel,
      `${NODES}/mtls/trustCA`,
      { body: { caCert } },
      { status: 400, code: 'NODES_BAD_BUNDLE', says },
    );
  const said = await panel.call(`${NODES}/mtls/trustCA`, { body: { caCert: root.cert } });
  t.regex(said.body.msg, /serves plain HTTP/);
  t.is((await panel.get<{ trusted: unknown[] }>('/panel/api/x/nodes/mtls')).trusted.length, 1);
  for (const [path, code] of [
    ['rotate', 'NODES_NO_AUTHORITY'],
    ['retire', 'NODES_NOT_ROTATING'],
  ] as const)
    await refused(t, panel, `/panel/api/x/nodes/mtls/${path}`, { body: {} }, { status: 409, code });
});

test('an API token of the kind node calls what a central needs, and nothing else', async (t) => {
  const { panel } = await boot(t);
  const body = { name: 'central', kind: 'node' };
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', { body });
  const as = (path: string, options: object = {}) =>
    panel.call(path, { anonymous: true, headers: { authorization: `Bearer ${token}` }, ...options });
  t.is((await as('/panel/api/server/status')).status, 200);
  t.is((await as('/panel/api/server/status?a=/panel/api/x/node/1')).status, 200);
  t.is((await as('/panel/api/inbounds/list')).status, 200);
  t.is((await as('/panel/api/server/history/cpu/2')).status, 200);
  for (const path of [
    '/panel/api/setting/apiTokens',
    '/panel/api/nodes/list',
    '/panel/api/server/getDb',
    '/panel/api/setting/apiTokens?x=/panel/api/server/status',
    '/panel/api/x/nodes/mtls',
  ]) {
    const said = await as(path);
    t.is(said.status, 403, path);
    t.is(said.body.code, 'ACCESS_TOKEN_ROUTE', path);
  }
  t.is((await as('/panel/api/setting/apiTokens/create', { body: { name: 'more' } })).status, 403);
  await refused(
    t,
    panel,
    '/panel/api/setting/apiTokens/create',
    { body: { name: 'x', kind: 'nodes' } },
    {
      status: 400,
      code: 'ACCESS_TOKEN_KIND',
      says: 'or send node',
    },
  );
});

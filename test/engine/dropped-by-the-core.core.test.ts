// What this core has dropped is refused when an inbound is saved, with the core's words; what has one user only is served without clients.
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { download, freePort, startClientCore } from '../../plugins/engine/xray/test/traffic.js';
import type { CorePanel } from './core-panel.js';
import { engineBinary, engineOf, openPanel, openServer, teardownOfFile } from './user.js';

const file = teardownOfFile(test);
let panel: CorePanel;
test.before(async () => void (panel = await openPanel(file)));

const add = async (body: object) =>
  panel.call<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'vless', port: await freePort(), listen: '127.0.0.1', ...body },
  });

const DROPPED: Readonly<Record<string, readonly [stream: object, words: RegExp]>> = {
  'network quic': [{ network: 'quic' }, /The feature QUIC transport .* has been removed/],
  'network http': [{ network: 'http' }, /The feature HTTP transport .* has been removed/],
  'network quic under its other name': [{ method: 'quic' }, /The feature QUIC transport .* has been removed/],
  'network that never was': [{ network: 'carrier-pigeon' }, /unknown transport protocol: carrier-pigeon/],
  'security xtls': [{ security: 'xtls' }, /The feature Legacy XTLS has been removed/],
  'seed of mKCP': [
    { network: 'kcp', kcpSettings: { seed: 's' } },
    /The feature mkcp header & seed has been removed/,
  ],
  'header of mKCP': [
    { network: 'kcp', kcpSettings: { header: { type: 'utp' } } },
    /The feature mkcp header & seed has been removed/,
  ],
  'mask of a later core': [{ network: 'kcp', finalmask: { udp: [{ type: 'mkcp-legacy' }] } }, /mkcp-legacy/],
};
for (const [what, [streamSettings, words]] of Object.entries(DROPPED))
  test(`refuses with the core's words: ${what}`, async (t) => {
    const { status, body } = await add({ streamSettings });
    t.is(status, 422);
    t.is(body.code, 'INBOUNDS_CORE_REFUSED');
    t.regex(body.msg, words);
    t.like(await engineOf(panel), { state: 'running', errorMsg: '' });
  });

test('Shadowsocks 2022 with chacha20 serves its one user, and takes no clients', async (t) => {
  const server = await openServer(t);
  const method = '2022-blake3-chacha20-poly1305';
  const password = randomBytes(32).toString('base64');
  const port = await freePort();
  const { body } = await add({ protocol: 'shadowsocks', port, settings: { method, password } });
  t.regex(body.msg, /no clients can be attached to an inbound with 2022-blake3-chacha20-poly1305/);
  const core = await startClientCore({
    binary: engineBinary(),
    outbound: {
      protocol: 'shadowsocks',
      settings: { servers: [{ address: '127.0.0.1', port, method, password }] },
    },
  });
  t.teardown(core.stop);
  await panel.until(
    () =>
      download({ socksPort: core.socksPort, server, bytes: 1000 }).then(
        (came) => came === 1000,
        () => false,
      ),
    'the one user is served',
  );
  const refused = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'ada' }, inboundIds: [body.obj.id] },
  });
  t.is(refused.body.code, 'INBOUNDS_NO_CLIENTS');
  t.regex(refused.body.msg, /has one user/);
  t.like(await engineOf(panel), { state: 'running', errorMsg: '' });
});

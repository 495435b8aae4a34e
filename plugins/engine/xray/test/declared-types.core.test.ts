// Account types beyond those of the panel itself, on a real core: users over the API, and users in the inbound's config.
import { createHash, randomUUID, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { selfSigned } from '../../../../test/harness/self-signed.js';
import type { ApiAccountType, ConfigAccountType } from '../../contract.js';
import { type CoreInbound, ProtocolRefused } from '../../driver.js';
import { XrayDriver } from '../xray-driver.js';
import {
  accountsOf,
  base,
  emptyRecord,
  engineBinary,
  processes,
  quiet,
  temporaryDirectory,
  vlessInbound,
} from './harness.js';
import { download, freePort, startByteServer, startClientCore } from './traffic.js';

/** Xray-core 26.3.27, proxy/hysteria/config.proto, proxy/hysteria/account/config.proto, infra/conf/hysteria.go. */
const hysteria: ApiAccountType = {
  name: 'hysteria',
  users: 'api',
  inboundType: 'xray.proxy.hysteria.ServerConfig',
  usersField: 1,
  message: 'xray.proxy.hysteria.account.Account',
  fields: { auth: { number: 1, type: 'string' } },
};
/** infra/conf/http.go: without accounts such an inbound lets everybody in. */
const http: ConfigAccountType = {
  name: 'http',
  users: 'config',
  inboundType: 'xray.proxy.http.ServerConfig',
  list: 'accounts',
  nameKey: 'user',
  fields: { password: { type: 'string', json: 'pass' } },
  nobody: () => ({ password: randomUUID() }),
};

async function driverWith(t: ExecutionContext): Promise<XrayDriver> {
  const directory = await temporaryDirectory(t);
  const accounts = accountsOf(hysteria, http, {
    ...http,
    name: 'wrong-list',
    protocol: 'http',
    list: 'users',
  });
  const driver = new XrayDriver({ binary: engineBinary(), directory, log: quiet, accounts, processes });
  t.teardown(() => driver.stop());
  await driver.start(base, [], emptyRecord);
  return driver;
}

test('users of hysteria come, log in, are counted and go over the core’s API', async (t) => {
  const driver = await driverWith(t);
  const server = await startByteServer();
  t.teardown(() => server.stop());
  const { cert, key } = selfSigned();
  const port = await freePort();
  const hysteriaSettings = { version: 2 };
  const inbound: CoreInbound = {
    tag: 'h',
    protocol: 'hysteria',
    config: {
      tag: 'h',
      listen: '127.0.0.1',
      port,
      protocol: 'hysteria',
      settings: { version: 2 },
      streamSettings: {
        network: 'hysteria',
        security: 'tls',
        tlsSettings: {
          alpn: ['h3'],
          certificates: [{ certificate: cert.split('\n'), key: key.split('\n') }],
        },
        hysteriaSettings,
      },
    },
  };
  const ada = { name: 'i1.c1', account: { protocol: 'hysteria', auth: 'first' } };
  await driver.testAccount(inbound, ada);
  await driver.putInbound({ ...inbound, users: [] });
  t.deepEqual(await driver.users('h'), []);
  await driver.putUser('h', ada);
  t.deepEqual(await driver.users('h'), [ada]);
  const pinned = createHash('sha256').update(new X509Certificate(cert).raw).digest('hex');
  const client = async (auth: string) => {
    const core = await startClientCore({
      binary: engineBinary(),
      outbound: {
        protocol: 'hysteria',
        settings: { version: 2, address: '127.0.0.1', port },
        streamSettings: {
          network: 'hysteria',
          security: 'tls',
          tlsSettings: { serverName: 'localhost', alpn: ['h3'], pinnedPeerCertSha256: pinned },
          hysteriaSettings: { ...hysteriaSettings, auth },
        },
      },
    });
    t.teardown(core.stop);
    return core.socksPort;
  };
  const bytes = 100_000;
  t.is(await download({ socksPort: await client('first'), server, bytes }), bytes);
  const [counter] = await driver.counters('i1.');
  t.is(counter?.name, 'i1.c1');
  t.true((counter?.down ?? 0) >= bytes);
  const second = { ...ada, account: { protocol: 'hysteria', auth: 'second' } };
  await driver.putUser('h', second);
  t.deepEqual(await driver.users('h'), [second]);
  await t.throwsAsync(download({ socksPort: await client('first'), server, bytes }));
  t.is(await download({ socksPort: await client('second'), server, bytes }), bytes);
  await driver.removeUser('h', 'i1.c1');
  t.deepEqual(await driver.users('h'), []);
  await t.throwsAsync(download({ socksPort: await client('second'), server, bytes }));
});

test('an inbound whose users are part of its config accepts them and nobody else, also when it has none', async (t) => {
  const driver = await driverWith(t);
  const port = await freePort();
  const inbound: CoreInbound = {
    tag: 'p',
    protocol: 'http',
    config: { tag: 'p', listen: '127.0.0.1', port, protocol: 'http', settings: {} },
  };
  const ada = { name: 'i1.c1', account: { protocol: 'http', password: 'p' } };
  const server = await startByteServer();
  t.teardown(() => server.stop());
  const status = async (login?: string): Promise<number> => {
    const headers = login && { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` };
    const outgoing = request({
      host: '127.0.0.1',
      port,
      agent: false,
      path: `http://127.0.0.1:${server.port}/?bytes=50000`,
      headers: { ...headers, connection: 'close' },
    }).end();
    const [incoming] = (await once(outgoing, 'response')) as [import('node:http').IncomingMessage];
    incoming.resume();
    await once(incoming, 'end');
    return incoming.statusCode ?? 0;
  };
  await driver.testAccount(inbound, ada);
  await driver.putInbound({ ...inbound, users: [] });
  t.is(await status(), 407, 'nobody is let in without a login');
  t.is(await status('i1.c1:p'), 407);
  await driver.putInbound({ ...inbound, users: [ada] });
  t.is(await status('i1.c1:p'), 200);
  t.is(await status('i1.c1:q'), 407);
  t.is(await status(), 407);
  const [counter] = await driver.counters('i1.');
  t.is(counter?.name, 'i1.c1');
  t.true((counter?.down ?? 0) >= 50_000);
  await t.throwsAsync(driver.putUser('p', ada), {
    message: /no users that can be changed while the core runs/,
  });
  await driver.stop();
  await driver.start(base, [{ ...inbound, users: [ada] }], emptyRecord);
  t.is(await status('i1.c1:p'), 200, 'and is started with them');
});

test('a list that the core does not read is found out by an account, and a protocol that it does not know by its name', async (t) => {
  const driver = await driverWith(t);
  const config = { tag: 'p', listen: '127.0.0.1', port: 1, protocol: 'http', settings: {} };
  const account = { protocol: 'wrong-list', password: 'p' };
  await t.throwsAsync(
    driver.testAccount({ tag: 'p', protocol: 'wrong-list', config }, { name: 'i1.c1', account }),
    { instanceOf: ProtocolRefused, message: /reads no users from users/ },
  );
  const unheard = vlessInbound('u', 1);
  await t.throwsAsync(
    driver.test(base, [
      { ...unheard, protocol: 'unheard', config: { ...unheard.config, protocol: 'unheard' } },
    ]),
    { instanceOf: ProtocolRefused, message: /does not know the protocol unheard/ },
  );
});

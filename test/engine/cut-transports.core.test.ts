// The promise of connection-cut, transport by transport: a removed user's transfer ends, the neighbour's goes on.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { connect, createServer as createProxy } from 'node:http2';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import type { ExecutionContext } from 'ava';
import { createLog } from '../../panel/log.js';
import { Cutter } from '../../plugins/connection-cut/cutter.js';
import { Sockets } from '../../plugins/connection-cut/sockets.js';
import { Accesses } from '../../plugins/engine/logs/accesses.js';
import type { JsonObject, UserRef } from '../../plugins/engine/contract.js';
import { userName } from '../../plugins/engine/contract.js';
import { runCommand } from '../../plugins/engine/xray/command.js';
import type { XrayDriver } from '../../plugins/engine/xray/xray-driver.js';
import {
  base,
  driverIn,
  emptyRecord,
  engineBinary,
  temporaryDirectory,
} from '../../plugins/engine/xray/test/harness.js';
import {
  type ByteServer,
  download,
  freePort,
  startByteServer,
  startClientCore,
} from '../../plugins/engine/xray/test/traffic.js';
import type { Inbound } from '../../plugins/inbounds/contract.js';
import { testUnless } from '../harness/left-out.js';
import { until } from '../harness/until.js';
import { MIB } from './user.js';

const test = testUnless(await new Sockets().obstacle());

interface Keys {
  readonly certificate: JsonObject;
  readonly pin: string;
  readonly privateKey: string;
  readonly publicKey: string;
  /** a TLS server on loopback that reality may borrow the handshake of */
  readonly target: number;
}
interface Way {
  readonly server: (keys: Keys) => JsonObject;
  /** where the client's side differs */
  readonly client?: (keys: Keys) => JsonObject;
  readonly flow?: string;
}

const tls = {
  server: ({ certificate }: Keys) => ({ security: 'tls', tlsSettings: { certificates: [certificate] } }),
  client: ({ pin }: Keys) => ({
    security: 'tls',
    tlsSettings: { serverName: 'a.example', pinnedPeerCertSha256: pin },
  }),
};
const reality = {
  server: ({ target, privateKey }: Keys) => ({
    security: 'reality',
    realitySettings: {
      target: `127.0.0.1:${target}`,
      serverNames: ['a.example'],
      privateKey,
      shortIds: ['ab'],
    },
  }),
  client: ({ publicKey }: Keys) => ({
    security: 'reality',
    realitySettings: { serverName: 'a.example', publicKey, shortId: 'ab', fingerprint: 'chrome' },
  }),
};
const over = (stream: JsonObject, security?: typeof tls | typeof reality, flow?: string): Way => ({
  server: (keys) => ({ ...stream, ...security?.server(keys) }),
  ...(security && { client: (keys: Keys) => ({ ...stream, ...security.client(keys) }) }),
  ...(flow !== undefined && { flow }),
});

const VISION = 'xtls-rprx-vision';
const ways: Readonly<Record<string, Way>> = {
  httpupgrade: over({ network: 'httpupgrade', httpupgradeSettings: { path: '/u' } }),
  grpc: over({ network: 'grpc', grpcSettings: { serviceName: 's' } }),
  'xhttp over HTTP/1.1': over({ network: 'xhttp', xhttpSettings: { path: '/x', mode: 'packet-up' } }),
  'xhttp over HTTP/2': over({ network: 'xhttp', xhttpSettings: { path: '/x', mode: 'stream-up' } }, tls),
  'tcp with TLS': over({ network: 'tcp' }, tls),
  'tcp with TLS and Vision': over({ network: 'tcp' }, tls, VISION),
  'tcp with Reality and Vision': over({ network: 'tcp' }, reality, VISION),
};

async function makeKeys(t: ExecutionContext, directory: string): Promise<Keys> {
  const run = (...args: string[]): Promise<string> =>
    runCommand({ binary: engineBinary(), directory, args, timeout: 10_000 });
  const certificate = JSON.parse(await run('tls', 'cert', '-domain=a.example', '-name=a.example')) as {
    certificate: string[];
    key: string[];
  };
  const file = join(directory, 'certificate.pem');
  await writeFile(file, certificate.certificate.join('\n'));
  const [, pin = ''] = /([0-9a-f]{64})/i.exec(await run('tls', 'hash', '--cert', file)) ?? [];
  const pair = await run('x25519');
  const [, privateKey = ''] = /^PrivateKey: (\S+)/m.exec(pair) ?? [];
  const [, publicKey = ''] = /^Password[^:]*: (\S+)/m.exec(pair) ?? [];
  const server = createTlsServer({
    cert: certificate.certificate.join('\n'),
    key: certificate.key.join('\n').replaceAll('RSA PRIVATE KEY', 'PRIVATE KEY'),
    minVersion: 'TLSv1.3',
  }).on('tlsClientError', () => undefined);
  const target = await freePort();
  await new Promise<void>((resolve) => server.listen(target, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return {
    certificate: { certificate: certificate.certificate, key: certificate.key },
    pin,
    privateKey,
    publicKey,
    target,
  };
}

/** A core of its own, the cutter that follows it, and two users who transfer through one inbound. */
class World {
  readonly driver: XrayDriver;
  readonly server: ByteServer;
  readonly cutter: Cutter;
  readonly #gone: Set<string>;
  readonly #inbounds: Map<number, Inbound>;

  private constructor(parts: {
    driver: XrayDriver;
    server: ByteServer;
    cutter: Cutter;
    gone: Set<string>;
    inbounds: Map<number, Inbound>;
  }) {
    this.driver = parts.driver;
    this.server = parts.server;
    this.cutter = parts.cutter;
    this.#gone = parts.gone;
    this.#inbounds = parts.inbounds;
  }

  static async open(t: ExecutionContext, directory: string): Promise<World> {
    const sockets = new Sockets();
    const driver = driverIn(t, directory);
    await driver.start(base, [], emptyRecord);
    const server = await startByteServer();
    t.teardown(() => server.stop());
    const gone = new Set<string>();
    const inbounds = new Map<number, Inbound>();
    const log = createLog({ level: 'warn', readable: true, write: (line) => t.log(line) });
    const access = new Accesses({
      log,
      supervisor: {
        admits: (ref) => !gone.has(userName(ref)),
        reader: driver,
      },
    });
    const cutter = new Cutter({
      log,
      access,
      inbounds: { get: (id) => inbounds.get(id) },
      settings: { read: () => ({ engineCutConnections: true }) as never },
      listeners: { proxies: { trusts: () => false } },
      sockets,
    });
    await cutter.start();
    t.teardown(() => cutter.stop());
    return new World({ driver, server, cutter, gone, inbounds });
  }

  async inbound(
    id: number,
    streamSettings: JsonObject,
    flow = '',
  ): Promise<{ port: number; refs: readonly [UserRef, UserRef]; ids: readonly [string, string] }> {
    const port = await freePort();
    const tag = `in-${id}`;
    this.#inbounds.set(id, { id, port, protocol: 'vless', streamSettings } as unknown as Inbound);
    const refs = [
      { inboundId: id, clientId: 1 },
      { inboundId: id, clientId: 2 },
    ] as const;
    const ids = [randomUUID(), randomUUID()] as const;
    const users = refs.map((ref, i) => ({
      name: userName(ref),
      account: { protocol: 'vless', id: ids[i] ?? '', flow },
    }));
    await this.driver.putInbound({
      tag,
      protocol: 'vless',
      config: {
        tag,
        listen: '127.0.0.1',
        port,
        protocol: 'vless',
        settings: { decryption: 'none' },
        streamSettings,
      },
      users,
    });
    return { port, refs, ids };
  }

  /** Bytes that came so far, for each user. Ends with `stop`. */
  async transfer(
    port: number,
    ids: readonly string[],
    streamSettings: JsonObject,
    flow = '',
  ): Promise<{ soFar: number[]; stop(): Promise<void> }> {
    const { server } = this;
    const soFar = ids.map(() => 0);
    const clients = await Promise.all(
      ids.map((id) =>
        startClientCore({
          binary: engineBinary(),
          outbound: {
            tag: 'proxy',
            protocol: 'vless',
            settings: { vnext: [{ address: '127.0.0.1', port, users: [{ id, flow, encryption: 'none' }] }] },
            streamSettings,
          },
        }),
      ),
    );
    clients.forEach(
      ({ socksPort }, i) =>
        void download({
          socksPort,
          server,
          bytes: 600 * MIB,
          rate: MIB,
          onBytes: (now) => (soFar[i] = now),
        }).catch(() => undefined),
    );
    const stop = async (): Promise<void> => {
      await Promise.all(clients.map((client) => client.stop()));
      await until(() => server.giving === 0, 'nobody transfers any more');
    };
    return { soFar, stop };
  }

  async remove(ref: UserRef): Promise<void> {
    await this.driver.removeUser(`in-${ref.inboundId}`, userName(ref));
    this.#gone.add(userName(ref));
    await this.cutter.removed([ref]);
  }
  endsAt(id: number): boolean {
    return this.cutter.describe(this.#inbounds.get(id) as Inbound).end;
  }
}

async function goesOn(soFar: readonly number[], i: number, what: string): Promise<void> {
  const before = soFar[i] ?? 0;
  await until(() => (soFar[i] ?? 0) > before + MIB / 4, what);
}

test('a removed user is cut off over every direct TCP transport, the neighbour is not', async (t) => {
  const directory = await temporaryDirectory(t);
  const world = await World.open(t, directory);
  const keys = await makeKeys(t, directory);
  let id = 0;
  for (const [name, way] of Object.entries(ways)) {
    id += 1;
    const { port, refs, ids } = await world.inbound(id, way.server(keys), way.flow);
    const { soFar, stop } = await world.transfer(port, ids, (way.client ?? way.server)(keys), way.flow);
    try {
      await until(() => soFar.every((bytes) => bytes > 0), `both transfer over ${name}`);
      await world.remove(refs[0]);
      await until(() => world.server.giving === 1, `the transfer of the removed user over ${name} ends`);
      await goesOn(soFar, 1, `the neighbour's transfer over ${name} goes on`);
      t.is(world.server.giving, 1, name);
      t.true(world.endsAt(id), name);
    } finally {
      await stop();
    }
  }
});

/** As nginx does for grpc: all streams of all clients share one connection to the core. */
async function sharingProxy(t: ExecutionContext, corePort: number): Promise<number> {
  const core = connect(`http://127.0.0.1:${corePort}`).on('error', () => undefined);
  const proxy = createProxy().on('stream', (stream, headers) => {
    const onward = core.request(headers, { endStream: false });
    onward.on('response', (answer) => stream.respond(answer));
    for (const half of [stream, onward]) half.on('error', () => undefined);
    stream.pipe(onward).pipe(stream);
    stream.once('close', () => onward.close());
    onward.once('close', () => stream.close());
  });
  const port = await freePort();
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  t.teardown(() => {
    core.destroy();
    proxy.close();
  });
  return port;
}

test('behind a proxy that shares one connection nobody is cut off', async (t) => {
  const world = await World.open(t, await temporaryDirectory(t));
  const stream = { network: 'grpc', grpcSettings: { serviceName: 's' } };
  const { port, refs, ids } = await world.inbound(1, stream);
  const { soFar, stop } = await world.transfer(await sharingProxy(t, port), ids, stream);
  try {
    await until(() => soFar.every((bytes) => bytes > 0), 'both transfer');
    // Both, for either may be the one who was heard first.
    for (const ref of refs) {
      await world.remove(ref);
      for (const again of ['at once', 'after another look', 'and another']) {
        for (const i of [0, 1]) await goesOn(soFar, i, `transfer ${i} goes on ${again}`);
        await world.cutter.tick();
      }
    }
    t.is(world.server.giving, 2);
  } finally {
    await stop();
  }
});

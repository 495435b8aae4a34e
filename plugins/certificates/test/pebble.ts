// A real certificate authority for tests: Pebble, and the name server that it asks, in which every name is this machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../test/harness/api.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';
import { until } from '../../../test/harness/until.js';

/** Why there is no authority here; empty when there is one. */
export function authorityMissing(): string {
  const missing = process.env['WEIR_TEST_AUTHORITY_MISSING'];
  if (missing) return missing;
  try {
    accessSync(join(process.env['WEIR_TEST_AUTHORITY'] || '/nowhere', 'pebble'), constants.X_OK);
    return '';
  } catch {
    return 'WEIR_TEST_AUTHORITY must name a folder with pebble; bin/test-programs.mjs finds one';
  }
}

export interface PebbleOptions {
  /** percent of good nonces that it refuses */
  readonly badNonces?: number;
  /** external account, by its key id */
  readonly externalAccounts?: Readonly<Record<string, string>>;
  /** seconds for which a certificate is valid */
  readonly life?: number;
  /** ms before it looks at a challenge */
  readonly slowMs?: number;
  readonly blocked?: readonly string[];
}

/** They end with the tests. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

const opens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

export class Pebble {
  readonly httpPort: number;
  readonly tlsPort: number;
  readonly directory: string;
  /** PEM that verifies its own server */
  readonly authority: string;
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];
  readonly #ports: { readonly management: number; readonly dns: number; readonly names: number };
  said = '';

  private constructor(folder: string, ports: readonly number[], authority: string) {
    const [api = 0, management = 0, http = 0, tls = 0, dns = 0, names = 0] = ports;
    this.#folder = folder;
    this.authority = authority;
    this.httpPort = http;
    this.tlsPort = tls;
    this.directory = `https://127.0.0.1:${api}/dir`;
    this.#ports = { management, dns, names };
  }

  static async start(options: PebbleOptions = {}): Promise<Pebble> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-pebble-'));
    const ports: number[] = [];
    for (let i = 0; i < 6; i++) ports.push(await freePort());
    const pair = selfSigned();
    const { certFile, keyFile } = await writePair(folder, pair);
    const pebble = new Pebble(folder, ports, pair.cert);
    const { badNonces = 0, externalAccounts, life = 7_776_000, slowMs = 0, blocked = [] } = options;
    const config = {
      pebble: {
        listenAddress: `127.0.0.1:${ports[0]}`,
        managementListenAddress: `127.0.0.1:${ports[1]}`,
        certificate: certFile,
        privateKey: keyFile,
        httpPort: pebble.httpPort,
        tlsPort: pebble.tlsPort,
        externalAccountBindingRequired: externalAccounts !== undefined,
        ...(externalAccounts && { externalAccountMACKeys: externalAccounts }),
        domainBlocklist: blocked,
        retryAfter: { authz: 1, order: 1 },
        keyAlgorithm: 'ecdsa',
        profiles: { default: { description: 'default', validityPeriod: life } },
      },
    };
    await writeFile(join(folder, 'pebble.json'), JSON.stringify(config));
    try {
      await pebble.#run('pebble-challtestsrv', [
        ...['-dnsserver', `127.0.0.1:${pebble.#ports.dns}`],
        ...['-management', `127.0.0.1:${pebble.#ports.names}`],
        ...['-http01', '', '-https01', '', '-tlsalpn01', '', '-doh', '', '-defaultIPv6', ''],
      ]);
      await pebble.#run(
        'pebble',
        [
          ...['-config', join(folder, 'pebble.json'), '-strict=false'],
          ...['-dnsserver', `127.0.0.1:${pebble.#ports.dns}`],
        ],
        {
          PEBBLE_WFE_NONCEREJECT: String(badNonces),
          PEBBLE_AUTHZREUSE: '0',
          ...(slowMs === 0
            ? { PEBBLE_VA_NOSLEEP: '1' }
            : { PEBBLE_VA_SLEEPTIME: String(Math.ceil(slowMs / 1000)) }),
        },
      );
      await until(() => opens(ports[0] ?? 0), 'the authority listens');
      await until(() => opens(pebble.#ports.names), 'the name server listens');
      return pebble;
    } catch (error) {
      await pebble.stop();
      throw error;
    }
  }

  async #run(
    name: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const child = spawn(join(process.env['WEIR_TEST_AUTHORITY'] ?? '', name), args, {
      cwd: this.#folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const output of [child.stdout, child.stderr])
      output?.on('data', (chunk: Buffer) => (this.said = (this.said + String(chunk)).slice(-65_536)));
    running.add(child);
    child.once('exit', () => running.delete(child));
    this.#children.push(child);
  }

  /** Settings with which a panel orders here. */
  get settings(): Record<string, unknown> {
    return {
      acmeDirectory: this.directory,
      acmeHttpPort: this.httpPort,
      acmeTlsPort: this.tlsPort,
      acmeAuthorities: this.authority,
      acmeAllowPrivate: true,
    };
  }

  /** Sends calls to the name server: `add-a`, `set-servfail` … */
  async names(call: string, body: object): Promise<void> {
    const reply = await fetch(`http://127.0.0.1:${this.#ports.names}/${call}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`the name server refuses ${call}: ${reply.status}`);
  }

  /** A page of the management interface, such as `roots/0` and `cert-status-by-serial/…`. */
  async manage(path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port: this.#ports.management,
          path: `/${path}`,
          ca: this.authority,
          agent: false,
        },
        (answer) => {
          let text = '';
          answer.on('data', (chunk: Buffer) => (text += String(chunk)));
          answer.on('end', () => resolve(text));
        },
      );
      asked.on('error', reject).end();
    });
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const over = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        await over;
      }),
    );
    await rm(this.#folder, { recursive: true, force: true });
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

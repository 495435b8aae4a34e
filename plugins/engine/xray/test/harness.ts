// What the driver's tests share: a driver in a directory of its own that leaves no process behind, and inbounds to give it.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type Server } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { PluginContext } from '../../../../kernel/index.js';
import {
  shadowsocks2022Accounts,
  shadowsocksAccounts,
} from '../../../inbounds/protocols/shadowsocks-accounts.js';
import { trojanAccounts } from '../../../inbounds/protocols/trojan.js';
import { vlessAccounts } from '../../../inbounds/protocols/vless.js';
import { vmessAccounts } from '../../../inbounds/protocols/vmess.js';
import { Accounts } from '../../users/accounts.js';
import type { AccountType } from '../../contract.js';
import type { CoreInbound, AppliedDigests, CoreUser, JsonObject } from '../../driver.js';
import { XrayDriver } from '../xray-driver.js';
import type { DriverLog } from '../folder.js';
import { isAlive, type ProcessIdentity, type ProcessesApi } from '../../../processes/contract.js';
import { Slot } from '../../../processes/slot.js';

/** The types that the panel itself brings, and these. */
export const accountsOf = (...more: AccountType[]): Accounts =>
  new Accounts({
    contributions: (() =>
      [
        vlessAccounts,
        vmessAccounts,
        trojanAccounts,
        shadowsocksAccounts,
        shadowsocks2022Accounts,
        ...more,
      ].map((value) => ({
        plugin: 'test',
        value,
        fault: () => undefined,
      }))) as unknown as PluginContext['contributions'],
  });

export function engineBinary(): string {
  const binary = process.env['WEIR_ENGINE_BIN'];
  if (binary === undefined || binary === '')
    throw new Error(
      'WEIR_ENGINE_BIN must name an Xray-core 26.3.27 program, e.g. WEIR_ENGINE_BIN=/opt/xray/xray',
    );
  return binary;
}

export const quiet: DriverLog = { debug() {}, info() {}, warn() {} };
export const processes: Pick<ProcessesApi, 'slot'> = { slot: (options) => new Slot(options) };
export const base: JsonObject = {
  outbounds: [
    { tag: 'direct', protocol: 'freedom' },
    { tag: 'blocked', protocol: 'blackhole' },
  ],
};
export const emptyRecord: AppliedDigests = {
  base: 'base-1',
  outbounds: {},
  first: '',
  rules: '',
  inbounds: {},
};

/** Kills whatever core the directory's record names. */
async function sweep(directory: string): Promise<void> {
  const text = await readFile(join(directory, 'core.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const { identity } = JSON.parse(text) as { identity: ProcessIdentity };
  if (isAlive(identity)) process.kill(identity.pid, 'SIGKILL');
}

export async function temporaryDirectory(t: ExecutionContext, prefix = 'weir-test-'): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), prefix));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const directory = join(root, 'engine');
  t.teardown(() => sweep(directory));
  return directory;
}

export function driverIn(t: ExecutionContext, directory: string, log: DriverLog = quiet): XrayDriver {
  const driver = new XrayDriver({
    binary: engineBinary(),
    directory,
    log,
    accounts: accountsOf(),
    processes,
  });
  t.teardown(() => driver.stop());
  return driver;
}

export async function temporaryDriver(t: ExecutionContext): Promise<XrayDriver> {
  return driverIn(t, await temporaryDirectory(t));
}

export function vlessInbound(tag: string, port: number): CoreInbound {
  return {
    tag,
    protocol: 'vless',
    config: { tag, listen: '127.0.0.1', port, protocol: 'vless', settings: { decryption: 'none' } },
  };
}

export function trojanInbound(tag: string, port: number): CoreInbound {
  return { tag, protocol: 'trojan', config: { tag, listen: '127.0.0.1', port, protocol: 'trojan' } };
}

export const vlessUser = (name: string, id: string = randomUUID()): CoreUser => ({
  name,
  account: { protocol: 'vless', id, flow: '' },
});
export const trojanUser = (name: string, password: string = randomUUID()): CoreUser => ({
  name,
  account: { protocol: 'trojan', password },
});

/** The outbound with which a client core uses `user` on a plain vless inbound. */
export function vlessOutbound(port: number, user: CoreUser): JsonObject {
  const { id = '', flow = '' } = user.account;
  return {
    tag: 'proxy',
    protocol: 'vless',
    settings: { vnext: [{ address: '127.0.0.1', port, users: [{ id, flow, encryption: 'none' }] }] },
  };
}

/** A listener of another program: without SO_REUSEPORT, as the core's own would have it. */
export async function holdPort(t: ExecutionContext, port: number): Promise<Server> {
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  t.teardown(() => server.close());
  await once(server, 'listening');
  return server;
}

/** Resolves when `condition` holds; rejects after a deadline that only a broken program meets. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`did not happen: ${what}`);
    await sleep(25);
  }
}

export const byName = (users: readonly CoreUser[]): readonly CoreUser[] =>
  users.toSorted((a, b) => (a.name < b.name ? -1 : 1));

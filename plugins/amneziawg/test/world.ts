// Network namespaces: a server on which the panel runs, an internet with a web server, and clients behind it.
//
//   test ── mgmt ── [server] ── ext 203.0.113.2 ── 203.0.113.1 [net] ── 198.51.10N.2 [client N]
//                       └────── lan 192.168.77.1 ── 192.168.77.2 ┘ also 169.254.169.254
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { searchPath } from '../../processes/contract.js';
import { amneziawgGo } from './needs.js';

const run = promisify(execFile);
const env = { ...process.env, PATH: searchPath() };
const END = fileURLToPath(new URL('./end.js', import.meta.url));
const SUBSET = process.pid % 200;

export const PUBLIC = '203.0.113.1';
export const SERVER = '203.0.113.2';
/** Another address of the server, which clients reach through the tunnel only. */
export const SECOND = '203.0.113.3';
export const LAN = '192.168.77.2';

/** Where a test ends. */
export type Teardown = Pick<ExecutionContext, 'teardown'>;

export async function command(name: string, args: readonly string[], input?: string): Promise<string> {
  const running = run(name, args, { env, maxBuffer: 16 * 1024 * 1024 });
  if (input !== undefined) running.child.stdin?.end(input);
  return (await running).stdout;
}

let worlds = 0;

export class World {
  readonly #name: string;
  readonly #mgmt: string;
  readonly #holder: ChildProcess;
  readonly #namespaces: string[] = [];
  readonly #children = new Set<ChildProcess>();
  readonly folders: string[] = [];

  private constructor(name: string, mgmt: string, holder: ChildProcess) {
    this.#name = name;
    this.#mgmt = mgmt;
    this.#holder = holder;
  }

  static async make(t: Teardown): Promise<World> {
    const name = `w${process.pid}x${worlds++}`;
    const mgmt = `10.${100 + (worlds % 100)}.${SUBSET}`;
    const [server, net] = [`${name}s`, `${name}n`];
    await mkdir('/run/amneziawg', { recursive: true });
    for (const one of [server, net]) await command('ip', ['netns', 'add', one]);
    const lines = [
      `link add ${name}m type veth peer name mgmt netns ${server}`,
      `address add ${mgmt}.2/30 dev ${name}m`,
      `link set ${name}m up`,
    ];
    await command('ip', ['-batch', '-'], `${lines.join('\n')}\n`);
    // The sockets of the server are its own: another test has interfaces of the same names.
    const holder = spawn(
      'ip',
      [
        'netns',
        'exec',
        server,
        'sh',
        '-c',
        'mount -t tmpfs tmpfs /run/amneziawg && echo ok && exec sleep 1000000',
      ],
      { env, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(holder.stdout, 'data');
    const world = new World(name, mgmt, holder);
    world.#namespaces.push(server, net);
    t.teardown(() => world.#end());
    await world.in(server, [
      'link set lo up',
      `address add ${mgmt}.1/30 dev mgmt`,
      'link set mgmt up',
      `link add ext type veth peer name s netns ${net}`,
      `address add ${SERVER}/24 dev ext`,
      `address add ${SECOND}/24 dev ext`,
      'link set ext up',
      `link add lan type veth peer name lan netns ${net}`,
      'address add 192.168.77.1/24 dev lan',
      'link set lan up',
      `route add default via ${PUBLIC}`,
    ]);
    await world.in(net, [
      'link set lo up',
      `address add ${PUBLIC}/24 dev s`,
      'link set s up',
      `address add ${LAN}/24 dev lan`,
      'address add 169.254.169.254/32 dev lan',
      'link set lan up',
      `route add 10.8.0.0/16 via 192.168.77.1`,
    ]);
    await world.exec('net', 'sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
    return world;
  }

  #namespace(where: string): string {
    return where === 'server' || where === 'net' ? `${this.#name}${where[0]}` : `${this.#name}${where}`;
  }
  in(namespace: string, lines: readonly string[]): Promise<string> {
    return command('ip', ['-n', namespace, '-batch', '-'], `${lines.join('\n')}\n`);
  }
  exec(where: string, name: string, args: readonly string[]): Promise<string> {
    const prefix = this.within(where);
    return command(prefix[0] as string, [...prefix.slice(1), name, ...args]);
  }
  within(where: string): readonly string[] {
    return where === 'server'
      ? ['nsenter', '-t', String(this.#holder.pid), '-m', '-n']
      : ['ip', 'netns', 'exec', this.#namespace(where)];
  }

  /** A namespace for a client, with a way to the server. */
  async addClient(number: number): Promise<string> {
    const where = `c${number}`;
    const namespace = this.#namespace(where);
    await command('ip', ['netns', 'add', namespace]);
    this.#namespaces.push(namespace);
    await this.in(namespace, [
      'link set lo up',
      `link add out type veth peer name ${where} netns ${this.#namespace('net')}`,
      `address add 198.51.10${number}.2/24 dev out`,
      'link set out up',
      `route add ${SERVER}/32 via 198.51.10${number}.1 dev out onlink`,
    ]);
    await this.in(this.#namespace('net'), [
      `address add 198.51.10${number}.1/24 dev ${where}`,
      `link set ${where} up`,
    ]);
    return where;
  }

  /** Starts a program there; it ends with the test. */
  start(where: string, name: string, args: readonly string[]): ChildProcess {
    const [first = '', ...rest] = [...this.within(where), name, ...args];
    const child = spawn(first, rest, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  /** Runs end.js there: `serve`, `get`, … Resolves with its first line. */
  async end(
    where: string,
    args: readonly (string | number)[],
  ): Promise<{ line: string; child: ChildProcess }> {
    const child = this.start(where, process.execPath, [END, ...args.map(String)]);
    if (!child.stdout) throw new Error('it has no output');
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${args.join(' ')} ended with ${code}`);
    });
    ended.catch(() => {});
    const line = once(createInterface(child.stdout), 'line').then(([text]) => String(text));
    return { line: await Promise.race([line, ended]), child };
  }
  /** Resolves, once it has begun, with the promise `result` of its second line. */
  async watch(
    where: string,
    args: readonly (string | number)[],
  ): Promise<{ readonly result: Promise<string> }> {
    const { child } = await this.end(where, args);
    const output = child.stdout;
    if (!output) throw new Error('it has no output');
    return { result: once(createInterface(output), 'line').then(([text]) => String(text)) };
  }
  /** The same as JSON. */
  async ask<T>(where: string, args: readonly (string | number)[]): Promise<T> {
    return JSON.parse((await this.end(where, args)).line) as T;
  }

  /** The panel on the server. */
  async panel(more: Readonly<Record<string, string>> = {}, dataDirectory?: string): Promise<PanelProcess> {
    const folder = dataDirectory ?? (await mkdtemp(join(tmpdir(), 'weir-test-')));
    if (!dataDirectory) this.folders.push(folder);
    return PanelProcess.start({
      dataDirectory: folder,
      within: this.within('server'),
      env: {
        PATH: searchPath(),
        WEIR_HOST: `${this.#mgmt}.1`,
        WEIR_PUBLIC_HOST: SERVER,
        WEIR_AMNEZIAWG_BIN: (await amneziawgGo()) ?? '',
        WEIR_ENGINE_PRIVATE: 'block',
        ...more,
      },
    });
  }

  async #end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    // What the panel started outlives it.
    for (const namespace of this.#namespaces) {
      const pids = await command('ip', ['netns', 'pids', namespace]).catch(() => '');
      for (const pid of pids.split('\n').filter(Boolean)) {
        try {
          process.kill(Number(pid), 'SIGKILL');
        } catch {
          // It has ended meanwhile.
        }
      }
      await command('ip', ['netns', 'del', namespace]).catch(() => undefined);
    }
    await command('ip', ['link', 'del', `${this.#name}m`]).catch(() => undefined);
    for (const folder of this.folders) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

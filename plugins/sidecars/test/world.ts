// A panel whose inbounds of the protocol tuic are run by the tests' own program.
import { fileURLToPath } from 'node:url';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contribute, definePlugin, type Plugin } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';
import { until } from '../../../test/harness/until.js';
import { ProtocolPrograms } from '../../inbounds/contract.js';
import { userOf } from '../../engine/contract.js';
import {
  protocolProgram,
  RunningSidecars,
  type Sidecar,
  type SidecarInstance,
  Sidecars,
  type SidecarStatus,
  type SidecarUser,
  type UserCounters,
} from '../contract.js';

const PROGRAM = fileURLToPath(new URL('./fake-program.js', import.meta.url));
export type Mode = 'live' | 'files' | 'dies';
type Answer = [string, { up: number; down: number }][];

export interface Options {
  /** what the plan reads each time */
  readonly mode?: () => Mode;
  readonly sidecar?: Partial<Sidecar>;
  /** a change of it needs another process */
  readonly planEnv?: () => Record<string, string>;
  readonly without?: readonly string[];
  readonly plugins?: readonly Plugin[];
  readonly env?: Readonly<Record<string, string>>;
}

const rowsOf = (users: readonly SidecarUser[]) =>
  users.map(({ name, account }) => [name, JSON.stringify(account)]);

async function counters({ call, secret }: SidecarInstance): Promise<UserCounters[]> {
  const { body } = await call('api', '/stats', { headers: bearer(secret) });
  return (body as Answer).map(([name, { up, down }]) => ({
    ...(userOf(name) as never as UserCounters),
    up,
    down,
  }));
}
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** The sidecar of the tests; `program` names its file. */
export function fakeSidecar(
  program: string,
  mode: () => Mode,
  inboundPort: number,
  env: () => Record<string, string> = () => ({}),
): Sidecar {
  return {
    protocol: 'tuic',
    program: { name: 'fake-program', variable: 'TEST_FAKE_BIN', chosen: program, hint: 'write one' },
    plan: (inbounds) =>
      inbounds.map(({ id }) => ({
        name: `in-${id}`,
        inboundIds: [id],
        ports: ['api'],
        process: ({ ports, secret }, users) => ({
          env: env(),
          args: [String(inboundPort), String(ports['api']), secret, mode()],
          files: [{ name: 'users.json', text: JSON.stringify(rowsOf(users ?? [])) }],
        }),
      })),
    peek: counters,
    open: (instance) => {
      const { call, secret } = instance;
      const send = async (method: string, body: unknown): Promise<void> => {
        const { status } = await call('api', '/users', { method, body, headers: bearer(secret) });
        if (status !== 200) throw new Error(`it answers ${status}`);
      };
      return {
        ...(mode() === 'live' && {
          users: {
            replace: (users) => send('PUT', rowsOf(users)),
            change: (put, gone) =>
              send('POST', {
                put: rowsOf(put),
                gone: gone.map(({ inboundId, clientId }) => `i${inboundId}.c${clientId}`),
              }),
            list: async () => {
              const { body } = await call('api', '/users', { headers: bearer(secret) });
              return (body as [string, string][]).map(([name]) => ({ name }));
            },
          },
          countersEndWithUsers: true,
        }),
        read: () => counters(instance),
      };
    },
  };
}

const folderFor = (port: number): string => join(tmpdir(), `weir-fake-${process.pid}-${port}`);

/** A script that runs our program with the Node of the tests. */
async function scriptIn(folder: string): Promise<string> {
  const path = join(folder, 'fake-program');
  await mkdir(folder, { recursive: true });
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

export const pluginFor = (sidecar: () => Sidecar): Plugin =>
  definePlugin({
    name: 'fake-sidecar',
    version: '0.0.0',
    api: 1,
    about: 'A sidecar for tests.',
    uses: { running: RunningSidecars },
    contributes: ({ running }) => [
      contribute(Sidecars, sidecar()),
      contribute(ProtocolPrograms, protocolProgram('tuic', running)),
    ],
  });

export class World implements AsyncDisposable {
  readonly engine: FakeEngine;
  readonly clock: FakeClock;
  readonly panel: TestPanel;
  readonly port: number;
  readonly inboundId: number;

  readonly #sidecar: () => Sidecar;

  private constructor(
    place: Pick<World, 'engine' | 'clock' | 'panel' | 'port' | 'inboundId'>,
    sidecar: () => Sidecar,
  ) {
    this.engine = place.engine;
    this.clock = place.clock;
    this.panel = place.panel;
    this.port = place.port;
    this.inboundId = place.inboundId;
    this.#sidecar = sidecar;
  }

  static async open({
    mode = () => 'live',
    sidecar = {},
    without = [],
    planEnv,
    plugins = [],
    env = {},
  }: Options = {}): Promise<World> {
    const [engine, clock, port] = [new FakeEngine(), new FakeClock(), await freePort()];
    const script = await scriptIn(folderFor(port));
    const described = (): Sidecar => ({ ...fakeSidecar(script, mode, port, planEnv), ...sidecar });
    const plugin = pluginFor(described);
    const panel = await TestPanel.boot({ plugins: [engine.plugin, plugin, ...plugins], clock, without, env });
    const inboundId = await panel.addInbound({ protocol: 'tuic', port, settings: { server: {} } });
    return new World({ engine, clock, panel, port, inboundId }, described);
  }

  /** Stops the panel and opens another one with its data. */
  async reopened(sidecar: Partial<Sidecar> = {}): Promise<World> {
    const { engine, clock, port, inboundId } = this;
    await this.panel.stop();
    const { dataDirectory } = this.panel;
    const plugin = pluginFor(() => ({ ...this.#sidecar(), ...sidecar }));
    const panel = await TestPanel.boot({ plugins: [engine.plugin, plugin], clock, dataDirectory });
    return new World({ engine, clock, panel, port, inboundId }, this.#sidecar);
  }

  /** Resolves when what follows from a poll is done. */
  async poll(): Promise<void> {
    this.clock.tick(5000);
    await this.panel.kernel.settled();
  }

  async status(): Promise<SidecarStatus> {
    const [first] = await this.panel.get<SidecarStatus[]>('/panel/api/x/sidecars');
    if (!first) throw new Error('there is no instance');
    return first;
  }

  async state(): Promise<string> {
    const { state } = await this.panel.get<{ state: string }>(`/panel/api/inbounds/get/${this.inboundId}`);
    return state;
  }

  /** Resolves when the inbound's state matches. */
  async reaches(state: RegExp): Promise<void> {
    let last = '';
    await until(async () => state.test((last = await this.state())), `the state is ${state}`).catch(
      (error: Error) => {
        throw new Error(`${error.message}; it is ${last}`);
      },
    );
  }

  async call<T = unknown>(path: string, body?: unknown): Promise<T> {
    const { ports } = await this.status();
    const reply = await fetch(`http://127.0.0.1:${ports['api']}${path}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return (await reply.json()) as T;
  }

  move(clientId: number, up: number, down: number): Promise<unknown> {
    return this.call('/move', { name: `i${this.inboundId}.c${clientId}`, up, down });
  }

  async users(): Promise<string[]> {
    const { users } = await this.call<{ users: [string, string][] }>('/calls');
    return users.map(([name]) => name).sort();
  }

  usage(email: string): Promise<{ up: number; down: number; enable: boolean; expiryTime: number }> {
    return this.panel.get(`/panel/api/clients/traffic/${email}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.panel[Symbol.asyncDispose]();
    await rm(folderFor(this.port), { recursive: true, force: true });
  }
}

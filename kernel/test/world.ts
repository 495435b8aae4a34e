// A kernel with a test's own plugins, in a folder of its own, called over HTTP.
import { mkdtemp, rm } from 'node:fs/promises';
import { request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  definePlugin,
  message,
  type Plugin,
  route,
  SESSION_COOKIE,
  Sessions,
  type SessionsApi,
  shape,
  word,
} from '../index.js';
import { bootPanel } from '../../panel/boot.js';
import type { ConfigFile } from '../../panel/config-file.js';
import type { Kernel } from '../kernel.js';
import type { Clock } from '../../timing/clock.js';
import { databaseEnvironment, dropDatabase } from '../../test/harness/database.js';
import { PluginError } from '../plugin/error.js';
import type { Limits } from '../plugin/limits.js';

export interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: string;
  readonly msg: string;
}
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: {
    readonly success: boolean;
    readonly msg: string;
    readonly obj: unknown;
    readonly code?: string;
    readonly requestId?: string;
  };
}
export interface Call {
  readonly method?: string;
  /** sent as JSON */
  readonly body?: unknown;
  /** sent as it is */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}
export interface WorldOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: ConfigFile;
  readonly clock?: Clock;
  readonly limits?: Partial<Limits>;
  /** plugins may be left out; else that is a failure of the boot */
  readonly partial?: boolean;
  /** of a previous world, for restarts */
  readonly folder?: string;
}

/** Who logs in here is in; tests look at what becomes of it. */
export const people = definePlugin({
  name: 'people',
  version: '1.0.0',
  api: 1,
  about: 'Lets everybody in.',
  uses: { sessions: Sessions },
  routes: ({ sessions }) => [
    route({
      method: 'POST',
      path: '/login',
      auth: 'anyone',
      doc: 'Logs in.',
      body: shape({ name: word() }),
      reply: message(),
      handle: async ({ body, reply }) => {
        const { id, session } = await sessions.open(body.name);
        reply.cookie(SESSION_COOKIE, id, { maxAge: sessions.lifetime });
        return session.csrf;
      },
    }),
    route({
      method: 'POST',
      path: '/logout',
      auth: 'session',
      doc: 'Logs out.',
      reply: message(),
      handle: ({ who }) => sessions.close(who?.session ?? ''),
    }),
    route({
      method: 'GET',
      path: '/me',
      auth: 'session',
      doc: 'Says who asks.',
      reply: message(),
      handle: ({ who }) => who?.name,
    }),
  ],
});

/** A plugin with nothing but what the test says. */
export const bare = (name: string, rest: Partial<Parameters<typeof definePlugin>[0]> = {}): Plugin =>
  definePlugin({ name, version: '1.0.0', api: 1, about: 'For a test.', ...rest } as Parameters<
    typeof definePlugin
  >[0]);

export class World {
  readonly kernel: Kernel;
  readonly folder: string;
  readonly log: LogLine[];

  private constructor(kernel: Kernel, folder: string, log: LogLine[]) {
    this.kernel = kernel;
    this.folder = folder;
    this.log = log;
  }

  static async boot(plugins: readonly Plugin[], options: WorldOptions = {}): Promise<World> {
    const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'weir-kernel-')));
    const log: LogLine[] = [];
    try {
      const kernel = await bootPanel({
        plugins,
        env: {
          WEIR_DATA_DIR: folder,
          WEIR_PANEL_PORT: '0',
          WEIR_LOG_LEVEL: 'debug',
          ...(await databaseEnvironment(folder)),
          ...options.env,
        },
        write: (line) => void log.push(JSON.parse(line) as LogLine),
        selfChecks: true,
        ...(options.file && { file: options.file }),
        ...(options.clock && { clock: options.clock }),
        // A listener that hangs would keep the test's process alive for the minute that a panel allows it.
        limits: { event: 2_000, ...options.limits },
      });
      const failed = kernel.plugins().find(({ state }) => state === 'failed');
      if (failed && !options.partial) {
        await kernel.stop('a plugin is left out');
        throw new PluginError(failed.reason);
      }
      return new World(kernel, folder, log);
    } catch (error) {
      if (!options.folder) await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get port(): number {
    return this.kernel.listeners.panel.port;
  }
  /** What the plugin's faults were, in order. */
  faults(): string[] {
    return this.log
      .filter(({ msg }) => msg === 'plugin fault')
      .map(({ where, error }) => `${String(where)}: ${(error as Error).message}`);
  }

  call(path: string, options: Call = {}): Promise<Answer> {
    return call(this.port, path, options);
  }

  /** Cookie and token of somebody who has just logged in. */
  async login(
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ cookie: string; 'x-csrf-token': string }> {
    const answer = await this.call('/login', { body: { name: 'ada' }, headers });
    return {
      cookie: String(answer.headers['set-cookie']?.[0]).split(';')[0] ?? '',
      'x-csrf-token': answer.body.msg,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kernel.stop('end of test');
    await dropDatabase(this.folder);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** One request on a connection of its own; every header is sent as given. */
export function call(
  port: number,
  path: string,
  { method, body, raw, headers = {} }: Call = {},
): Promise<Answer> {
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const request = send(
      {
        host: '127.0.0.1',
        port,
        path,
        agent: false,
        method: method ?? (text === undefined ? 'GET' : 'POST'),
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(text !== undefined && { 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const whole = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: whole,
            body: (whole.startsWith('{') ? JSON.parse(whole) : {}) as Answer['body'],
          });
        });
      },
    );
    request.on('error', reject);
    request.end(text);
  });
}

/** Waits for what must come; a broken kernel alone meets the deadline. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`did not happen within 20 s: ${what}`);
    await sleep(5);
  }
}

/** A promise that the test settles. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

export type { SessionsApi };

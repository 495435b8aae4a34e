// Browsers at a panel that has a name, and authenticators.
import { request } from 'node:http';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { ADMIN, type PanelOptions, TestPanel } from '../../../test/harness/panel.js';
import { Authenticator, type CreateOptions, type GetOptions, type Wrong } from './authenticator.js';

export const KEYS = '/panel/api/x/passkeys';
export const ADMINS = '/panel/api/x/admins';
export const HOST = 'panel.example.com';
export const ORIGIN = `https://${HOST}`;
export const PASSWORD = 'a password of nobody else';

export interface Envelope<T> {
  readonly success: boolean;
  readonly msg: string;
  readonly code?: string;
  readonly obj: T;
}
export interface Reply<T> {
  readonly status: number;
  readonly body: Envelope<T>;
}
export interface Key {
  readonly id: number;
  readonly name: string;
  readonly origin: string;
  readonly lastUsedAt: number;
}
interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A browser: it keeps cookies, and says which page calls. */
export class Browser {
  readonly #port: number;
  readonly cookies = new Map<string, string>();
  host: string;
  origin: string;
  csrf = '';

  constructor({ url }: { readonly url: string }, { host = HOST, origin = ORIGIN } = {}) {
    this.#port = Number(new URL(url).port);
    this.host = host;
    this.origin = origin;
  }

  call<T = unknown>(path: string, { body, method, headers }: Sent = {}): Promise<Reply<T>> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const call = request(
        {
          host: '127.0.0.1',
          port: this.#port,
          path,
          method: method ?? (text === undefined ? 'GET' : 'POST'),
          headers: {
            host: this.host,
            ...(this.origin !== '' && { origin: this.origin }),
            cookie: [...this.cookies].map((pair) => pair.join('=')).join('; '),
            ...(this.csrf !== '' && { 'x-csrf-token': this.csrf }),
            ...(text !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
        },
        (response) => {
          for (const line of response.headers['set-cookie'] ?? []) this.#keep(line);
          let said = '';
          response.setEncoding('utf8').on('data', (part: string) => (said += part));
          response.on('error', reject).on('end', () => {
            const status = response.statusCode ?? 0;
            resolve({ status, body: (said.startsWith('{') ? JSON.parse(said) : {}) as Envelope<T> });
          });
        },
      );
      call.on('error', reject).end(text);
    });
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }

  /** With the password. */
  async logIn(
    username: string = ADMIN.username,
    password: string = ADMIN.password,
    code?: string,
  ): Promise<number> {
    const body = { username, password, twoFactorCode: code };
    const { status } = await this.call('/login', { body });
    this.csrf = (await this.call<string>('/csrf-token')).body.obj;
    return status;
  }

  /** The status of a call that needs a login. */
  async asks(path = `${KEYS}`): Promise<number> {
    return (await this.call(path)).status;
  }

  begin(password: string = ADMIN.password, twoFactorCode?: string): Promise<Reply<CreateOptions>> {
    return this.call(`${KEYS}/register/options`, { body: { password, twoFactorCode } });
  }
  finish(answer: unknown, name = 'phone'): Promise<Reply<Key>> {
    return this.call(`${KEYS}/register`, { body: { name, answer } });
  }

  /** Registers a passkey of the admin who is logged in. */
  async register(authenticator: Authenticator, wrong: Wrong = {}, password?: string): Promise<Reply<Key>> {
    const { status, body } = await this.begin(password);
    if (status !== 200) throw new Error(`${status} ${body.msg}`);
    return this.finish(authenticator.create(body.obj, wrong), `key ${authenticator.name.slice(0, 8)}`);
  }

  async options(): Promise<GetOptions> {
    const { status, body } = await this.call<GetOptions>(`${KEYS}/login/options`, { method: 'POST' });
    if (status !== 200) throw new Error(`${status} ${body.msg}`);
    return body.obj;
  }
  answer(answer: unknown): Promise<Reply<{ readonly username: string }>> {
    return this.call(`${KEYS}/login`, { body: { answer } });
  }

  /** Logs in with a passkey. */
  async enter(
    authenticator: Authenticator,
    wrong: Wrong = {},
  ): Promise<Reply<{ readonly username: string }>> {
    return this.answer(authenticator.get(await this.options(), wrong));
  }
}

export interface World {
  readonly panel: TestPanel;
  readonly clock: FakeClock;
  readonly browser: () => Browser;
  /** a browser in which the first admin is logged in */
  readonly admin: Browser;
  /** adds an admin, and returns its id and a browser in which it is logged in */
  readonly add: (username: string, role?: number) => Promise<{ id: number; browser: Browser }>;
  /** whether a line of the log has this text */
  readonly logged: (text: string) => boolean;
}

export async function boot(options: PanelOptions = {}): Promise<World> {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock();
  const panel = await TestPanel.boot({
    ...options,
    plugins: [new FakeEngine().plugin, ...(options.plugins ?? [])],
    clock,
  });
  const browser = () => new Browser(panel);
  const admin = browser();
  await admin.logIn();
  return {
    panel,
    clock,
    browser,
    admin,
    add: async (username, role = 0) => {
      const body = { username, password: PASSWORD, role };
      const { id } = await panel.get<{ id: number }>(ADMINS, { body });
      const own = browser();
      await own.logIn(username, PASSWORD);
      return { id, browser: own };
    },
    logged: (text) => panel.log.some((line) => line.includes(text)),
  };
}
export { Authenticator };

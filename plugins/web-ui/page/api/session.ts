// The session of the admin: its token for calls that change something, its end, and the calls that wait for a new login.
import { PanelFailure, Weir } from '../../../../sdk/index.js';

/**
 * unknown: not asked yet; out: no session when the page was opened; in: logged in; ended: it ended while the page was
 * used, and calls wait for a login
 */
export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'out' }
  | { readonly kind: 'in'; readonly name: string }
  | { readonly kind: 'ended'; readonly name: string };

/** Of the admin whose page it is; blank for nobody. */
export const nameIn = (state: SessionState): string => ('name' in state ? state.name : '');

export interface Login {
  readonly username: string;
  readonly password: string;
  readonly twoFactorCode?: string;
}

/** How long the panel may take for one reply. */
const ATTEMPT_MS = 60_000;
const CSRF_FAILED = 'KERNEL_CSRF';

interface Waiting {
  readonly proceed: () => void;
  readonly fail: (reason: Error) => void;
}
export class SessionAbandoned extends Error {}

export class Session {
  #state: SessionState = { kind: 'unknown' };
  #csrf: Promise<string> | undefined;
  #persons = 0;
  /** that the admin is giving himself */
  #newName: string | undefined;
  readonly #waiting = new Set<Waiting>();
  readonly #listeners = new Set<() => void>();
  readonly #send: typeof fetch;
  /** calls of the login itself, which wait for nothing */
  readonly #open: Weir;

  constructor({ url, send }: { url: string; send: typeof fetch }) {
    this.#send = send;
    this.#open = new Weir({ url, fetch: (input, init) => this.#once(input, init), retries: { most: 0 } });
  }

  readonly state = (): SessionState => this.#state;
  /** Another number for each admin who is logged in one after the other; a new name makes nobody another one. */
  readonly person = (): number => this.#persons;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  #enter(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  /** Asks the panel whether this browser is logged in. Rejects if there is no answer. */
  async check(): Promise<void> {
    try {
      this.#enterAs(await this.#nameOf());
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      if (this.#state.kind === 'in' || this.#state.kind === 'ended') this.#end();
      else this.#enter({ kind: 'out' });
    }
  }

  async #nameOf(): Promise<string> {
    const sessions = await this.#open.access.sessions.list();
    return sessions.find(({ current }) => current)?.username ?? '';
  }

  /** Somebody is logged in. Calls that waited for it are sent again, but never in the name of another admin. */
  #enterAs(name: string): void {
    const isSame = this.#isSame(name);
    if (!isSame) this.#persons++;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#enter({ kind: 'in', name });
    for (const { proceed, fail } of waiting)
      if (isSame) proceed();
      else fail(new SessionAbandoned('another admin is logged in'));
  }

  #isSame(name: string): boolean {
    const before = nameIn(this.#state);
    return before === '' || before === name || name === this.#newName;
  }

  /** Does what gives the admin another name. The panel ends the stream meanwhile, so the page may learn of it first. */
  async renaming<T>(name: string, run: () => Promise<T>): Promise<T> {
    this.#newName = name;
    try {
      const result = await run();
      this.#enterAs(name);
      return result;
    } finally {
      this.#newName = undefined;
    }
  }

  /** Whether a login needs a code of a second factor. */
  needsCode(): Promise<boolean> {
    return this.#open.access.twoFactorEnabled();
  }

  /** Logs in and sends the calls that waited for it again. */
  async logIn(login: Login): Promise<void> {
    this.#csrf = undefined;
    await this.#open.access.login({ body: login });
    this.#csrf = undefined;
    this.#enterAs(login.username);
  }

  /** Calls the panel as somebody who is not logged in. */
  anonymously<T>(call: (open: Weir) => Promise<T>): Promise<T> {
    return call(this.#open);
  }

  /** Logs in by another proof than a password; `prove` gives it to the panel and resolves with the name of the admin. */
  async logInBy(prove: (open: Weir) => Promise<string>): Promise<void> {
    this.#csrf = undefined;
    const name = await prove(this.#open);
    this.#csrf = undefined;
    this.#enterAs(name);
  }

  async logOut(): Promise<void> {
    await this.#open.access.logout();
    this.leave();
  }

  /** Gives up the calls that wait, and goes to the login. */
  leave(): void {
    this.#csrf = undefined;
    if (nameIn(this.#state) !== '') this.#persons++;
    this.#enter({ kind: 'out' });
    for (const { fail } of this.#waiting) fail(new SessionAbandoned('the session ended'));
    this.#waiting.clear();
  }

  /** As `fetch`, for calls of the page. Without a session it waits for a login and sends the call again. */
  readonly fetch: typeof fetch = async (input, init) => {
    for (;;) {
      const response = await this.#once(input, init);
      if (response.status !== 401) return response;
      await this.#login(init?.signal ?? undefined);
    }
  };

  /** Sends a call with the token of the session, and once again with a new token if another login of the same admin replaced it. */
  async #once(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const isChange = !/^(?:get|head)$/i.test(init.method ?? 'GET');
    for (let attempt = 1; ; attempt++) {
      const headers = new Headers(init.headers);
      if (isChange && !/\/(?:login|getTwoFactorEnable)$/.test(String(input)))
        headers.set('x-csrf-token', await this.#token());
      const limit = AbortSignal.timeout(ATTEMPT_MS);
      const response = await this.#send(input, {
        ...init,
        headers,
        credentials: 'same-origin',
        signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit,
      });
      if (response.status !== 403 || attempt > 1 || !(await isCsrfFailure(response))) return response;
      this.#csrf = undefined;
      await this.#requireSame();
    }
  }

  /** All windows share the cookie: what was typed in one is not sent as the admin who has logged in in another one. */
  async #requireSame(): Promise<void> {
    const name = await this.#nameOf().catch(() => nameIn(this.#state));
    if (this.#isSame(name)) return;
    this.#enterAs(name);
    throw new SessionAbandoned('another admin is logged in');
  }

  #token(): Promise<string> {
    const token = (this.#csrf ??= this.#open.access.csrfToken());
    token.catch(() => {
      if (this.#csrf === token) this.#csrf = undefined;
    });
    return token;
  }

  #end(): void {
    this.#csrf = undefined;
    if (this.#state.kind === 'in') this.#enter({ kind: 'ended', name: this.#state.name });
  }

  #login(signal: AbortSignal | undefined): Promise<void> {
    this.#end();
    if (this.#state.kind === 'out') return Promise.reject(new SessionAbandoned('there is no session'));
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { proceed: resolve, fail: reject };
      this.#waiting.add(waiting);
      signal?.addEventListener('abort', () => {
        this.#waiting.delete(waiting);
        reject(signal.reason as Error);
      });
    });
  }
}

const isUnauthorized = (error: unknown): boolean => error instanceof PanelFailure && error.status === 401;

async function isCsrfFailure(response: Response): Promise<boolean> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return (body as { code?: unknown } | undefined)?.code === CSRF_FAILED;
}

// A browser without a page: cookies by host, and redirects one after the other.
import type { Answer, CallOptions, TestPanel } from '../../../test/harness/panel.js';

export const AT = '/panel/api/x/openid';

export class Visitor {
  readonly #jars = new Map<string, Map<string, string>>();
  readonly panel: TestPanel;
  readonly base: string;

  constructor(panel: TestPanel, basePath = '') {
    this.panel = panel;
    this.base = `${panel.url}${basePath}`;
  }

  /** cookies of the panel */
  get cookies(): Map<string, string> {
    return this.#jar(this.base);
  }
  #jar(url: string): Map<string, string> {
    const { host } = new URL(url);
    const jar = this.#jars.get(host) ?? new Map<string, string>();
    this.#jars.set(host, jar);
    return jar;
  }

  /** Loses the cookies of another host: nobody is logged in there any more. */
  forget(url: string): void {
    this.#jar(url).clear();
  }

  /** One request, whose cookies are taken in. */
  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = this.#jar(url);
    const headers = new Headers(init.headers);
    headers.set('cookie', [...jar].map((pair) => pair.join('=')).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const isGone = /expires=Thu, 01 Jan 1970|max-age=0/i.test(line);
      if (isGone) jar.delete(name);
      else jar.set(name, decodeURIComponent(value));
    }
    return response;
  }

  /** Calls the panel with the cookies and, where there is a session, its token. */
  async call<T>(path: string, { body, headers, method }: CallOptions = {}): Promise<Answer<T>> {
    const csrf = this.cookies.has('weir_session')
      ? ((await (await this.fetch(`${this.base}/csrf-token`)).json()) as { obj: string }).obj
      : '';
    const response = await this.fetch(`${this.base}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        'x-csrf-token': csrf,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  }

  async passwordLogin(username: string, password: string): Promise<void> {
    const { status, text } = await this.call('/login', { body: { username, password } });
    if (status !== 200) throw new Error(text);
  }

  /** Presses the button, logs in at the provider, and stops before the browser comes back: the address of the callback. */
  async toCallback(begin: { path?: string; body?: object } = {}): Promise<string> {
    const { path = `${AT}/login`, body = {} } = begin;
    const { body: answer, text } = await this.call<{ url: string } | null>(path, { body });
    if (!answer.obj) throw new Error(text);
    return this.atProvider(answer.obj.url);
  }

  async atProvider(start: string): Promise<string> {
    let url = start;
    for (let hops = 0; hops < 10; hops++) {
      const response = await this.fetch(url);
      const location = response.headers.get('location');
      if (!location) throw new Error(`${url}: ${response.status} ${await response.text()}`);
      url = new URL(location, url).href;
      if (url.startsWith(`${this.base}/`)) return url;
    }
    throw new Error(`too many redirects, the last one to ${url}`);
  }

  /** Comes back: where the panel leads to, as it stands in `Location`. */
  async comeBack(callback: string): Promise<string> {
    const response = await this.fetch(callback);
    if (response.status !== 303) throw new Error(`${response.status} ${await response.text()}`);
    return response.headers.get('location') ?? '';
  }

  /** The whole login. */
  async logIn(returnTo?: string): Promise<string> {
    return this.comeBack(await this.toCallback({ body: returnTo === undefined ? {} : { returnTo } }));
  }

  async link(password: string): Promise<string> {
    return this.comeBack(await this.toCallback({ path: `${AT}/link`, body: { password } }));
  }

  /** Name of the admin of the session; undefined without one. */
  async who(): Promise<string | undefined> {
    const { status, body } = await this.call<{ username: string; current: boolean }[]>(
      '/panel/api/access/sessions',
    );
    return status === 200 ? body.obj.find(({ current }) => current)?.username : undefined;
  }
}

/** The code of what went wrong, in an address of the page. */
export const troubleIn = (location: string): string =>
  new URL(location, 'http://panel/panel/api/x/openid/callback').searchParams.get('trouble') ?? '';

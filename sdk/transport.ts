// How calls reach a panel: with an API token, or with a session as a browser has it.

export interface TransportOptions {
  /** of the panel, base path included */
  readonly url: string;
  /** an API token; without one, `signIn` opens a session */
  readonly token?: string;
  readonly fetch?: typeof fetch;
}

export interface Issue {
  /** the field at fault, dotted, as it was sent */
  readonly path: string;
  readonly message: string;
}

/** The panel refused or failed; `code` is stable, the message is for people. */
export class PanelFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly issues: readonly Issue[];
  /** find this id in the panel's log */
  readonly requestId: string;

  constructor(
    status: number,
    {
      msg = '',
      code = '',
      requestId = '',
      obj,
    }: { msg?: string; code?: string; requestId?: string; obj?: { issues?: readonly Issue[] } | null },
  ) {
    super(msg || `the panel answered ${status}`);
    this.name = 'PanelFailure';
    this.status = status;
    this.code = code;
    this.issues = obj?.issues ?? [];
    this.requestId = requestId;
  }
}

/** One endpoint, as the generated client names it. */
export interface Endpoint {
  readonly method: string;
  /** with `{parameters}` */
  readonly path: string;
  /** what a call resolves with: `obj`, `msg`, the whole body, or the response itself */
  readonly gives: 'obj' | 'msg' | 'body' | 'response';
}
type Input = Readonly<Record<string, unknown>>;
type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export class Transport {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #fetch: typeof fetch;
  /** Stored where fetch stores no cookies; a browser stores them itself and hides them. */
  #cookie: string | undefined;
  #csrf: string | undefined;

  constructor({ url, token, fetch: ownFetch }: TransportOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
    // Called as a method of ours, a browser's fetch would refuse.
    this.#fetch = ownFetch ?? ((input, init) => fetch(input, init));
  }

  /** Opens a session, for callers without an API token. */
  async signIn(login: {
    readonly username: string;
    readonly password: string;
    readonly twoFactorCode?: string;
  }): Promise<void> {
    const response = await this.#send('POST', '/login', login);
    await read(response);
    const pairs =
      response.headers
        .getSetCookie?.()
        .map((line) => line.split(';')[0] ?? '')
        .filter((pair) => !pair.endsWith('=')) ?? [];
    if (pairs.length > 0) this.#cookie = pairs.join('; ');
    this.#csrf = (await read(await this.#send('GET', '/csrf-token'))).obj as string;
  }

  /** Rejects with PanelFailure if the panel refuses or fails. */
  protected async call<T>({ method, path, gives }: Endpoint, input: Input = {}): Promise<T> {
    const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
      encodeURIComponent(String(input[name])),
    );
    const response = await this.#send(
      method,
      `${filled}${queryOf(input['query'] as Query | undefined)}`,
      input['body'],
    );
    if (gives === 'response') return (response.ok ? response : await read(response)) as T;
    const body = await read(response);
    return (gives === 'body' ? body : body[gives]) as T;
  }

  #send(method: string, path: string, body?: unknown): Promise<Response> {
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      ...(this.#cookie !== undefined && { cookie: this.#cookie }),
      ...(this.#csrf !== undefined && method !== 'GET' && { 'x-csrf-token': this.#csrf }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    return this.#fetch(this.#url + path, {
      method,
      headers,
      credentials: this.#token === undefined ? 'include' : 'omit',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
}

function queryOf(query: Query = {}): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string | number | boolean] => entry[1] !== undefined && entry[1] !== null,
  );
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

type Body = { readonly success?: boolean; readonly msg?: string; readonly obj?: unknown };
async function read(response: Response): Promise<Body> {
  const text = await response.text();
  let body: Body;
  try {
    body = JSON.parse(text) as Body;
  } catch {
    throw new PanelFailure(response.status, {
      msg: `the panel answered ${response.status} and no JSON: ${text.slice(0, 100)}`,
    });
  }
  if (!response.ok)
    throw new PanelFailure(response.status, body as ConstructorParameters<typeof PanelFailure>[1]);
  return body;
}

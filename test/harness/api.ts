// Calls to a panel, wherever it runs: logged in as its admin, with cookie and CSRF token as a browser would send them.
import { freePort } from './free-port.js';

export { freePort };

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** the envelope */
  readonly body: {
    readonly success: boolean;
    readonly msg: string;
    readonly obj: T;
    readonly code?: string;
    readonly requestId?: string;
  };
}
export interface CallOptions {
  readonly method?: string;
  readonly body?: unknown;
  /** sent as it is, with the content type of `headers` */
  readonly rawBody?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** neither cookie nor token */
  readonly anonymous?: boolean;
}

/** One line of a panel's log. */
export type Told = Readonly<Record<string, unknown>> & {
  readonly msg: string;
  readonly error?: { readonly message: string };
};

export const ADMIN = { username: 'admin', password: 'correct horse battery' } as const;

/** Boot settings of a panel on its own: free ports, loopback only, the admin that `login` knows. */
export const environmentOf = (dataDirectory: string): Record<string, string> => ({
  WEIR_DATA_DIR: dataDirectory,
  WEIR_PANEL_PORT: '0',
  WEIR_SUB_PORT: '0',
  WEIR_SUB_HOST: '127.0.0.1',
  WEIR_ADMIN_USERNAME: ADMIN.username,
  WEIR_ADMIN_PASSWORD: ADMIN.password,
  WEIR_BASE_PATH: '/',
  WEIR_LOG_LEVEL: 'debug',
  // Root's tests must not make interfaces on this machine.
  WEIR_AMNEZIAWG_BIN: '/nonexistent/amneziawg-go',
});

/** One object of JSON: a reply of lines has one in each. */
const isJson = ({ headers }: Response, text: string): boolean =>
  text.startsWith('{') && headers.get('content-type') !== 'application/x-ndjson';

/** Codes of a connection that the other side has closed. */
const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

export abstract class PanelApi {
  cookie = '';
  csrf = '';

  /** of the panel, without a slash at its end */
  abstract get url(): string;

  async login(): Promise<void> {
    const answer = await this.call('/login', { body: ADMIN, anonymous: true });
    this.cookie =
      answer.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .find((pair) => pair?.startsWith('weir_session=')) ?? '';
    this.csrf = (await this.call<string>('/csrf-token')).body.obj;
  }

  /** Node's servers close a connection after five seconds without a request, perhaps at the moment at which it is used again. */
  async #fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (error) {
      const { code = '' } = ((error as Error).cause ?? {}) as { readonly code?: string };
      if (!CLOSED.includes(code)) throw error;
      return await fetch(url, init);
    }
  }

  /** POST when there is a body, else GET, unless `method` says otherwise; as the admin unless `anonymous`. */
  async call<T = unknown>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const { body, rawBody, anonymous = false } = options;
    const method = options.method ?? (body === undefined && rawBody === undefined ? 'GET' : 'POST');
    const response = await this.#fetch(this.url + path, {
      method,
      headers: {
        ...(anonymous ? {} : { cookie: this.cookie, 'x-csrf-token': this.csrf }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(rawBody !== undefined && { body: rawBody as BodyInit }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson(response, text)
        ? (JSON.parse(text) as Answer<T>['body'])
        : { success: false, msg: text, obj: undefined as T },
    };
  }

  /** The `obj` of a call that must succeed. Why one failed within is in the error, as the panel's log has it. */
  async get<T>(path: string, options: CallOptions = {}): Promise<T> {
    const answer = await this.call<T>(path, options);
    if (answer.body.success) return answer.body.obj;
    const { requestId = '' } = answer.body;
    const why = this.told().find((line) => requestId !== '' && line['requestId'] === requestId && line.error);
    throw new Error(
      `${path}: ${answer.status} ${answer.text}${why ? `; the log says: ${why.error?.message}` : ''}`,
    );
  }

  /** What plugins did wrong so far, each as `plugin, where: what`. */
  get faults(): readonly string[] {
    return this.told().flatMap(({ msg, plugin, where, error }) =>
      msg === 'plugin fault' ? [`${String(plugin)}, ${String(where)}: ${error?.message}`] : [],
    );
  }

  /** The lines of the log. */
  protected abstract told(): readonly Told[];

  /** A vless inbound over tcp on a port of its own, unless told otherwise; resolves with its id. */
  async addInbound(fields: Record<string, unknown> = {}): Promise<number> {
    const { id } = await this.get<{ id: number }>('/panel/api/inbounds/add', {
      body: { protocol: 'vless', listen: '127.0.0.1', port: await freePort(), remark: 'test', ...fields },
    });
    return id;
  }

  async addClient(
    email: string,
    inboundIds: readonly number[],
    fields: Record<string, unknown> = {},
  ): Promise<Record<string, never> & { id: number; subId: string; uuid: string; password: string }> {
    await this.get('/panel/api/clients/add', { body: { client: { email, ...fields }, inboundIds } });
    return this.get(`/panel/api/clients/get/${encodeURIComponent(email)}`);
  }
}

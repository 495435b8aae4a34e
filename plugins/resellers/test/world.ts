// A panel with resellers, each with an admin of his own.
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import type { Answer, PanelApi } from '../../../test/harness/api.js';

export const GIB = 2 ** 30;
export const DAY = 86_400_000;
export const OWN = '/panel/api/x/reseller';
export const RESELLERS = '/panel/api/x/resellers';
const PASSWORD = 'a password of nobody else';

export interface OwnClient {
  readonly id: number;
  readonly email: string;
  readonly enable: boolean;
  readonly totalGB: number;
  readonly expiryTime: number;
  readonly up: number;
  readonly inboundIds: readonly number[];
  readonly links: readonly string[];
  readonly subscription: string;
}
export interface Figures {
  readonly clients: number;
  readonly givenBytes: number;
}

/** Calls as somebody else than the admin of the panel. */
export class Caller {
  readonly headers: Readonly<Record<string, string>>;
  readonly #panel: PanelApi;

  constructor(panel: PanelApi, headers: Readonly<Record<string, string>>) {
    this.#panel = panel;
    this.headers = headers;
  }

  call<T = unknown>(path: string, body?: object, headers: object = {}): Promise<Answer<T>> {
    const options = { anonymous: true, headers: { ...this.headers, ...headers } };
    return this.#panel.call<T>(path, body === undefined ? options : { ...options, body });
  }
  /** The `obj` of a call that must succeed. */
  async get<T>(path: string, body?: object): Promise<T> {
    const answer = await this.call<T>(path, body);
    if (!answer.body.success) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body.obj;
  }
  /** Status, and code of the error if there is one. */
  async told(path: string, body?: object): Promise<string> {
    const { status, body: reply } = await this.call(path, body);
    return reply.code === undefined ? String(status) : `${status} ${reply.code.replace('RESELLERS_', '')}`;
  }
}

/** One who sells. */
export class Seller extends Caller {
  readonly id: number;
  readonly admin: number;

  constructor(
    panel: PanelApi,
    headers: Readonly<Record<string, string>>,
    ids: { id: number; admin: number },
  ) {
    super(panel, headers);
    this.id = ids.id;
    this.admin = ids.admin;
  }

  add(email: string, fields: object): Promise<OwnClient> {
    return this.get(`${OWN}/clients`, { email, ...fields });
  }
  client(id: number): Promise<OwnClient> {
    return this.get(`${OWN}/clients/${id}`);
  }
  change(id: number, fields: object): Promise<string> {
    return this.told(`${OWN}/clients/${id}`, fields);
  }
  reset(id: number): Promise<string> {
    return this.told(`${OWN}/clients/${id}/reset`, {});
  }
  delete(id: number): Promise<string> {
    return this.told(`${OWN}/clients/${id}/del`, {});
  }
  figures(): Promise<Figures> {
    return this.get(`${OWN}/me`);
  }
  async given(): Promise<number> {
    return (await this.figures()).givenBytes / GIB;
  }
  async emails(query = ''): Promise<string[]> {
    const { items } = await this.get<{ items: OwnClient[] }>(`${OWN}/clients?${query || 'sort=email'}`);
    return items.map(({ email }) => email);
  }
}

export async function login(panel: PanelApi, username: string): Promise<Record<string, string>> {
  const answer = await panel.call('/login', { body: { username, password: PASSWORD }, anonymous: true });
  const cookie =
    answer.headers
      .getSetCookie()
      .map((line) => line.split(';')[0] ?? '')
      .find((pair) => pair.startsWith('weir_session=')) ?? '';
  const { body } = await panel.call<string>('/csrf-token', { anonymous: true, headers: { cookie } });
  return { cookie, 'x-csrf-token': body.obj };
}

export async function sellingRole(panel: PanelApi): Promise<number> {
  const roles = await panel.get<{ id: number; kind: string }[]>('/panel/api/x/roles');
  const known = roles.find(({ kind }) => kind === 'reseller');
  if (known) return known.id;
  const body = { name: 'sells', kind: 'reseller' };
  return (await panel.get<{ id: number }>('/panel/api/x/roles', { body })).id;
}

export async function addSeller(panel: PanelApi, username: string, fields: object): Promise<Seller> {
  const role = await sellingRole(panel);
  const admin = await panel.get<{ id: number }>('/panel/api/x/admins', {
    body: { username, password: PASSWORD, role },
  });
  const { id } = await panel.get<{ id: number }>(RESELLERS, { body: { admin: admin.id, ...fields } });
  return new Seller(panel, await login(panel, username), { id, admin: admin.id });
}

export interface World {
  readonly panel: TestPanel;
  readonly engine: FakeEngine;
  readonly clock: FakeClock;
  readonly inbound: number;
  /** Moves bytes of a client, and waits until they are counted. */
  use(client: number, gib: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
export async function boot(dataDirectory?: string): Promise<World> {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({
    plugins: [engine.plugin],
    clock,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  await panel.get('/panel/api/setting/update', { body: { sessionMaxAge: 525_600 } });
  const inbound = await panel.addInbound({ remark: 'allowed' });
  return {
    panel,
    engine,
    clock,
    inbound,
    use: async (client, gib) => {
      engine.move(inbound, client, 0, gib * GIB);
      for (let polls = 0; polls < 2; polls++) {
        clock.tick(5000);
        await panel.kernel.settled();
      }
    },
    [Symbol.asyncDispose]: () => panel[Symbol.asyncDispose](),
  };
}

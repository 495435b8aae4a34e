// A panel with admins that have roles, and what they and their API tokens may do.
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { type Answer, type CallOptions, type PanelOptions, TestPanel } from '../../../test/harness/panel.js';

export const PASSWORD = 'a password of nobody else';
export const ROLES = '/panel/api/x/roles';
export const ADMINS = '/panel/api/x/admins';
export const TOKENS = '/panel/api/setting/apiTokens';
export const LIST = '/panel/api/inbounds/list';

export const boot = (options: PanelOptions = {}): Promise<TestPanel> =>
  TestPanel.boot({ ...options, plugins: [new FakeEngine().plugin, ...(options.plugins ?? [])] });

/** Somebody else than the admin of the panel. */
export interface Caller {
  readonly id: number;
  readonly role: number;
  readonly cookie: string;
  readonly csrf: string;
  call<T = unknown>(path: string, options?: CallOptions): Promise<Answer<T>>;
}

/** A caller with these headers, whose calls need no login of the panel. */
const as =
  (panel: TestPanel, headers: Readonly<Record<string, string>>): Caller['call'] =>
  (path, options = {}) =>
    panel.call(path, { ...options, anonymous: true, headers: { ...headers, ...options.headers } });

export const asToken = (panel: TestPanel, token: string): Caller['call'] =>
  as(panel, { authorization: `Bearer ${token}` });

export async function addRole(
  panel: TestPanel,
  name: string,
  permissions: readonly string[],
): Promise<number> {
  return (await panel.get<{ id: number }>(ROLES, { body: { name, permissions } })).id;
}

export async function login(panel: TestPanel, username: string, password = PASSWORD) {
  const answer = await panel.call('/login', { body: { username, password }, anonymous: true });
  const cookie =
    answer.headers
      .getSetCookie()
      .map((line) => line.split(';')[0] ?? '')
      .find((pair) => pair.startsWith('weir_session=')) ?? '';
  const csrf = (await panel.call<string>('/csrf-token', { anonymous: true, headers: { cookie } })).body.obj;
  return { status: answer.status, cookie, csrf, call: as(panel, { cookie, 'x-csrf-token': csrf }) };
}

/** An admin who is logged in, with a role of these permissions, or a full one without. */
export async function addAdmin(
  panel: TestPanel,
  username: string,
  permissions?: readonly string[],
): Promise<Caller> {
  const role = permissions ? await addRole(panel, `role of ${username}`, permissions) : 0;
  const { id } = await panel.get<{ id: number }>(ADMINS, { body: { username, password: PASSWORD, role } });
  return { id, role, ...(await login(panel, username)) };
}

export const makeToken = async (panel: TestPanel, body: object): Promise<Caller['call']> =>
  asToken(panel, (await panel.get<{ token: string }>(`${TOKENS}/create`, { body })).token);

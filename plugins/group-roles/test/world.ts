// A panel with clients in groups, and admins whose role is about some of these groups.
import type { PanelApi } from '../../../test/harness/api.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import type { PanelOptions } from '../../../test/harness/panel.js';
import { Caller, login } from '../../resellers/test/world.js';

export const OWN = '/panel/api/x/group-clients';
export const ROLES = '/panel/api/x/roles';
export const ADMINS = '/panel/api/x/admins';
export const CLIENTS = '/panel/api/clients';
export const GIB = 2 ** 30;
export const DAY = 86_400_000;
const PASSWORD = 'a password of nobody else';

export interface GroupClient {
  readonly id: number;
  readonly email: string;
  readonly group: string;
  readonly enable: boolean;
  readonly totalGB: number;
  readonly expiryTime: number;
  readonly up: number;
  readonly comment: string;
  readonly inboundIds: readonly number[];
  readonly links: readonly string[];
  readonly subscription: string;
}
interface Page {
  readonly items: readonly GroupClient[];
  readonly filtered: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** An admin of groups. */
export class GroupAdmin extends Caller {
  readonly role: number;
  readonly admin: number;

  constructor(
    panel: PanelApi,
    headers: Readonly<Record<string, string>>,
    ids: { role: number; admin: number },
  ) {
    super(panel, headers);
    this.role = ids.role;
    this.admin = ids.admin;
  }

  page(query = 'sort=email'): Promise<Page> {
    return this.get(`${OWN}/clients?${query}`);
  }
  async emails(query?: string): Promise<string[]> {
    return (await this.page(query)).items.map(({ email }) => email);
  }
  client(id: number): Promise<GroupClient> {
    return this.get(`${OWN}/clients/${id}`);
  }
  add(body: object): Promise<string> {
    return this.told(`${OWN}/clients`, body);
  }
  change(id: number, fields: object): Promise<string> {
    return this.told(`${OWN}/clients/${id}`, fields);
  }
  /** What is done with a client by a call of its own: reset, renew, del. */
  act(id: number, act: string, body: object = {}): Promise<string> {
    return this.told(`${OWN}/clients/${id}/${act}`, body);
  }
}

export async function addGroupAdmin(
  panel: PanelApi,
  username: string,
  groups: readonly string[],
  level: 'read' | 'write' = 'write',
): Promise<GroupAdmin> {
  const name = `role of ${username}`;
  const role = await panel.get<{ id: number }>(ROLES, { body: { name, kind: 'groups', groups, level } });
  const body = { username, password: PASSWORD, role: role.id };
  const admin = await panel.get<{ id: number }>(ADMINS, { body });
  return new GroupAdmin(panel, await login(panel, username), { role: role.id, admin: admin.id });
}

export interface World {
  readonly panel: TestPanel;
  readonly engine: FakeEngine;
  readonly clock: FakeClock;
  readonly inbound: number;
  /** Adds a client; resolves with its id. */
  add(email: string, group: string, fields?: object): Promise<number>;
  /** Moves bytes of a client, and waits until they are counted. */
  use(client: number, bytes: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
export async function boot({ plugins = [], ...options }: PanelOptions = {}): Promise<World> {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ ...options, plugins: [engine.plugin, ...plugins], clock });
  await panel.get('/panel/api/setting/update', { body: { sessionMaxAge: 525_600 } });
  const inbound = await panel.addInbound({ remark: 'shared' });
  return {
    panel,
    engine,
    clock,
    inbound,
    add: async (email, group, fields = {}) =>
      (await panel.addClient(email, [inbound], { group, ...fields })).id,
    use: async (client, bytes) => {
      engine.move(inbound, client, 0, bytes);
      for (let polls = 0; polls < 2; polls++) {
        clock.tick(5000);
        await panel.kernel.settled();
      }
    },
    [Symbol.asyncDispose]: () => panel[Symbol.asyncDispose](),
  };
}

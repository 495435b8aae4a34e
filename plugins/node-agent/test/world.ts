// A panel without a core that a central manages by calls of the test.
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

export const CENTRAL = 'c0000000-0000-4000-8000-000000000001';
export const OTHER = 'c0000000-0000-4000-8000-000000000002';
const NODE = '/panel/api/x/node';

export interface Result {
  readonly kind: string;
  readonly id: number;
  readonly version: number;
  readonly ok: boolean;
  readonly reason?: string;
}
export interface Epoch {
  readonly epoch: string;
  readonly seq: number;
  readonly isCurrent: boolean;
  readonly more: boolean;
  readonly users: {
    readonly clientId: number;
    readonly inboundId: number;
    readonly up: number;
    readonly down: number;
  }[];
}
export interface ToldRecord {
  readonly kind: string;
  readonly id: number;
  readonly version: number;
  readonly state: string;
  readonly refused?: string;
  readonly contestedBy?: string;
}
export interface Client {
  readonly id: number;
  readonly email: string;
  readonly uuid: string;
  readonly enable: boolean;
  readonly totalGB: number;
  readonly expiryTime: number;
  readonly comment: string;
  readonly inboundIds: number[];
  readonly traffic: { readonly up: number; readonly down: number };
}
type Value = Readonly<Record<string, unknown>>;

/** Below those that panels listen on (from 32,768 on Linux). */
let nextPort = 21_000 + (process.pid % 50) * 200;
export const inbound = (id: number, version: number, value: Value | null = {}) => ({
  kind: 'inbound',
  id,
  version,
  value: value && {
    protocol: 'vless',
    port: nextPort++,
    listen: '127.0.0.1',
    tag: `central-${id}`,
    ...value,
  },
});
export const client = (
  id: number,
  version: number,
  value: Value | null = {},
  inboundIds: readonly number[] = [7],
) => ({
  kind: 'client',
  id,
  version,
  value: value && { email: `c${id}`, uuid: uuidOf(id), subId: `sub-${id}`, ...value },
  inboundIds,
});
export const uuidOf = (id: number): string => `aaaaaaaa-0000-4000-8000-${String(id).padStart(12, '0')}`;

export const wire = (panel: TestPanel | Pick<TestPanel, 'get'>, central = CENTRAL) => ({
  apply: async (...changes: readonly object[]) =>
    (await panel.get<{ results: Result[] }>(`${NODE}/apply`, { body: { central, changes } })).results,
  usage: async (epoch = '', after = 0) =>
    (await panel.get<{ epochs: Epoch[] }>(`${NODE}/usage?central=${central}&epoch=${epoch}&after=${after}`))
      .epochs,
  ack: (epoch: string, seq: number) => panel.get(`${NODE}/usage/ack`, { body: { central, epoch, seq } }),
  elsewhere: (...users: readonly object[]) =>
    panel.get<{ taken: number; skipped: number[] }>(`${NODE}/elsewhere`, { body: { central, users } }),
  digest: async () => (await panel.get<{ digest: string }>(`${NODE}/state?central=${central}`)).digest,
  buckets: async () =>
    (await panel.get<{ digests: string[] }>(`${NODE}/state/buckets?central=${central}`)).digests,
  records: async (query = '') => {
    const all: ToldRecord[] = [];
    for (let after = ''; ; ) {
      const page = await panel.get<{ records: ToldRecord[]; next: string }>(
        `${NODE}/state/records?central=${central}&after=${after}${query}`,
      );
      all.push(...page.records);
      if (page.next === '') return all;
      after = page.next;
    }
  },
});

export async function openWorld(options: Parameters<typeof TestPanel.boot>[0] = {}) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({
    clock,
    ...options,
    plugins: [engine.plugin, ...(options.plugins ?? [])],
  });
  const settle = async (ms: number) => {
    clock.tick(ms);
    await panel.kernel.settled();
  };
  return {
    engine,
    clock,
    panel,
    settle,
    poll: () => settle(5000),
    ...wire(panel),
    client: (email: string) => panel.get<Client>(`/panel/api/clients/get/${email}`),
    emails: async () =>
      (await panel.get<Client[]>('/panel/api/clients/list')).map(({ email }) => email).sort(),
    inbounds: () =>
      panel.get<{ id: number; tag: string; port: number; remark: string; enable: boolean }[]>(
        '/panel/api/inbounds/list',
      ),
    dataDirectory: panel.dataDirectory,
  };
}

/** A central with one inbound and two clients; `move` moves bytes of a client by its id at the central. */
export async function openManaged(options: Parameters<typeof openWorld>[0] = {}) {
  const world = await openWorld(options);
  const made = await world.apply(inbound(7, 1), client(1, 1), client(2, 1));
  if (made.some(({ ok }) => !ok)) throw new Error(`what a central wants is refused: ${JSON.stringify(made)}`);
  const [here] = (await world.inbounds()).filter(({ tag }) => tag === 'central-7');
  return {
    ...world,
    move: async (id: number, up: number, down: number) => {
      world.engine.move(here?.id ?? 0, (await world.client(`c${id}`)).id, up, down);
      await world.poll();
    },
  };
}

// A panel whose core accepts the connections that a test names, without a core.
import { type Database, definePlugin, type Plugin, provide, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { type OpenConnection, OpenConnections } from '../../connection-cut/contract.js';
import { type AcceptedPeer, CoreAccess, type UserRef } from '../../engine/contract.js';
import { addressLimitExceeded } from '../contract.js';

interface Exceeded {
  readonly email: string;
  readonly kept: readonly string[];
  readonly over: readonly { readonly ip: string }[];
}

export class World {
  readonly clock: FakeClock;
  readonly engine = new FakeEngine();
  /** connections that are open and can be closed one by one */
  open: OpenConnection[] = [];
  readonly closed: OpenConnection[] = [];
  readonly exceeded: Exceeded[] = [];
  panel!: TestPanel;
  db!: Database;
  inboundId = 0;
  #listener: (batch: readonly AcceptedPeer[]) => void = () => undefined;
  #port = 1000;

  constructor(clock: FakeClock) {
    this.clock = clock;
  }

  static async boot(
    options: { dataDirectory?: string; clock?: FakeClock; plugins?: readonly Plugin[] } = {},
  ): Promise<World> {
    const world = new World(options.clock ?? new FakeClock());
    world.panel = await TestPanel.boot({
      plugins: [...world.#plugins(), ...(options.plugins ?? [])],
      clock: world.clock,
      ...(options.dataDirectory !== undefined && { dataDirectory: options.dataDirectory }),
    });
    if (options.dataDirectory === undefined) world.inboundId = await world.panel.addInbound();
    return world;
  }

  #plugins(): Plugin[] {
    const { plugin } = this.engine;
    return [
      {
        ...plugin,
        provides: (scope) => [
          ...plugin.provides(scope),
          provide(CoreAccess, {
            admits: () => true,
            follow: (listener) => {
              this.#listener = listener;
              return () => undefined;
            },
            catchUp: async () => undefined,
          }),
        ],
      },
      definePlugin({
        name: 'connection-cut',
        version: '0.0.0',
        api: 1,
        about: 'Connections that a test names.',
        provides: () => [
          provide(OpenConnections, {
            of: async (users) =>
              this.open.filter(({ inboundId, clientId }) =>
                users.some((user) => user.inboundId === inboundId && user.clientId === clientId),
              ),
            close: async (connections) => {
              this.closed.push(...connections);
              this.open = this.open.filter(({ key }) => connections.every((gone) => gone.key !== key));
              return connections.length;
            },
          }),
        ],
      }),
      definePlugin({
        name: 'listener',
        version: '0.0.0',
        api: 1,
        about: 'Receives events.',
        taps: () => [tap(addressLimitExceeded, ({ clients }) => void this.exceeded.push(...clients))],
        start: ({ db }) => {
          this.db = db;
        },
      }),
    ];
  }

  /** The core accepts a connection of this user; all that follows from it is done when this resolves. */
  async connect(user: UserRef, address: string, at?: number): Promise<OpenConnection> {
    const port = (this.#port += 1);
    const connection = { ...user, address, key: `${address}:${port}` };
    this.open.push(connection);
    this.#listener([{ ...user, address, port, ...(at !== undefined && { at }) }]);
    await this.settled();
    return connection;
  }
  /** The client ends what it has open from this address. */
  leave(address: string): void {
    this.open = this.open.filter((connection) => connection.address !== address);
  }

  /** Lets time pass with its jobs. */
  async pass(ms: number): Promise<void> {
    this.clock.tick(ms);
    await this.settled();
  }
  async settled(): Promise<void> {
    // The check runs behind a few awaited calls, and then sends an event.
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    await this.panel.kernel.settled();
  }

  post<T>(path: string, body?: unknown): Promise<T> {
    return this.panel.get<T>(`/panel/api/${path}`, { method: 'POST', ...(body !== undefined && { body }) });
  }
  async seen(email: string): Promise<string[]> {
    return (await this.post<{ ip: string }[]>(`clients/ips/${email}`)).map(({ ip }) => ip);
  }
  async client(email: string, fields: Record<string, unknown> = {}): Promise<UserRef> {
    const { id } = await this.panel.addClient(email, [this.inboundId], fields);
    return { inboundId: this.inboundId, clientId: id };
  }
  settings(values: Record<string, unknown>): Promise<unknown> {
    return this.panel.get('/panel/api/setting/update', { body: values });
  }
}

// The sidecar: one amneziawg-go for each inbound, with an interface of its own.
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { KeyedQueue, type ListenersApi, type Log } from '../../kernel/index.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import type { UserReachApi } from '../engine/contract.js';
import type { Inbound, LocalInboundsApi } from '../inbounds/contract.js';
import type { Probe } from '../processes/contract.js';
import type {
  InstancePlan,
  Sidecar,
  SidecarControl,
  SidecarInstance,
  SidecarProgram,
  SidecarUser,
  UserCounters,
} from '../sidecars/contract.js';
import { runCommand } from './command.js';
import { ControlSocket, socketOf } from './control-socket.js';
import { ownsInterface } from './device-owner.js';
import { readDevice } from './device-state.js';
import { tableOf } from './firewall.js';
import type { Handshakes } from './handshakes.js';
import { interfaceOf } from './interface.js';
import { bookOf, countersOf } from './peer-book.js';
import { rightsProblem } from './rights.js';
import { serverOf } from './server-block.js';
import { panelName, Tunnel } from './tunnel.js';

interface Needs {
  readonly log: Log;
  readonly inbounds: LocalInboundsApi;
  readonly users: ProgramUsersApi;
  readonly listeners: ListenersApi;
  readonly handshakes: Handshakes;
  readonly dataDirectory: string;
  readonly reach: UserReachApi | undefined;
  readonly config: { readonly binary?: string | undefined };
}

/** Fields that concern client programs only. */
const FOR_CLIENTS = new Set(['primaryDns', 'secondaryDns', 'publicKey', 'awgVersion']);

/** What a running process was set up with: another one begins from scratch. */
function digestOf({ port, listen, settings }: Inbound): string {
  const server = Object.entries(serverOf({ settings })).filter(([name]) => !FOR_CLIENTS.has(name));
  return createHash('sha256')
    .update(JSON.stringify([port, listen, server.sort(([a], [b]) => (a < b ? -1 : 1))]))
    .digest('base64url');
}

/** Without the signal of the probe: it would gather a listener at each attempt, and a local connection waits for nothing. */
const accepts = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const connection = connect({ path });
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', reject);
  });

/** The socket accepts, and the interface is that of this process. */
const serves =
  (device: string): Probe =>
  async ({ pid }) =>
    (await accepts(socketOf(device))) && (await ownsInterface(pid, device));

export class AmneziawgSidecar implements Sidecar {
  readonly protocol = 'amneziawg';
  readonly program: SidecarProgram;
  readonly #needs: Needs;
  readonly #tunnels = new Map<number, Tunnel>();
  /** A table is not removed while the next process makes it. */
  readonly #queue = new KeyedQueue<number>();

  constructor(needs: Needs) {
    this.#needs = needs;
    this.program = {
      name: 'amneziawg-go',
      variable: 'WEIR_AMNEZIAWG_BIN',
      chosen: needs.config.binary,
      // The project publishes no binaries.
      hint: 'build it from github.com/amnezia-vpn/amneziawg-go with Go, and put it there',
    };
  }

  problem(): Promise<string | undefined> {
    return rightsProblem();
  }

  plan(inbounds: readonly Inbound[]): readonly InstancePlan[] {
    return inbounds.map((inbound) => ({
      name: `in-${inbound.id}`,
      inboundIds: [inbound.id],
      nftTables: [tableOf(panelName(this.#needs.dataDirectory), inbound.id)],
      process: () => ({
        args: ['-f', interfaceOf(inbound.id)],
        env: { LOG_LEVEL: 'error', WEIR_SETTINGS: digestOf(inbound) },
        ready: serves(interfaceOf(inbound.id)),
      }),
    }));
  }

  /** Tunnels that serve now, by inbound. */
  get tunnels(): ReadonlyMap<number, Tunnel> {
    return this.#tunnels;
  }

  async peek({ inboundIds: [id = 0] }: SidecarInstance): Promise<readonly UserCounters[]> {
    const users = [...this.#expected(this.#needs.users, id)];
    return countersOf(await readDevice(new ControlSocket(socketOf(interfaceOf(id)))), bookOf(users));
  }

  async open({ inboundIds }: SidecarInstance): Promise<SidecarControl> {
    const { inbounds, users, listeners, handshakes, log, dataDirectory, reach } = this.#needs;
    const inbound = inbounds.get(inboundIds[0] ?? 0);
    if (!inbound) throw new Error('its inbound was deleted');
    const tunnel = new Tunnel(inbound, {
      log,
      run: runCommand,
      panel: panelName(dataDirectory),
      openPrivate: reach?.private === 'allow',
      panelPorts: () =>
        listeners
          .places()
          .filter(({ name, port }) => name === 'panel' && port > 0)
          .map(({ port }) => port),
      seen: (ref, handshake) => handshakes.note(ref, handshake),
      gone: (ref) => handshakes.forget(ref.clientId),
    });
    await this.#queue.run(inbound.id, () => tunnel.setUp(this.#expected(users, inbound.id)));
    this.#tunnels.set(inbound.id, tunnel);
    const closed = async (): Promise<void> => {
      if (this.#tunnels.get(inbound.id) === tunnel) this.#tunnels.delete(inbound.id);
      await this.#queue.run(inbound.id, () => tunnel.closed());
    };
    return {
      countersEndWithUsers: true,
      users: tunnel.users,
      read: () => tunnel.read(),
      closed,
    };
  }

  *#expected(users: ProgramUsersApi, inboundId: number): Iterable<SidecarUser> {
    for (const clientId of users.attached(inboundId)) {
      const ref = { inboundId, clientId };
      const user = users.user(ref);
      if (user) yield { ...ref, ...user };
    }
  }
}

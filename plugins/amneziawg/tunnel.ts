// One inbound: the device behind its process, the interface, the table of nftables, and its peers.
import { createHash } from 'node:crypto';
import { type Log, TimeSlice } from '../../kernel/index.js';
import type { UserRef } from '../engine/contract.js';
import type { Inbound } from '../inbounds/contract.js';
import type { ListedUser, SidecarUser, UserCounters } from '../sidecars/contract.js';
import type { RunCommand } from '../processes/contract.js';
import { ControlRefusal, ControlSocket, socketOf } from './control-socket.js';
import { base64Of, laterFields, settingsChange } from './device-settings.js';
import { type DeviceState, readDevice } from './device-state.js';
import { noTable, portsText, tableOf, tableText } from './firewall.js';
import { forwardedPorts } from './forwarded-ports.js';
import { turnOnForwarding } from './forwarding.js';
import { Interface, interfaceOf } from './interface.js';
import { countersOf, PeerBook } from './peer-book.js';
import { accountIn, type Peer, peerLines, peerOf, quietLines, removalLines } from './peers.js';
import { publicKeyOf } from './public-key.js';
import { type ServerBlock, serverOf, textIn } from './server-block.js';
import { settingsProblem } from './settings-check.js';
import { udpPortProblem } from './udp-port.js';

/** Peers in one operation: the program computes for each. */
const AT_ONCE = 500;

export interface TunnelParts {
  readonly log: Log;
  readonly run: RunCommand;
  /** names the tables of this panel */
  readonly panel: string;
  readonly openPrivate: boolean;
  readonly panelPorts: () => readonly number[];
  /** Called with the handshake of each client at each reading. */
  readonly seen: (ref: UserRef, handshake: number) => void;
  readonly gone: (ref: UserRef) => void;
  /** another one in tests */
  readonly control?: ControlSocket;
}

/** A short name for the tables of a panel, from its data folder. */
export const panelName = (dataDirectory: string): string =>
  createHash('sha256').update(dataDirectory).digest('hex').slice(0, 6);

export class Tunnel {
  readonly inboundId: number;
  readonly users = {
    replace: (users: readonly SidecarUser[]) => this.#replace(users),
    change: (put: readonly SidecarUser[], gone: readonly UserRef[]) => this.#change(put, gone),
    quiet: (users: readonly UserRef[]) => this.#quiet(users),
    list: () => this.#list(),
  };
  readonly #parts: TunnelParts;
  readonly #inbound: Inbound;
  readonly #server: ServerBlock;
  readonly #control: ControlSocket;
  readonly #interface: Interface;
  /** what the device has */
  #book = new PeerBook();
  /** the forwarded ports that the table has */
  #ports = '';

  constructor(inbound: Inbound, parts: TunnelParts) {
    this.#parts = parts;
    this.#inbound = inbound;
    this.inboundId = inbound.id;
    this.#server = serverOf(inbound);
    this.#control = parts.control ?? new ControlSocket(socketOf(interfaceOf(inbound.id)));
    this.#interface = new Interface(inbound.id, this.#server, parts.run);
  }

  /** Makes device, interface and table what the inbound says; a device that is so already keeps its sessions. `expected`: who may be in it, so that it can be read at once. */
  async setUp(expected: Iterable<SidecarUser>): Promise<void> {
    try {
      const slice = new TimeSlice();
      for (const user of expected) {
        if (slice.isOver) await slice.next();
        const peer = peerOf(user);
        if (peer) this.#book.expect(peer);
      }
      await this.#setUp();
    } catch (error) {
      // Nobody closes a tunnel that was never open. An adopted one has clients, which would reach everything without the rules.
      await this.#interface.setDown().then(
        () => this.closed().catch(() => undefined),
        () => undefined,
      );
      throw error;
    }
  }

  async #setUp(): Promise<void> {
    const problem = settingsProblem(this.#server);
    if (problem) throw new Error(`${problem.path}: ${problem.message}`);
    const state = await readDevice(this.#control);
    if (state.settings.get('listen_port') !== String(this.#inbound.port)) {
      const inUse = await udpPortProblem(this.#inbound.port);
      if (inUse) throw new Error(inUse);
    }
    await this.#setDevice(state);
    // The table before the interface: no packet passes without its rules.
    this.#ports = '';
    await this.#nft(
      tableText({
        ...this.#parts,
        inboundId: this.inboundId,
        server: this.#server,
        listen: this.#inbound.listen,
        port: this.#inbound.port,
        panelPorts: this.#parts.panelPorts(),
        forwarded: [],
      }),
    );
    await this.#checkTable();
    await this.#interface.setUp();
    await turnOnForwarding(this.#interface.name, this.#server, this.#parts.openPrivate);
  }

  state(): Promise<DeviceState> {
    return readDevice(this.#control);
  }
  /** The client behind a key of the device. */
  clientOf(publicKey: string): UserRef | undefined {
    return this.#book.ofKey(publicKey)?.user;
  }

  async read(): Promise<readonly UserCounters[]> {
    return countersOf(await readDevice(this.#control), this.#book, this.#parts.seen);
  }

  async closed(): Promise<void> {
    await this.#nft(noTable(this.#parts.panel, this.inboundId));
  }

  /** Another program called `nft` may do nothing and say nothing: without the table, clients would reach everything. */
  async #checkTable(): Promise<void> {
    const name = tableOf(this.#parts.panel, this.inboundId);
    const listed = await this.#parts.run('nft', ['list', 'table', 'inet', name]);
    if (!listed.includes('chain from_clients'))
      throw new Error(`the program nft did not make the table ${name}; is it that of the package nftables?`);
  }

  async #setDevice(state: DeviceState): Promise<void> {
    const lines = settingsChange(this.#server, this.#inbound.port, state);
    try {
      await this.#control.set(lines);
    } catch (error) {
      const later = laterFields(this.#server);
      if (!(error instanceof ControlRefusal) || later.length === 0) throw error;
      throw new Error(
        `${error.message}; it may be too old for ${later.join(', ')} of the server: clear them, or use a newer program`,
        { cause: error },
      );
    }
  }

  /** Without addresses nothing passes to or from a peer, and its counters stay. */
  async #quiet(users: readonly UserRef[]): Promise<void> {
    const peers = users.flatMap(({ clientId }) => this.#book.ofClient(clientId) ?? []);
    await this.#inPortions(peers, ({ publicKey }) => quietLines(publicKey));
  }

  async #list(): Promise<ListedUser[]> {
    const { peers } = await readDevice(this.#control);
    return [...peers.values()].map((state) => {
      const peer = this.#book.ofKey(state.publicKey);
      if (!peer) return { name: `with the key ${base64Of(state.publicKey)}` };
      const isSame = peerLines(peer, state).length === 0;
      return { name: peer.user.name, account: isSame ? peer.user.account : accountIn(state) };
    });
  }

  async #replace(users: readonly SidecarUser[]): Promise<void> {
    const state = await readDevice(this.#control);
    if (!state.settings.has('listen_port'))
      throw new Error(
        `the program could not open UDP port ${this.#inbound.port}; another program may use it`,
      );
    const peers = await this.#peersOf(users);
    const book = new PeerBook();
    for (const peer of peers) book.add(peer);
    // At once: to a reading in between, a client without its key would be one that has gone.
    this.#book = book;
    const gone = [...state.peers.keys()].filter((key) => !book.ofKey(key));
    // Removals first: an address may have moved to another client.
    await this.#inPortions(gone, removalLines);
    const all = book.all();
    await this.#inPortions(all, (peer) => peerLines(peer, state.peers.get(peer.publicKey)));
    await this.#route(all, []);
    await this.#applyPorts();
  }

  async #change(put: readonly SidecarUser[], gone: readonly UserRef[]): Promise<void> {
    const added = await this.#peersOf(put);
    // A counter begins at zero with each put, so a peer that is there goes first. It also ends sessions with an old key.
    const removed = [...gone, ...put].flatMap(({ clientId }) => this.#book.ofClient(clientId) ?? []);
    await this.#inPortions(removed, ({ publicKey }) => removalLines(publicKey));
    for (const peer of removed) this.#book.remove(peer);
    for (const ref of gone) this.#parts.gone(ref);
    for (const peer of added) this.#book.add(peer);
    await this.#inPortions(added, (peer) => peerLines(peer, undefined));
    await this.#route(added, removed);
    if ([...added, ...removed].some(({ forwardedPorts }) => forwardedPorts !== '')) await this.#applyPorts();
  }

  /** Users whose account cannot be a peer are named in the log and left out. */
  async #peersOf(users: readonly SidecarUser[]): Promise<Peer[]> {
    const own = publicKeyOf(textIn(this.#server, 'privateKey'));
    const peers: Peer[] = [];
    const slice = new TimeSlice();
    for (const user of users) {
      if (slice.isOver) await slice.next();
      const peer = peerOf(user);
      if (peer && peer.publicKey !== own) peers.push(peer);
      else
        this.#parts.log.warn('a client of amneziawg is left out: its key or its addresses are not valid', {
          inboundId: user.inboundId,
          clientId: user.clientId,
        });
    }
    return peers;
  }

  /** Sends the lines of these, some hundred in one operation. */
  async #inPortions<T>(items: readonly T[], linesOf: (item: T) => readonly string[]): Promise<void> {
    const slice = new TimeSlice();
    let [lines, count] = [[] as string[], 0];
    for (const item of items) {
      if (slice.isOver) await slice.next();
      const own = linesOf(item);
      if (own.length > 0) count += 1;
      lines.push(...own);
      if (count < AT_ONCE) continue;
      await this.#control.set(lines);
      [lines, count] = [[], 0];
    }
    await this.#control.set(lines);
  }

  async #route(added: readonly Peer[], removed: readonly Peer[]): Promise<void> {
    const of = (peers: readonly Peer[]) =>
      this.#interface.routed(peers.flatMap(({ allowedIPs }) => allowedIPs));
    const { routes, refused } = of(added);
    if (refused.length > 0)
      this.#parts.log.warn(
        'networks of clients of amneziawg get no route: they are public, or those of this machine',
        { inboundId: this.inboundId, networks: refused.slice(0, 20) },
      );
    const left = new Set(routes);
    await this.#interface.route(
      routes,
      of(removed).routes.filter((prefix) => !left.has(prefix)),
    );
  }

  async #applyPorts(): Promise<void> {
    const ports = forwardedPorts(this.#book.forwarding(), ({ user }, taken) =>
      this.#parts.log.warn('a port of amneziawg is forwarded to another client already', {
        inboundId: this.inboundId,
        clientId: user.clientId,
        ports: taken,
      }),
    );
    const text = portsText(this.#parts.panel, this.inboundId, ports);
    if (text === this.#ports || (ports.length === 0 && this.#ports === '')) return;
    await this.#nft(text);
    this.#ports = ports.length === 0 ? '' : text;
  }

  async #nft(text: string): Promise<void> {
    await this.#parts.run('nft', ['-f', '-'], text);
  }
}

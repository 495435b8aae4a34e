// Closes the open connections of removed users, and no others; counts polls in which it could not.
import {
  type ListenersApi,
  type Log,
  messageOf,
  SerialQueue,
  type LiveSettings,
} from '../../kernel/index.js';
import { type AcceptedPeer, type CoreAccessApi, type UserRef, userName, userOf } from '../engine/contract.js';
import type { LocalInboundsApi } from '../inbounds/contract.js';
import { spell, written } from './address.js';
import { PeerIndex } from './peers.js';
import { runsOverUdp } from './udp.js';
import type { cutSettings } from './settings.js';
import { addressIn, socketKey } from './socket-table.js';
import type { SocketsApi } from './sockets.js';

/** Limit of removed users that are watched for further traffic. */
const MAX_WATCHED = 10_000;
const POLLS_ALLOWED = 2;
/** After this many polls with traffic and no usable line, the log counts as off. */
const SILENT_POLLS = 3;

interface Open {
  /** the core's name of the user */
  readonly user: string;
  readonly key: string;
}

export class Cutter {
  readonly #log: Log;
  readonly #access: CoreAccessApi | undefined;
  readonly #inbounds: Pick<LocalInboundsApi, 'get'>;
  readonly #settings: Pick<LiveSettings<typeof cutSettings>, 'read'>;
  readonly #trusts: (address: string) => boolean;
  readonly #sockets: SocketsApi;
  readonly #index = new PeerIndex();
  /** TCP port of an inbound; 0 for those over UDP */
  readonly #ports = new Map<number, number>();
  /** removed user → polls since then in which it moved bytes */
  readonly #watched = new Map<string, number>();
  /** by inbound: connections that were closed, and polls in which a removed user still moved bytes */
  readonly #counts = new Map<number, { ended: number; missed: number }>();
  #obstacle = 'it is not known yet whether connections can be closed here';
  #unfollow: () => void = () => undefined;
  readonly #queue = new SerialQueue();
  /** the pass that later removals join until it begins */
  #next: Promise<void> = Promise.resolve();
  #failing = false;
  /** polls with traffic since the core's start; undefined once a line of its log was usable */
  #silent: number | undefined = 0;
  /** removed since the current pass began */
  #waiting: string[] = [];

  constructor({
    log,
    access,
    inbounds,
    settings,
    listeners,
    sockets,
  }: {
    log: Log;
    access: CoreAccessApi | undefined;
    inbounds: Pick<LocalInboundsApi, 'get'>;
    settings: Pick<LiveSettings<typeof cutSettings>, 'read'>;
    listeners: { readonly proxies: Pick<ListenersApi['proxies'], 'trusts'> };
    sockets: SocketsApi;
  }) {
    this.#log = log;
    this.#access = access;
    this.#inbounds = inbounds;
    this.#settings = settings;
    this.#trusts = (address) => listeners.proxies.trusts(written(address));
    this.#sockets = sockets;
  }

  async start(): Promise<void> {
    this.#obstacle = this.#access ? await this.#sockets.obstacle() : 'the engine does not report connections';
    if (this.#obstacle)
      this.#log.info(
        'open connections of removed clients cannot be closed; they stay open until the client ends them',
        {
          reason: this.#obstacle,
        },
      );
    else this.#unfollow = this.#access?.follow((accepted) => this.#onAccepted(accepted)) ?? this.#unfollow;
  }
  async stop(): Promise<void> {
    this.#unfollow();
    await this.#queue.settled();
  }

  get #isEnabled(): boolean {
    return this.#settings.read().engineCutConnections;
  }

  /** Says whether open connections of removed clients are closed on this inbound; if not, why. */
  describe(inbound: Parameters<typeof runsOverUdp>[0] & { readonly id: number; readonly state?: string }) {
    const reason = inbound.state
      ? 'a program of its own runs it, whose connections the core does not know'
      : runsOverUdp(inbound)
        ? 'it runs over UDP, where no connection can be closed alone'
        : this.#obstacle || this.#pause;
    return { end: reason === '', reason, ...(this.#counts.get(inbound.id) ?? { ended: 0, missed: 0 }) };
  }

  get #pause(): string {
    if (!this.#isEnabled) return 'the setting engineCutConnections is off';
    return this.#silent === undefined || this.#silent < SILENT_POLLS
      ? ''
      : 'the core logs no connections; is its access log off, or does it mask addresses?';
  }

  /** A new core may log otherwise. */
  coreStarted(): void {
    this.#silent = 0;
  }

  inboundChanged(id: number, exists: boolean): void {
    this.#ports.delete(id);
    if (!exists) this.#counts.delete(id);
  }

  #portOf(inboundId: number): number {
    const known = this.#ports.get(inboundId);
    if (known !== undefined) return known;
    const inbound = this.#inbounds.get(inboundId);
    const port = !inbound || runsOverUdp(inbound) ? 0 : inbound.port;
    // Lines of a deleted inbound may still come; remembering those would grow without limit.
    if (inbound) this.#ports.set(inboundId, port);
    return port;
  }

  #onAccepted(accepted: readonly AcceptedPeer[]): void {
    if (!this.#isEnabled) return;
    for (const peer of accepted) {
      if (this.#silent !== undefined && spell(peer.address) !== undefined) this.#silent = undefined;
      const localPort = peer.port === 0 ? 0 : this.#portOf(peer.inboundId);
      const address = localPort === 0 ? undefined : spell(peer.address);
      if (address !== undefined) this.#index.logged(userName(peer), socketKey(address, peer.port, localPort));
    }
  }

  /** The core has removed these users. */
  removed(users: readonly UserRef[]): Promise<void> {
    if (this.#obstacle || !this.#isEnabled || users.length === 0) return Promise.resolve();
    for (const user of users.slice(-MAX_WATCHED)) {
      if (this.#watched.size >= MAX_WATCHED) this.#watched.delete(this.#watched.keys().next().value ?? '');
      this.#watched.set(userName(user), 0);
    }
    const first = this.#waiting.length === 0;
    for (const user of users) this.#waiting.push(userName(user));
    // Many calls that remove one user each share one reading of the table.
    if (first) this.#next = this.#enqueue(() => this.#pass(this.#waiting.splice(0)));
    return this.#next;
  }

  /** Checks all users: lines may come late, closing may fail, users may be removed while no panel runs. */
  tick(): Promise<void> {
    return this.#enqueue(() => this.#pass(undefined));
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    return this.#queue.run(work).then(
      () => void (this.#failing = false),
      (error: unknown) => {
        if (!this.#failing)
          this.#log.error('open connections of removed clients could not be closed; retrying', {
            reason: messageOf(error),
          });
        this.#failing = true;
      },
    );
  }

  #isGone(user: string): boolean {
    const ref = userOf(user);
    return ref !== undefined && this.#access?.admits(ref) === false;
  }

  async #pass(only: readonly string[] | undefined): Promise<void> {
    if (this.#obstacle || !this.#access) return;
    if (!this.#isEnabled) return this.#index.clear();
    const found = await this.#find(
      () => only ?? this.#index.users(),
      (user) => this.#isGone(user),
    );
    if (found.length === 0) return;
    const connections = await this.#sockets.close(found.map(({ key }) => key));
    for (const { user } of found) this.#count(user, 'ended');
    this.#log.info('closed open connections of removed clients', {
      connections,
      users: new Set(found.map(({ user }) => user)).size,
    });
  }

  /** Connections of these users that can be closed alone. `wanted` is asked last, when the log and the table are read. */
  async #find(
    users: () => readonly string[],
    wanted: (user: string) => boolean = () => true,
  ): Promise<Open[]> {
    await this.#access?.catchUp();
    const candidates = users().filter((user) => this.#index.has(user));
    if (candidates.length === 0) return [];
    const mark = this.#index.mark();
    const table = await this.#sockets.read(this.#index.localPorts());
    this.#index.settle(table, mark);
    return candidates
      .filter(wanted)
      .flatMap((user) => this.#index.of(user, table).map((key) => ({ user, key })))
      .filter(({ key }) => !this.#trusts(addressIn(key)));
  }

  /** Open connections of users who stay; none while nothing can be closed. */
  openOf(users: readonly string[]): Promise<readonly Open[]> {
    if (this.#obstacle || !this.#isEnabled) return Promise.resolve([]);
    return this.#queue.run(() => this.#find(() => users));
  }

  /** Closes those of these users' connections that have one of these keys and are still theirs. */
  closeOpen(users: readonly string[], keys: ReadonlySet<string>): Promise<number> {
    if (this.#obstacle || !this.#isEnabled) return Promise.resolve(0);
    return this.#queue.run(async () => {
      // The table is read again: ports are used again.
      const found = (await this.#find(() => users)).filter(({ key }) => keys.has(key));
      if (found.length === 0) return 0;
      const closed = await this.#sockets.close(found.map(({ key }) => key));
      for (const { user } of found) this.#count(user, 'ended');
      return closed;
    });
  }

  /** Bytes in the poll that removed a user, and in the next, may be from before. A user with bytes in a later poll is still connected. */
  counted(usage: readonly UserRef[]): void {
    if (this.#silent !== undefined && usage.length > 0 && this.#isEnabled) this.#silent += 1;
    if (this.#watched.size === 0) return;
    const moved = new Set(usage.map(userName));
    for (const [user, polls] of this.#watched) {
      if (!this.#isGone(user) || (polls > 0 && !moved.has(user))) {
        this.#watched.delete(user);
        continue;
      }
      this.#watched.set(user, polls + 1);
      if (polls < POLLS_ALLOWED || !moved.has(user)) continue;
      this.#count(user, 'missed');
      if (polls === POLLS_ALLOWED)
        this.#log.warn('a removed client still uses a connection that could not be closed', {
          user,
          ...this.#why(user),
        });
    }
  }

  #why(user: string): { reason: string } {
    const inbound = this.#inbounds.get(userOf(user)?.inboundId ?? 0);
    return {
      reason:
        (inbound && this.describe(inbound).reason) || 'the core did not log it, or it comes through a proxy',
    };
  }

  #count(user: string, what: 'ended' | 'missed'): void {
    const inboundId = userOf(user)?.inboundId ?? 0;
    const counts = this.#counts.get(inboundId) ?? { ended: 0, missed: 0 };
    counts[what] += 1;
    this.#counts.set(inboundId, counts);
  }
}

// Ends what removed users have open, and nothing else; counts what it could not end.
import {
  type ListenersApi,
  type Log,
  messageOf,
  SerialQueue,
  type LiveSettings,
} from '../../kernel/index.js';
import { type AcceptedPeer, type CoreAccessApi, type UserRef, userName, userOf } from '../engine/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { spell, written } from './address.js';
import { PeerIndex } from './peers.js';
import { runsOverUdp } from './reach.js';
import type { cutSettings } from './settings.js';
import { addressIn, socketKey } from './socket-table.js';
import type { SocketsApi } from './sockets.js';

/** Users of whom it is watched whether they still move bytes. */
const MAX_WATCHED = 10_000;
const POLLS_ALLOWED = 2;
/** Polls with traffic before the first line, after which the log is taken to be off. */
const SILENT_POLLS = 3;

export class Cutter {
  readonly #log: Log;
  readonly #access: CoreAccessApi | undefined;
  readonly #inbounds: Pick<InboundsApi, 'get'>;
  readonly #settings: Pick<LiveSettings<typeof cutSettings>, 'read'>;
  readonly #trusts: (address: string) => boolean;
  readonly #sockets: SocketsApi;
  readonly #index = new PeerIndex();
  /** TCP port of an inbound; 0 for those whose connections cannot be ended one by one */
  readonly #ports = new Map<number, number>();
  /** removed user → polls since then in which it moved bytes */
  readonly #watched = new Map<string, number>();
  /** by inbound: connections that were ended, and polls in which a removed user went on */
  readonly #counts = new Map<number, { ended: number; missed: number }>();
  #hindrance = 'it is not known yet whether connections can be ended here';
  #leave: () => void = () => undefined;
  readonly #queue = new SerialQueue();
  /** the look that those who are removed meanwhile join */
  #next: Promise<void> = Promise.resolve();
  #failing = false;
  /** polls with traffic since the core's start, as long as no line of its log was of use */
  #silent: number | undefined = 0;
  /** removed since the pass that is under way began */
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
    inbounds: Pick<InboundsApi, 'get'>;
    settings: Pick<LiveSettings<typeof cutSettings>, 'read'>;
    listeners: Pick<ListenersApi, 'trusts'>;
    sockets: SocketsApi;
  }) {
    this.#log = log;
    this.#access = access;
    this.#inbounds = inbounds;
    this.#settings = settings;
    this.#trusts = (address) => listeners.trusts(written(address));
    this.#sockets = sockets;
  }

  async start(): Promise<void> {
    this.#hindrance = this.#access
      ? await this.#sockets.hindrance()
      : 'the engine does not tell who is connected';
    if (this.#hindrance)
      this.#log.info('open connections of removed clients cannot be ended; they run out', {
        reason: this.#hindrance,
      });
    else this.#leave = this.#access?.follow((accepted) => this.#heard(accepted)) ?? this.#leave;
  }
  async stop(): Promise<void> {
    this.#leave();
    await this.#queue.settled();
  }

  get #wanted(): boolean {
    return this.#settings.read().engineCutConnections;
  }

  /** What becomes of the open connections of a client that is removed from this inbound. */
  describe(inbound: Parameters<typeof runsOverUdp>[0] & { readonly id: number }) {
    const reason = runsOverUdp(inbound)
      ? 'it runs over UDP, where no connection can be ended alone'
      : this.#hindrance || this.#pause;
    return { end: reason === '', reason, ...(this.#counts.get(inbound.id) ?? { ended: 0, missed: 0 }) };
  }

  get #pause(): string {
    if (!this.#wanted) return 'the setting engineCutConnections is off';
    return this.#silent === undefined || this.#silent < SILENT_POLLS
      ? ''
      : 'the core logs no connections; is its access log off, or does it mask addresses?';
  }

  /** Another core may be told to log otherwise. */
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
    // Of an inbound that is gone lines may still come; there is no end to those that never were.
    if (inbound) this.#ports.set(inboundId, port);
    return port;
  }

  #heard(accepted: readonly AcceptedPeer[]): void {
    if (!this.#wanted) return;
    for (const peer of accepted) {
      if (this.#silent !== undefined && spell(peer.address) !== undefined) this.#silent = undefined;
      const localPort = peer.port === 0 ? 0 : this.#portOf(peer.inboundId);
      const address = localPort === 0 ? undefined : spell(peer.address);
      if (address !== undefined) this.#index.heard(userName(peer), socketKey(address, peer.port, localPort));
    }
  }

  /** The core has given these up. */
  removed(users: readonly UserRef[]): Promise<void> {
    if (this.#hindrance || !this.#wanted || users.length === 0) return Promise.resolve();
    for (const user of users.slice(-MAX_WATCHED)) {
      if (this.#watched.size >= MAX_WATCHED) this.#watched.delete(this.#watched.keys().next().value ?? '');
      this.#watched.set(userName(user), 0);
    }
    const first = this.#waiting.length === 0;
    for (const user of users) this.#waiting.push(userName(user));
    // Many calls that remove one each are one look at the table, not many.
    if (first) this.#next = this.#inTurn(() => this.#pass(this.#waiting.splice(0)));
    return this.#next;
  }

  /** Looks after everybody: those whose line came late, whose end failed, who were removed while no panel ran. */
  tick(): Promise<void> {
    return this.#inTurn(() => this.#pass(undefined));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    return this.#queue.run(work).then(
      () => void (this.#failing = false),
      (error: unknown) => {
        if (!this.#failing)
          this.#log.error('open connections of removed clients could not be ended; it is tried again', {
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
    if (this.#hindrance || !this.#access) return;
    if (!this.#wanted) return this.#index.clear();
    await this.#access.catchUp();
    const concerned = only ? only.filter((user) => this.#index.has(user)) : this.#index.users();
    if (concerned.length === 0) return;
    const mark = this.#index.mark();
    const table = await this.#sockets.read(this.#index.localPorts());
    this.#index.settle(table, mark);
    const ends = concerned
      .filter((user) => this.#isGone(user))
      .flatMap((user) => this.#index.of(user, table).map((key) => ({ user, key })))
      .filter(({ key }) => !this.#trusts(addressIn(key)));
    if (ends.length === 0) return;
    const connections = await this.#sockets.end(ends.map(({ key }) => key));
    for (const { user } of ends) this.#count(user, 'ended');
    this.#log.info('open connections of removed clients ended', {
      connections,
      users: new Set(ends.map(({ user }) => user)).size,
    });
  }

  /** The poll that removed a user, and the next, still hold bytes from before; who moves in a later one goes on. */
  counted(usage: readonly UserRef[]): void {
    if (this.#silent !== undefined && usage.length > 0 && this.#wanted) this.#silent += 1;
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
        this.#log.warn('a removed client goes on through a connection that could not be ended', {
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

// One poll: reads the core's counters, writes the bytes, then applies limits.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Clock,
  type Database,
  type Hooks,
  type Log,
  messageOf,
  SerialQueue,
  storageFailure,
} from '../../kernel/index.js';
import type { ClientsApi, ClientUsage } from '../clients/contract.js';
import { isBusy } from '../cluster/contract.js';
import type { CoreCounters, EngineApi } from '../engine/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { Baselines } from './baselines.js';
import type { ClientLimits } from './client-limits.js';
import type { ClientWatch } from './client-watch.js';
import type { CounterReading } from './counter-sources.js';
import { countedInPanels, duringTrafficCount, trafficCounted, trafficDeltas } from './contract.js';
import type { DeletedClients } from './deleted-clients.js';
import type { InboundWatch } from './inbound-watch.js';
import type { LimitsInMemory } from './limits-in-memory.js';
import type { OnlineClients } from './online.js';
import type { OwnCore } from './own-core.js';
import type { ReadingJournal } from './reading-journal.js';
import type { SourceReader, SourceReading } from './source-reader.js';
import type { Compared, StreamBaselines } from './stream-baselines.js';

/** The bytes of a poll; until they are written, all that the database lacks. */
interface Counted {
  readonly usage: readonly ClientUsage[];
  readonly isWritten: boolean;
  /** false: bytes that the core has counted are not in it */
  readonly isWhole: boolean;
}
/** How often a write is repeated that another panel was a moment ahead of. */
const MOST_REPEATS = 5;
const REPEAT_MS = 50;

/** Taps may multiply bytes; the database and the API have whole bytes only. */
const wholeBytes = (bytes: number): number => Math.min(Math.round(bytes), Number.MAX_SAFE_INTEGER);

export class Poll {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #engine: EngineApi;
  readonly #clients: ClientsApi;
  readonly #inbounds: InboundsApi;
  readonly #baselines: Baselines;
  readonly #streams: StreamBaselines;
  readonly #sources: SourceReader;
  readonly #journal: ReadingJournal;
  readonly #online: OnlineClients;
  readonly #ownCore: OwnCore;
  readonly #clientLimits: ClientLimits;
  readonly #watch: InboundWatch;
  readonly #clientWatch: ClientWatch;
  readonly #deleted: DeletedClients;
  readonly #limits: LimitsInMemory;
  readonly #queue = new SerialQueue();
  /** The next poll checks all clients: the previous panel may have crashed between bytes and limits, and no limits were applied to the last bytes of a stopped core. */
  #first = true;

  constructor(needs: {
    db: Database;
    hooks: Hooks;
    log: Log;
    clock: Clock;
    engine: EngineApi;
    clients: ClientsApi;
    inbounds: InboundsApi;
    baselines: Baselines;
    streamBaselines: StreamBaselines;
    sources: SourceReader;
    journal: ReadingJournal;
    online: OnlineClients;
    ownCore: OwnCore;
    clientLimits: ClientLimits;
    watch: InboundWatch;
    clientWatch: ClientWatch;
    deletedClients: DeletedClients;
    limitsInMemory: LimitsInMemory;
  }) {
    this.#db = needs.db;
    this.#hooks = needs.hooks;
    this.#log = needs.log;
    this.#clock = needs.clock;
    this.#engine = needs.engine;
    this.#clients = needs.clients;
    this.#inbounds = needs.inbounds;
    this.#baselines = needs.baselines;
    this.#streams = needs.streamBaselines;
    this.#sources = needs.sources;
    this.#journal = needs.journal;
    this.#online = needs.online;
    this.#ownCore = needs.ownCore;
    this.#clientLimits = needs.clientLimits;
    this.#watch = needs.watch;
    this.#clientWatch = needs.clientWatch;
    this.#deleted = needs.deletedClients;
    this.#limits = needs.limitsInMemory;
  }

  /** Runs one poll at a time: two that overlapped would both count from the same baseline. */
  run(): Promise<void> {
    return this.#queue.run(() => this.#run());
  }

  /** Counts the last reading of a stopped core; the next poll applies limits. */
  last(counters: CoreCounters): Promise<void> {
    return this.#queue.run(async () => {
      await this.#add(counters, [], this.#clock.now());
      this.#first = true;
    });
  }

  /** Counts last readings of a source; the next poll applies limits. Rejects where they are not as declared. */
  async lastOf(source: string, readings: readonly CounterReading[]): Promise<void> {
    const checked = this.#sources.checked(source, readings);
    return this.#queue.run(async () => {
      const counted = await this.#add(undefined, await checked, this.#clock.now());
      this.#first ||= counted.usage.length > 0;
    });
  }

  async #run(): Promise<void> {
    const at = this.#clock.now();
    const counted = await this.#count(at);
    const usage = counted?.usage ?? [];
    const moved = this.#streams.takeMoved();
    this.#online.moved(moved, at, 'source');
    if (counted && !counted.isWritten) {
      // Those whom other panels have counted are not named again.
      this.#first ||= moved.length > 0;
      return counted.isWhole ? this.#limits.apply(usage, at) : undefined;
    }
    if (!this.#ownCore.leads) {
      // What was not looked at here is looked at when this panel leads.
      this.#first = true;
      return this.#end(counted, at);
    }
    try {
      // The bytes are written: a failure from here on delays limits by a poll, but loses no bytes.
      await this.#watch.resetDue(at);
      await this.#clientWatch.run(at);
      await this.#clientLimits.enforce([...usage, ...moved], at, this.#first);
      await this.#watch.enforce([...usage, ...moved], at, this.#first);
    } catch (error) {
      if (!storageFailure(error)) throw error;
      this.#first = true;
      if (counted?.isWhole) await this.#limits.apply([], at);
      return;
    }
    this.#first = false;
    const clientIds = [...new Set(moved.map(({ clientId }) => clientId))];
    if (clientIds.length > 0) this.#hooks.emit(countedInPanels, { clientIds });
    await this.#end(counted, at);
    await this.#journal.moveOn();
  }

  async #end(counted: Counted | undefined, at: number): Promise<void> {
    if (!counted) return;
    // Without a reading it is unknown what the database lacks: who is withheld stays so.
    if (counted.isWhole) await this.#limits.end();
    this.#hooks.emit(trafficCounted, { at, usage: counted.usage });
  }

  /** Resolves with the bytes counted; undefined when nobody answered. */
  async #count(at: number): Promise<Counted | undefined> {
    const [counters, readings] = await Promise.all([
      this.#coreCounters(),
      this.#ownCore.leads ? this.#sources.read() : [],
    ]);
    if (!counters && this.#engine.status().state !== 'running') this.#online.clear();
    if (counters || readings.length > 0 || this.#streams.hasUnsaved) return this.#add(counters, readings, at);
    return undefined;
  }

  async #coreCounters(): Promise<CoreCounters | undefined> {
    return this.#engine.counters().catch((error: unknown) => {
      this.#log.warn('the core did not answer the poll; its counters keep running, so no bytes are lost', {
        reason: messageOf(error),
      });
      return undefined;
    });
  }

  async #ofCore(counters: CoreCounters | undefined) {
    if (!counters || this.#ownCore.stream !== undefined) return { readings: [], usage: [], kept: [] };
    this.#deleted.forgetIfNew(counters.epoch);
    const { readings, usage: moved } = await this.#baselines.compare(
      counters,
      (id) => this.#clients.byId(id) !== undefined || this.#deleted.has(id),
      this.#streams.ofCore(counters.epoch),
    );
    const { live: usage, kept } = this.#deleted.divide(moved);
    return { readings, usage, kept };
  }

  async #add(
    counters: CoreCounters | undefined,
    sources: readonly SourceReading[],
    at: number,
    repeats = MOST_REPEATS,
  ): Promise<Counted> {
    const isWhole = counters !== undefined || (!this.#baselines.hasUnsaved && !this.#isCoreSilent());
    const { readings, usage: ofCore, kept } = await this.#ofCore(counters);
    const own = counters && this.#ownCore.reading(counters);
    const streamReadings = own ? [...sources, own] : sources;
    const streams = await this.#streams.compare(streamReadings, this.#baselines.reading);
    this.#reportExcess(streams);
    if (counters) this.#online.moved(ofCore, at);
    this.#online.moved(streams.usage, at, 'source');
    if (readings.length + streams.counters.length === 0) {
      this.#streams.saved();
      return { usage: [], isWritten: true, isWhole };
    }
    const usage = streams.usage.length === 0 ? ofCore : [...ofCore, ...streams.usage];
    const refined = this.#hooks.refine(trafficDeltas, usage, { at }, (next) => this.#stray(usage, next));
    const counted =
      refined === usage
        ? usage
        : refined.map((entry) => ({ ...entry, up: wholeBytes(entry.up), down: wholeBytes(entry.down) }));
    const write = this.#db.write(async (tx) => {
      const { live, kept: late } = await this.#deleted.divideIn(tx, counted);
      await this.#clients.addUsage(tx, live, at);
      await this.#clients.addKeptUsage(tx, [...kept, ...late], at);
      await this.#inbounds.addUsage(tx, perInbound([...counted, ...kept]));
      if (readings.length > 0) await this.#baselines.save(tx, readings);
      await this.#streams.save(tx, [...streams.counters, ...this.#streams.outdatedBy(readings)]);
      if (live.length > 0) await tx.during(duringTrafficCount, { at, usage: live });
    });
    try {
      await write;
    } catch (error) {
      if (!storageFailure(error)) throw error;
      if (isBusy(error) && repeats > 0) {
        await sleep(REPEAT_MS);
        return this.#add(counters, sources, at, repeats - 1);
      }
      this.#baselines.notSaved(readings);
      this.#streams.notSaved(streamReadings);
      return { usage: counted, isWritten: false, isWhole };
    }
    if (counters) this.#baselines.saved(readings);
    this.#streams.saved();
    return { usage: counted, isWritten: true, isWhole };
  }

  /** Whether a core runs that did not answer. */
  #isCoreSilent(): boolean {
    return this.#engine.status().state === 'running';
  }

  #reportExcess({ excessive }: Compared): void {
    const [first] = excessive;
    if (first)
      this.#log.error('a source reports more bytes than can have moved; counting what is possible', {
        count: excessive.length,
        stream: first.stream,
        clientId: first.clientId,
        inboundId: first.inboundId,
        bytes: first.bytes,
      });
  }

  /** Bytes that a tap assigns to unknown clients or inbounds would be lost. */
  #stray(usage: readonly ClientUsage[], next: readonly ClientUsage[]): string | undefined {
    // The core may count for an inbound that has just been deleted.
    const known = new Set(usage.map(({ inboundId }) => inboundId));
    const stray = next.find(
      ({ clientId, inboundId }) =>
        !this.#clients.byId(clientId) || (!known.has(inboundId) && !this.#inbounds.get(inboundId)),
    );
    return stray && `there is no client ${stray.clientId} or no inbound ${stray.inboundId}`;
  }
}

function perInbound(usage: readonly Omit<ClientUsage, 'clientId'>[]) {
  const sums = new Map<number, { inboundId: number; up: number; down: number }>();
  for (const { inboundId, up, down } of usage) {
    const sum = sums.get(inboundId);
    if (sum) {
      sum.up += up;
      sum.down += down;
    } else sums.set(inboundId, { inboundId, up, down });
  }
  return [...sums.values()];
}

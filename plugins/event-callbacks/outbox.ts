// The outbox: writes events in the transaction of the change that they tell of.
import { randomUUID } from 'node:crypto';
import {
  type Clock,
  type Database,
  type Log,
  type PluginContext,
  type Projection,
  type Tap,
  tap,
  TimeSlice,
  type Tx,
} from '../../kernel/index.js';
import { type CallbackEvent, type CallbackSource, CallbackSources } from './contract.js';
import type { EndpointStore } from './endpoint-store.js';

/** A larger one is stored without its data. */
const LONGEST_BODY = 64 * 1024;
/** Of one call, and ms of its write; the rest is summarised: a tap inside a write has two seconds, and the change must not fail for its events. */
const MOST_EVENTS = 10_000;
const LONGEST_MS = 1_000;
const MOST_NAMES = 1_000;
const ROWS = 250;
const COLUMNS = { uid: 'text', type: 'text', body: 'text' } as const;

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly contributions: PluginContext['contributions'];
  readonly store: EndpointStore;
}
type Fault = (what: string, error: unknown) => void;
interface Summary {
  count: number;
  readonly names: string[];
}

export class Outbox {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #contributions: Needs['contributions'];
  readonly #store: EndpointStore;
  /** Follows the commits, so that deliveries begin at once. */
  readonly #news: Projection<object, undefined>;
  /** Called after a commit with new events. */
  onNew: () => void = () => undefined;

  constructor({ db, clock, log, contributions, store }: Needs) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#contributions = contributions;
    this.#store = store;
    this.#news = db.projection<object, undefined>({ load: async () => ({}), apply: () => this.onNew() });
  }

  /** Id of the newest committed event; 0 without one. */
  async newest(): Promise<number> {
    const [last] = await this.#db.query<{ id: number | null }>(
      'SELECT MAX(id) AS id FROM event_callback_messages',
    );
    return Number(last?.id ?? 0);
  }

  /** The taps on all hooks that have events. */
  taps(): Tap[] {
    return this.#contributions(CallbackSources).map(({ value, fault }) => {
      const types = Object.keys(value.types);
      if (value.hook.kind === 'during')
        return tap(
          value.hook,
          (payload: never, tx: Tx) => this.#record(tx, value, types, payload, fault) as Promise<void>,
          { strict: true },
        );
      const missed = (): void =>
        this.#log.warn('events for endpoints were lost, because they came too fast', { hook: value.hook.id });
      return tap(
        value.hook,
        async (payload: never) => {
          if (types.some((type) => this.#store.wants(type)))
            await this.#db.write((tx) => this.#record(tx, value, types, payload, fault) as Promise<void>);
        },
        { missed },
      );
    });
  }

  /** Not async: an edit that no endpoint wants waits for nothing. */
  #record(
    tx: Tx,
    source: CallbackSource<never>,
    types: readonly string[],
    payload: never,
    fault: Fault,
  ): Promise<void> | undefined {
    if (this.#store.isReady && !types.some((type) => this.#store.wants(type))) return undefined;
    return this.#write(tx, source, types, payload, fault);
  }

  async #write(
    tx: Tx,
    source: CallbackSource<never>,
    types: readonly string[],
    payload: never,
    fault: Fault,
  ): Promise<void> {
    const wants = await this.#store.wanted(tx);
    if (!types.some(wants)) return;
    const at = this.#clock.now();
    const slice = new TimeSlice();
    const end = performance.now() + LONGEST_MS;
    const summaries = new Map<string, Summary>();
    let rows: string[][] = [];
    let count = 0;
    const add = async (event: CallbackEvent): Promise<void> => {
      rows.push([`msg_${randomUUID().replaceAll('-', '')}`, event.type, bodyOf(event, at, fault)]);
      if (rows.length >= ROWS) await flush();
    };
    const flush = async (): Promise<void> => {
      await insert(tx, at, rows);
      rows = [];
    };
    for (const event of described(source, types, payload, fault)) {
      if (slice.isOver) await slice.next();
      if (!wants(event.type)) continue;
      if (++count > MOST_EVENTS || performance.now() > end) summarise(summaries, event);
      else await add(event);
    }
    if (count === 0) return;
    for (const [type, summary] of summaries) await add({ type, data: { summary: true, ...summary } });
    if (rows.length > 0) await flush();
    tx.apply(this.#news, undefined);
  }
}

/** What a source throws ends its events, and not the change: a change without its event is better than no change. */
function* described(
  source: CallbackSource<never>,
  types: readonly string[],
  payload: never,
  fault: Fault,
): Iterable<CallbackEvent> {
  try {
    for (const event of source.describe(payload)) {
      if (!types.includes(event.type)) throw new Error(`${String(event.type)} is not among its types`);
      yield event;
    }
  } catch (error) {
    fault(`describe of the events ${types.join(', ')}`, error);
  }
}

function summarise(summaries: Map<string, Summary>, { type, name = '' }: CallbackEvent): void {
  const summary = summaries.get(type) ?? { count: 0, names: [] };
  summaries.set(type, summary);
  summary.count++;
  if (name !== '' && summary.names.length < MOST_NAMES) summary.names.push(name);
}

function bodyOf({ type, name = '', data }: CallbackEvent, at: number, fault: Fault): string {
  const timestamp = new Date(at).toISOString();
  try {
    const body = JSON.stringify({ type, timestamp, data });
    const bytes = Buffer.byteLength(body);
    if (bytes <= LONGEST_BODY) return body;
    return JSON.stringify({ type, timestamp, data: { tooLarge: bytes, name: name.slice(0, 255) } });
  } catch (error) {
    fault(`data of the event ${type}`, error);
    return JSON.stringify({ type, timestamp, data: { name: name.slice(0, 255) } });
  }
}

const insert = (tx: Tx, at: number, rows: readonly (readonly string[])[]): Promise<void> =>
  tx.run(
    `INSERT INTO event_callback_messages (uid, type, at, body)
     SELECT j.uid, j.type, :at, j.body FROM ${tx.sql.rows(COLUMNS)} AS j`,
    { at, rows: JSON.stringify(rows) },
  );

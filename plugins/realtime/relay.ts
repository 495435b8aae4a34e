// Brings live messages of one panel to the readers of the others, over a stream of Redis. What a reader may have, and how
// far behind it may be, is decided where it is connected; so whole messages go over the stream, not those of one endpoint.
import { hash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Log, messageOf } from '../../kernel/index.js';
import type { PanelsApi } from '../cluster/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { Stream } from './stream.js';

/** A larger message is told as "your copy is out of date". */
const LONGEST = 512 * 1024;
/** Messages that Redis keeps: at most 64 MiB. */
const MOST_KEPT = 128;
/** Messages on their way to Redis. */
const MOST_UNDER_WAY = 64;
const BLOCK_MS = 2_000;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5_000;
const ANSWER_MS = 3_000;
/** Panels with readers say so every five seconds. */
const WANTED_MS = 12_000;

/** `state`: a newer message of the type replaces it; `event`: each counts; `invalidate`: the type is a resource; `want`: the panel has readers. */
const KINDS = ['state', 'event', 'invalidate', 'want'] as const;
export type RelayKind = (typeof KINDS)[number];
const isKind = (value: string | undefined): value is RelayKind =>
  (KINDS as readonly string[]).includes(value ?? '');
/** Names of types are words of plugins. */
const LONGEST_TYPE = 128;

type Entry = readonly [id: string, fields: readonly string[]];

interface Needs {
  readonly config: { readonly redis?: string | undefined };
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly identity: PanelIdentityApi;
  readonly panels: PanelsApi | undefined;
  readonly stream: Stream;
}

export class Relay {
  readonly #needs: Needs;
  /** of this start of the panel: its own messages come back to it */
  readonly #origin = randomUUID();
  readonly #name: () => string;
  #writer: Redis | undefined;
  #reader: Redis | undefined;
  #running: Promise<void> = Promise.resolve();
  #isAway = false;
  #underWay = 0;
  /** `performance.now()` until which another panel has readers */
  #wantedUntil = Number.NEGATIVE_INFINITY;

  constructor({ config, log, signal, identity, panels, stream }: Needs) {
    this.#needs = { config, log, signal, identity, panels, stream };
    // One Redis may serve several databases of panels.
    this.#name = () => `weir:live:${hash('sha256', identity.guid).slice(0, 32)}`;
  }

  /** Whether readers of other panels wait for messages. */
  get isWanted(): boolean {
    return this.#writer?.status === 'ready' && performance.now() < this.#wantedUntil;
  }

  start(): void {
    const { config, panels } = this.#needs;
    if (config.redis === undefined || !panels?.number) return;
    this.#writer = this.#open(config.redis, ANSWER_MS);
    this.#reader = this.#open(config.redis);
    this.#needs.stream.relay = this;
    this.#running = this.#read(this.#reader);
  }

  async stop(): Promise<void> {
    this.#needs.stream.relay = undefined;
    // The reader may be waiting for the next message.
    this.#reader?.disconnect();
    this.#writer?.disconnect();
    await this.#running;
  }

  #open(url: string, commandTimeout?: number): Redis {
    const redis = new Redis(url, {
      // A command fails while Redis is away: nothing waits for it, and nothing piles up.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: ANSWER_MS,
      autoResendUnfulfilledCommands: false,
      retryStrategy: (attempt: number) => Math.min(RETRY_MS * attempt, LONGEST_RETRY_MS),
      ...(commandTimeout !== undefined && { commandTimeout }),
    });
    redis.on('error', (error: Error) => this.#failed(error));
    redis.on('ready', () => this.#works());
    return redis;
  }

  #failed(error: unknown): void {
    if (this.#needs.signal.aborted || this.#isAway) return;
    this.#isAway = true;
    this.#needs.log.warn(
      'Redis does not answer: sockets get the messages of this panel only, until it does',
      { reason: messageOf(error) },
    );
  }
  #works(): void {
    if (this.#isAway) this.#needs.log.info('Redis answers again', {});
    this.#isAway = false;
  }

  /** Says that this panel has readers; called every five seconds, and when the first one comes. */
  want(): void {
    if (this.#needs.stream.size > 0) this.publish('want', '', 'null');
  }

  /** Sends JSON on to other panels. Returns at once; while Redis is away, nothing is sent. */
  publish(kind: RelayKind, type: string, body: string): void {
    const redis = this.#writer;
    if (redis?.status !== 'ready' || this.#underWay >= MOST_UNDER_WAY) return;
    const isLong = Buffer.byteLength(body) > LONGEST;
    this.#underWay++;
    const fields = isLong
      ? ['kind', 'invalidate', 'type', type, 'body', 'null']
      : ['kind', kind, 'type', type, 'body', body];
    redis
      .xadd(this.#name(), 'MAXLEN', MOST_KEPT, '*', 'from', this.#origin, ...fields)
      .then(
        () => undefined,
        (error: unknown) => this.#failed(error),
      )
      .finally(() => this.#underWay--);
  }

  async #read(redis: Redis): Promise<void> {
    const { signal } = this.#needs;
    let last: string | undefined;
    while (!signal.aborted) {
      try {
        if (redis.status !== 'ready') await once(redis, 'ready', { signal });
        last ??= await this.#newest(redis);
        const found = await redis.xread('COUNT', MOST_KEPT, 'BLOCK', BLOCK_MS, 'STREAMS', this.#name(), last);
        this.#works();
        for (const [, entries] of (found ?? []) as readonly (readonly [string, readonly Entry[]])[])
          for (const [id, fields] of entries) {
            last = id;
            this.#take(fields);
          }
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #newest(redis: Redis): Promise<string> {
    const [entry] = (await redis.xrevrange(this.#name(), '+', '-', 'COUNT', 1)) as readonly Entry[];
    return entry?.[0] ?? '0-0';
  }

  /** Whoever can write to Redis wrote this: it is checked like a body of a stranger. */
  #take(fields: readonly string[]): void {
    const entry = new Map<string, string>();
    for (let at = 0; at + 1 < fields.length && at < 16; at += 2)
      entry.set(fields[at] ?? '', fields[at + 1] ?? '');
    const [from, kind, type = '', body = ''] = ['from', 'kind', 'type', 'body'].map((name) =>
      entry.get(name),
    );
    if (from === this.#origin || !isKind(kind) || type.length > LONGEST_TYPE) return;
    if (kind === 'want') {
      this.#wantedUntil = performance.now() + WANTED_MS;
      return;
    }
    if (body.length > LONGEST || !isJson(body)) return;
    this.#needs.stream.relayed(kind, type, body);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// Handles a call once for each key: stores the key before the call, how far it came with each of its transactions, and
// the reply after it, before the caller gets it.
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Database,
  type Log,
  PanelError,
  type Replays,
  type RequestInfo,
  type Route,
  storageFailure,
  type Tx,
} from '../../kernel/index.js';
import type { CallStore } from './call-store.js';
import { errors } from './errors.js';
import { digestOf, fingerprintOf } from './fingerprint.js';
import { keyOf } from './key.js';
import { Recorder, replay } from './recorded.js';
import type { CallRow } from './tables.js';

type Input = RequestInfo & { readonly params: unknown; readonly query: unknown; readonly body: unknown };

/** A call that this process handles now. */
interface UnderWay {
  readonly id: string;
  readonly fingerprint: string;
  readonly caller: string;
  /** facts that the next transaction stores */
  noted: string | undefined;
  /** its first transaction is committed, or is about to be */
  hasBegun: boolean;
  /** it only replies, because its change is committed already */
  isRepeated: boolean;
  isOver: boolean;
}

export class IdempotentCalls implements Replays {
  readonly #db: Database;
  readonly #store: CallStore;
  readonly #log: Log;
  readonly #underWay = new Map<string, UnderWay>();
  /** The call that running code belongs to. Tracking slows down every promise of the process, so it is off while no call with a key runs. */
  readonly #current = new AsyncLocalStorage<UnderWay>();

  constructor({ db, store, log }: { db: Database; store: CallStore; log: Log }) {
    this.#db = db;
    this.#store = store;
    this.#log = log;
  }

  repeatable(route: Route): Route {
    const { method, path, auth, stream, files, reply } = route;
    // Two uploads with the same text fields would count as one call, and a stream can only be read once.
    const isRead = !stream && files === undefined && reply.kind !== 'stream' && reply.kind !== 'folder';
    if (auth === 'anyone' || !isRead || method === 'GET')
      throw new Error(
        `${method} ${String(path)}: idempotent goes with a call that changes something, asks for a login, takes no files, and whose body and reply are no streams`,
      );
    return { ...route, handle: (input) => this.#handle(route, input) };
  }

  async #handle(route: Route, given: never): Promise<unknown> {
    const input: Input = given;
    const header = input.headers['idempotency-key'];
    if (header === undefined) return route.handle(given);
    const caller = digestOf(input.who.kind, input.who.name);
    const path = typeof route.path === 'function' ? route.path() : route.path;
    const id = digestOf(route.method, path, keyOf(header));
    const fingerprint = await fingerprintOf([input.params, input.query, input.body]);
    const other = this.#underWay.get(id);
    if (other) {
      refuseOther(other, caller, fingerprint);
      throw errors.UNDER_WAY(undefined, { headers: { 'Retry-After': '1' } });
    }
    const call: UnderWay = {
      id,
      caller,
      fingerprint,
      noted: undefined,
      hasBegun: false,
      isRepeated: false,
      isOver: false,
    };
    this.#underWay.set(id, call);
    try {
      const earlier = await this.#store.find(id);
      if (earlier) refuseOther(earlier, caller, fingerprint);
      if (earlier && earlier.stage !== '') return await this.#again(earlier, call, route, input);
      // Nothing of an earlier call is committed, whatever ended it.
      if (!earlier) await this.#store.begin({ id, caller, fingerprint });
      return await this.#run(call, route, input);
    } finally {
      call.isOver = true;
      this.#underWay.delete(id);
      if (this.#underWay.size === 0) this.#current.disable();
    }
  }

  #again({ stage, reply }: CallRow, call: UnderWay, route: Route, input: Input): unknown {
    // This process does not handle the call: the panel was killed, or the call failed.
    if (stage === 'part' || reply === null) throw errors.UNKNOWN();
    if (reply === '') throw errors.NOT_KEPT();
    return stage === 'noted'
      ? this.#run(call, route, input, JSON.parse(reply) as unknown)
      : replay(reply, input.reply);
  }

  /** With `noted` the change is committed already, and the handler only replies. */
  async #run(call: UnderWay, route: Route, input: Input, noted?: unknown): Promise<unknown> {
    const recorder = new Recorder();
    call.isRepeated = noted !== undefined;
    const note = (facts: unknown): void => void (call.noted = JSON.stringify(facts));
    let result: unknown;
    try {
      result = await this.#current.run(call, () =>
        route.handle(recorder.record(input, { note, noted }) as never),
      );
    } catch (error) {
      // A refusal has changed nothing, so the key can be used for another request. One that comes after the change frees no key.
      if (error instanceof PanelError && error.status < 500 && noted === undefined)
        await this.#forget(call, error);
      throw error;
    }
    call.isOver = true;
    await this.#write(call, (tx) => this.#store.mark(tx, call.id, 'done', recorder.textOf(result) ?? ''));
    return result;
  }

  /** A key that another panel uses stays. */
  async #forget(call: UnderWay, error: PanelError): Promise<void> {
    if (error.code !== errors.UNDER_WAY.code)
      await this.#write(call, (tx) => this.#store.forget(tx, call.id, call.hasBegun));
  }

  /** The last step of a transaction of any plugin. */
  async settle(tx: Tx): Promise<void> {
    if (this.#underWay.size === 0) return;
    const call = this.#current.getStore();
    if (!call || call.isOver) return;
    const { id, noted, hasBegun } = call;
    call.noted = undefined;
    // Two panels may have found the key free: only one of them commits something under it.
    const mustBeFirst = !hasBegun && !call.isRepeated;
    const isMarked =
      noted === undefined
        ? await this.#store.markBegun(tx, id)
        : await this.#store.mark(tx, id, 'noted', noted, mustBeFirst);
    if (mustBeFirst && !isMarked) throw errors.UNDER_WAY(undefined, { headers: { 'Retry-After': '1' } });
    call.hasBegun = true;
  }

  /** The call is done, so its caller gets the reply even if this write fails; a repetition is then answered from what the call has noted. */
  async #write({ id }: UnderWay, write: (tx: Tx) => Promise<unknown>): Promise<void> {
    try {
      await this.#db.write(write);
    } catch (error) {
      // The kernel reports failures of the database.
      if (!storageFailure(error))
        this.#log.error('could not store the reply to an idempotent call', { call: id, error });
    }
  }

  sweep(): Promise<void> {
    return this.#store.sweep();
  }
}

function refuseOther(
  earlier: Pick<UnderWay, 'caller' | 'fingerprint'>,
  caller: string,
  fingerprint: string,
): void {
  if (earlier.caller !== caller) throw errors.OTHER_CALLER();
  if (earlier.fingerprint !== fingerprint) throw errors.OTHER_REQUEST();
}

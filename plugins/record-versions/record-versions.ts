// The versions of one kind of record: what a reply shows, and the check inside the write of a call with If-Match.
import { AsyncLocalStorage } from 'node:async_hooks';
import { PanelError, type RequestInfo, type Route } from '../../kernel/index.js';
import { digestOf } from './digest.js';
import { errors } from './errors.js';
import { askedVersions } from './if-match.js';

/** A record as replies show it. */
export interface Versioned {
  readonly version: string;
}
type Input = RequestInfo & { readonly params: unknown; readonly body: unknown };

/** A call whose write is done only if the record has one of these versions. */
interface Condition {
  readonly kind: object;
  readonly versions: readonly string[];
  isOver: boolean;
}
/** The call that running code belongs to. Tracking slows down every promise of the process, so it is off while no call has a condition. */
const current = new AsyncLocalStorage<Condition>();
let underWay = 0;

export class RecordVersions<R extends object> {
  readonly #facts: (record: R) => unknown;
  readonly #known: WeakMap<R, string> | undefined;

  /** `facts` is what people can change of a record, as JSON: no counters, no times. A version is kept with its record; those of records that change in place, unknown to who shows them, are computed at each call (`isLive`). */
  constructor(facts: (record: R) => unknown, { isLive = false }: { readonly isLive?: boolean } = {}) {
    this.#facts = facts;
    this.#known = isLive ? undefined : new WeakMap();
  }

  of(record: R): string {
    const known = this.#known?.get(record);
    if (known !== undefined) return known;
    const version = digestOf(this.#facts(record));
    this.#known?.set(record, version);
    return version;
  }

  /** Call it whenever a record has changed in place. */
  changed(record: R): void {
    this.#known?.delete(record);
  }

  /**
   * Makes a route take `If-Match`. `shown` is the record that it changes, as replies show it; its refusal (there is none)
   * is that of the call. The write that the route does must call `check`.
   */
  guarded<P>(route: Route, shown: (params: P, input: RequestInfo) => Versioned | Promise<Versioned>): Route {
    const handle = route.handle as unknown as (input: Input) => unknown;
    const answer = async (input: Input): Promise<unknown> => {
      const versions = askedVersions(input.headers);
      if (!versions) return handle(input);
      const record = () => shown(input.params as P, input);
      // Also where nothing would be written, and before guards and the core are asked.
      const before = await record();
      if (!versions.includes(before.version)) throw changed(before);
      try {
        return await this.#during(versions, () => handle(input));
      } catch (error) {
        if (!(error instanceof PanelError) || error.code !== errors.CHANGED.code) throw error;
        const { version } = error.obj as Versioned;
        throw changed(await record(), version);
      }
    };
    return {
      ...route,
      errors: [...route.errors, errors.CHANGED, errors.IF_MATCH],
      handle: answer as unknown as Route['handle'],
    };
  }

  /**
   * Call it inside the write of a record. If the call that writes has a condition on a record of this kind, `stored` reads
   * it with the write's `tx` (memory may lack the write before); CHANGED is thrown if it has another version. One that is
   * gone is for the caller to refuse.
   */
  async check(stored: () => R | undefined | Promise<R | undefined>): Promise<void> {
    const condition = underWay > 0 ? current.getStore() : undefined;
    if (condition?.kind !== this || condition.isOver) return;
    const record = await stored();
    if (record && !condition.versions.includes(this.of(record)))
      throw errors.CHANGED(undefined, { obj: { version: this.of(record) } });
  }

  /** Does work whose write is refused with CHANGED unless the record has one of these versions. */
  async #during<T>(versions: readonly string[], work: () => T | Promise<T>): Promise<T> {
    const condition: Condition = { kind: this, versions, isOver: false };
    underWay += 1;
    try {
      return await current.run(condition, work);
    } finally {
      condition.isOver = true;
      underWay -= 1;
      if (underWay === 0) current.disable();
    }
  }

  /** The same for a plugin that changes a record on behalf of somebody, without a route. */
  ifUnchanged<T>(record: R, work: () => Promise<T>): Promise<T> {
    return this.#during([this.of(record)], work);
  }
}

const changed = (current: Versioned, version = current.version): PanelError =>
  errors.CHANGED(undefined, { headers: { ETag: `"${version}"` }, obj: { current, version } });

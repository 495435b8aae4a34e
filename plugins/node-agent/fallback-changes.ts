// The fallbacks of an inbound as its central wants them. They lead to inbounds by the ids of the central.
import { inspect, list, openObject, type Schema, sentenceOf } from '../../kernel/index.js';
import type { FallbacksApi, SentFallback } from '../fallbacks/contract.js';
import { reasonOf } from './change.js';
import { waiting } from './client-changes.js';
import { principalOf } from './principal.js';
import type { Records } from './records.js';
import type { CentralRow } from './tables.js';

const Wanted = list(openObject()).max(100);
const NAMES = ['childId', 'name', 'alpn', 'path', 'dest', 'xver', 'sortOrder'] as const;
type Wanted = Partial<Record<(typeof NAMES)[number], unknown>>;

const textOf = (fallbacks: readonly Wanted[]): string =>
  JSON.stringify(fallbacks.map((one) => NAMES.map((name) => one[name] ?? '')));

export class FallbackChanges {
  readonly #records: Records;
  readonly #fallbacks: FallbacksApi | undefined;

  constructor({ records, fallbacks }: { records: Records; fallbacks: FallbacksApi | undefined }) {
    this.#records = records;
    this.#fallbacks = fallbacks;
  }

  /** Makes them so. Returns why they are not; blank when they are, and where the central says nothing of them. */
  async problemOf(central: CentralRow, masterId: number, sent: unknown): Promise<string> {
    if (sent === undefined) return '';
    const result = inspect(Wanted as Schema, sent);
    if (!('value' in result)) return `fallbacks: ${sentenceOf(result.issues)}`;
    const wanted = result.value as Wanted[];
    if (!this.#fallbacks) return wanted.length === 0 ? '' : 'fallbacks: no plugin of this panel has them';
    const here = wanted.length > 0 ? await this.#records.inbounds(central.id) : new Map<number, number>();
    const own: Wanted[] = [];
    for (const one of wanted) {
      const childId = typeof one.childId === 'number' && one.childId > 0 ? one.childId : 0;
      const local = childId === 0 ? 0 : here.get(childId);
      if (local === undefined) return waiting(childId);
      own.push({ ...one, childId: local });
    }
    if (textOf(own) === textOf(this.#fallbacks.of(masterId))) return '';
    try {
      await this.#fallbacks.replace(masterId, own as SentFallback[], principalOf(central.guid));
      return '';
    } catch (error) {
      return reasonOf(error);
    }
  }
}

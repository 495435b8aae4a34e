// What is remembered of indexes: an older one that is sent again is refused, and a release is announced once.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  inspect,
  int,
  mapOf,
  replaceFile,
  shape,
  type Static,
  text,
  withDefault,
} from '../../kernel/index.js';
import { FOLDER } from './exchange-files.js';

const MOST = 64 * 1024;
const MOST_KEYS = 64;
const SeenShape = shape({
  /** the highest number of each key */
  numbers: withDefault(mapOf(int().min(0)).max(MOST_KEYS), {}),
  announced: withDefault(text().max(64), ''),
  /** Unix ms */
  checkedAt: withDefault(int().min(0), 0),
});
export type Seen = Static<typeof SeenShape>;
const NOTHING: Seen = { numbers: {}, announced: '', checkedAt: 0 };

export class SeenIndexes {
  readonly #path: string;
  #seen: Promise<Seen> | undefined;
  /** the write under way */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ dataDirectory }: { readonly dataDirectory: string }) {
    this.#path = join(dataDirectory, FOLDER, 'seen.json');
  }

  /** A file that is missing or damaged says nothing. */
  all(): Promise<Seen> {
    return (this.#seen ??= this.#load());
  }

  async #load(): Promise<Seen> {
    try {
      const content = await readFile(this.#path, 'utf8');
      const found = content.length > MOST ? undefined : inspect(SeenShape, JSON.parse(content));
      return found && 'value' in found ? (found.value as Seen) : NOTHING;
    } catch {
      return NOTHING;
    }
  }

  remember(change: Partial<Seen>): Promise<void> {
    return this.#change(() => change);
  }

  /** One after another: the periodic check and an admin may ask at the same time. */
  #change(decide: (seen: Seen) => Partial<Seen> | undefined): Promise<void> {
    const done = this.#last.then(async () => {
      const before = await this.all();
      const change = decide(before);
      if (!change) return;
      const seen = { ...before, ...change };
      await replaceFile(this.#path, `${JSON.stringify(seen)}\n`, 0o600);
      this.#seen = Promise.resolve(seen);
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Throws where an index with a higher number was seen before. */
  accept({ key, number }: { readonly key: string; readonly number: number }): Promise<void> {
    return this.#change(({ numbers }) => {
      const last = numbers[key] ?? 0;
      if (number < last)
        throw new Error(
          `the index of releases is an older one: it has the number ${number}, and number ${last} was there before`,
        );
      if (number === last) return undefined;
      const others = Object.entries(numbers)
        .filter(([id]) => id !== key)
        .slice(1 - MOST_KEYS);
      return { numbers: { ...Object.fromEntries(others), [key]: number } };
    });
  }
}

// Writes entries, inside the write that makes the changes.
import { type Clock, type PluginContext, type Principal, TimeSlice, type Tx } from '../../kernel/index.js';
import { LinkHash, type StoredChange } from './chain.js';
import type { ChainHead } from './chain-head.js';
import type { ChainKey } from './chain-key.js';
import { AuditedHooks, type DescribedChange } from './contract.js';
import type { KeptStore } from './kept-store.js';
import type { Undoing } from './undoing.js';
import { type KeptChange, Undoers } from './undoers.js';
import { differencesInSteps, type Fields, secretNames } from './differences.js';

const LONGEST_NAME = 255;
const LONGEST_SUBJECT = 64;
const ROWS = 1000;
const COLUMNS = { kind: 'text', name: 'text', subject: 'text', fields: 'text', hash: 'text' } as const;

/** What most names are. */
const PLAIN = /^[!-~]*$/;
/** Text that a database returns as it was given: without halves of characters, control characters and spaces at its end. */
const plain = (text: unknown, longest: number): string => {
  const short = String(text ?? '').slice(0, longest);
  if (PLAIN.test(short)) return short;
  return Buffer.from(short)
    .toString()
    .replaceAll(/\p{Cc}/gu, ' ')
    .trimEnd();
};

interface Needs {
  readonly clock: Clock;
  readonly chainKey: ChainKey;
  readonly head: ChainHead;
  readonly contributions: PluginContext['contributions'];
  readonly keptStore: KeptStore;
  readonly undoing: Undoing;
}
/** What a hook is called with. */
interface Payload {
  readonly changes: readonly never[];
  readonly who: Principal;
}
type Describe = (change: never) => DescribedChange | undefined;

export class Recorder {
  readonly #clock: Clock;
  readonly #chainKey: ChainKey;
  readonly #head: ChainHead;
  readonly #contributions: Needs['contributions'];
  readonly #keptStore: KeptStore;
  readonly #undoing: Undoing;

  constructor({ clock, chainKey, head, contributions, keptStore, undoing }: Needs) {
    this.#keptStore = keptStore;
    this.#undoing = undoing;
    this.#clock = clock;
    this.#chainKey = chainKey;
    this.#head = head;
    this.#contributions = contributions;
  }

  /** Each hook that is recorded, with its tap. */
  hooks() {
    return this.#contributions(AuditedHooks).map(({ value, fault }) => {
      const isSecret = secretNames(value.secret);
      const describe: Describe = (change) => {
        try {
          return value.describe(change);
        } catch (error) {
          // A record without its fields is better than no change at all, and than no record.
          fault(`describe of the audited hook ${value.hook.id}`, error);
          return { kind: 'updated', name: '', before: undefined, after: {} };
        }
      };
      const record = async ({ changes, who }: Payload, tx: Tx): Promise<void> => {
        const stored = await storedChanges(changes, describe, isSecret);
        if (stored.length === 0) return;
        const kept = await this.#kept(value.area, changes);
        if (kept) this.#undoing.check(value.area, kept);
        const entry = await this.#write(tx, value.area, who, stored);
        await this.#undoing.mark(tx, value.area, entry.id);
        if (kept) await this.#keptStore.keep(tx, entry.id, entry.at, kept);
      };
      return { hook: value.hook, record };
    });
  }

  /** What an undo needs; undefined where nothing of this kind is undone. */
  async #kept(area: string, changes: readonly never[]): Promise<readonly KeptChange[] | string | undefined> {
    const owner = this.#contributions(Undoers).find(({ value }) => value.area === area);
    if (!owner) return undefined;
    try {
      return await owner.value.keep(changes);
    } catch (error) {
      // A change that cannot be undone is better than none.
      owner.fault(`keep of the undoer ${area}`, error);
      return 'its plugin failed to keep what an undo needs';
    }
  }

  /** Records changes that come without a hook. */
  async write(
    tx: Tx,
    area: string,
    who: Principal,
    changes: readonly DescribedChange[],
    secret?: readonly string[],
  ): Promise<void> {
    const stored = await storedChanges(changes, (change) => change, secretNames(secret));
    if (stored.length > 0) await this.#write(tx, area, who, stored);
  }

  async #write(
    tx: Tx,
    area: string,
    { kind, name, ip = '' }: Principal,
    changes: readonly StoredChange[],
  ): Promise<{ readonly id: number; readonly at: number }> {
    const before = await this.#head.of(tx);
    const entry = {
      id: before.id + 1,
      at: this.#clock.now(),
      whoKind: plain(kind, LONGEST_SUBJECT),
      who: plain(name, LONGEST_NAME),
      ip: plain(ip, LONGEST_SUBJECT),
      area,
      undoes: this.#undoing.entry,
    };
    const link = new LinkHash(await this.#chainKey.within(tx), before.hash, entry);
    for (const change of changes) link.add(change);
    const hash = link.end();
    for (let from = 0; from < changes.length; from += ROWS) {
      const rows = changes
        .slice(from, from + ROWS)
        .map((change, i) => [
          ...[change.kind, change.name, change.subject, change.fields],
          from + i === changes.length - 1 ? hash : '',
        ]);
      await tx.run(
        `INSERT INTO audit_changes (entry, at, who_kind, who, ip, area, undoes, kind, name, subject, fields, hash)
         SELECT :id, :at, :whoKind, :who, :ip, :area, :undoes, j.kind, j.name, j.subject, j.fields, j.hash
         FROM ${tx.sql.rows(COLUMNS)} AS j`,
        { ...entry, rows: JSON.stringify(rows) },
      );
    }
    this.#head.moved(tx, { id: entry.id, hash });
    return entry;
  }
}

/** Awaits only where a record is large: a bulk call has thousands of small ones. */
function inSlices(
  { before, after }: DescribedChange,
  isSecret: (name: string) => boolean,
  slice: TimeSlice,
): Fields | undefined | Promise<Fields | undefined> {
  const steps = differencesInSteps(before, after, isSecret);
  const first = steps.next();
  if (first.done) return first.value;
  return (async () => {
    for (;;) {
      if (slice.isOver) await slice.next();
      const step = steps.next();
      if (step.done) return step.value;
    }
  })();
}

/** Changes that change nothing that is recorded are left out. */
async function storedChanges<C>(
  changes: readonly C[],
  describe: (change: C) => DescribedChange | undefined,
  isSecret: (name: string) => boolean,
): Promise<StoredChange[]> {
  const stored: StoredChange[] = [];
  const slice = new TimeSlice();
  for (const change of changes) {
    if (slice.isOver) await slice.next();
    const described = describe(change);
    const differ = described && (await inSlices(described, isSecret, slice));
    // An act is recorded whatever it has to say.
    const fields = differ ?? (described?.kind === 'done' ? {} : undefined);
    if (described && fields)
      stored.push({
        kind: described.kind,
        name: plain(described.name, LONGEST_NAME),
        subject: plain(described.id, LONGEST_SUBJECT),
        fields: JSON.stringify(fields),
      });
  }
  return stored;
}

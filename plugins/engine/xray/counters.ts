// Byte counters of users and outbounds. That of a user appears with its first connection, that of an outbound with the
// outbound; both outlive their owner.
import { TimeSlice } from '../../../kernel/index.js';
import type { OutboundCounter, UserCounter } from '../driver.js';
import type { CoreApi } from './api.js';
import type { NameMark } from './name-mark.js';

const USER = 'user>>>';
const OUTBOUND = 'outbound>>>';
const UP = Buffer.from('>>>traffic>>>uplink');
const DOWN = Buffer.from('>>>traffic>>>downlink');
/** Keys of the reply's repeated field and of the two fields of xray.app.stats.command.Stat. */
const STAT = 0x0a;
const NAME = 0x0a;
const VALUE = 0x10;
/** int64 below zero, as a number without a sign */
const NEGATIVE = 2 ** 63;
const LOOK_AT_CLOCK_EVERY = 128;

/** Without users that never moved a byte. */
export const readCounters = (api: CoreApi, prefix: string, { mark }: NameMark): Promise<UserCounter[]> =>
  countersFrom(api, { kind: USER, prefix, mark, encoding: 'latin1', withZeros: false });

export async function readOutbounds(api: CoreApi): Promise<OutboundCounter[]> {
  const kind = { kind: OUTBOUND, prefix: '', mark: '', encoding: 'utf8', withZeros: true } as const;
  return (await countersFrom(api, kind)).map(({ name: tag, up, down }) => ({ tag, up, down }));
}

interface Wanted {
  readonly kind: string;
  readonly prefix: string;
  /** end of the names, see name-mark.ts; a login has none */
  readonly mark: string;
  /** Names of users are ASCII. */
  readonly encoding: 'latin1' | 'utf8';
  readonly withZeros: boolean;
}

async function countersFrom(api: CoreApi, { kind, prefix, mark, encoding, withZeros }: Wanted) {
  const begin = Buffer.from(kind + prefix);
  const marked = Buffer.from(mark);
  const reply = new Stats(await api.queryStats(kind + prefix));
  const byName = new Map<string, { name: string; up: number; down: number }>();
  const slice = new TimeSlice();
  for (let read = 1; reply.next(); read++) {
    if (read % LOOK_AT_CLOCK_EVERY === 0 && slice.isOver) await slice.next();
    const isUp = reply.endsWith(UP);
    // the core matches the pattern anywhere in the name
    if (reply.value === 0 && !withZeros) continue;
    if (!reply.startsWith(begin) || !(isUp || reply.endsWith(DOWN))) continue;
    let after = (isUp ? UP : DOWN).length;
    if (reply.endsWith(marked, after)) after += marked.length;
    const name = reply.name(kind.length, after, encoding);
    let counter = byName.get(name);
    if (!counter) byName.set(name, (counter = { name, up: 0, down: 0 }));
    counter[isUp ? 'up' : 'down'] = reply.value;
  }
  return [...byName.values()];
}

/** Reads one counter after the other, in place: as a message of its own and a text, each costs four times as much, and there are 200,000 with 100,000 clients. */
class Stats {
  readonly #bytes: Buffer;
  #at = 0;
  #from = 0;
  #to = 0;
  /** a safe number, not below zero */
  value = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Moves to the next counter; false at the end. */
  next(): boolean {
    if (this.#at >= this.#bytes.length) return false;
    [this.#from, this.#to, this.value] = [0, 0, 0];
    this.#expect(STAT, this.#varint());
    const end = this.#varint() + this.#at;
    while (this.#at < end) {
      const key = this.#varint();
      const number = this.#varint();
      if (key === VALUE) this.value = number < NEGATIVE ? Math.min(number, Number.MAX_SAFE_INTEGER) : 0;
      else {
        this.#expect(NAME, key);
        this.#from = this.#at;
        this.#to = this.#at += number;
      }
    }
    return true;
  }

  startsWith(text: Buffer): boolean {
    return this.#hasAt(this.#from, text);
  }
  /** `before`: so many bytes at its end */
  endsWith(text: Buffer, before = 0): boolean {
    return this.#hasAt(this.#to - before - text.length, text);
  }
  /** Without so many bytes at its beginning and end. */
  name(before: number, after: number, encoding: Wanted['encoding']): string {
    return this.#bytes.toString(encoding, this.#from + before, this.#to - after);
  }

  #hasAt(at: number, text: Buffer): boolean {
    if (at < this.#from || at + text.length > this.#to) return false;
    for (let i = 0; i < text.length; i++) if (this.#bytes[at + i] !== text[i]) return false;
    return true;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; this.#at < this.#bytes.length; scale *= 128) {
      const byte = this.#bytes[this.#at++] as number;
      value += (byte & 127) * scale;
      if (byte < 128) break;
    }
    return value;
  }

  #expect(key: number, found: number): void {
    if (found !== key) throw new Error(`the core sent its counters with the unknown key ${found}`);
  }
}

// Lines of Xray's access log, e.g.
// 2026/11/21 05:24:38.326889 from 127.0.1.1:48439 accepted tcp:127.0.0.1:45447 [in-a >> direct] email: i1.c2~mark
import type { LoggedConnection } from '../driver.js';
import type { NameMark } from './name-mark.js';

/** `YYYY/MM/DD HH:MM:SS.ffffff` */
const TIME = 26;
const FROM = ' from ';
const ACCEPTED = ' accepted ';
const EMAIL = ' email: ';

/** Most lines of a batch are of the same second. */
let last = { second: '', at: 0 };

/** The core writes local time: panel and core share the machine, and `TZ`. */
export function timeOf(line: string): number {
  const second = line.slice(0, 19);
  if (second !== last.second) {
    const [year, month, day, hour, minute, seconds] = second.split(/\D/).map(Number);
    last = {
      second,
      at: new Date(year ?? 0, (month ?? 0) - 1, day, hour, minute, seconds).getTime(),
    };
  }
  return last.at;
}

/**
 * Undefined for a line without a user, of a rejected login, of a peer on UDP. Between peer and user stands the target,
 * which the user chooses: so the peer is read from the start of the line, and the user from its end. A whole line may be
 * what a user wrote: its name has no mark.
 */
export function connectionOf(line: string, names: Pick<NameMark, 'plain'>): LoggedConnection | undefined {
  if (!line.startsWith(FROM, TIME)) return undefined;
  let begin = TIME + FROM.length;
  const end = line.indexOf(' ', begin);
  if (end < 0 || !line.startsWith(ACCEPTED, end)) return undefined;
  const email = line.lastIndexOf(EMAIL);
  if (email < end || line.startsWith('udp:', begin)) return undefined;
  if (line.startsWith('tcp:', begin)) begin += 4;
  const colon = line.lastIndexOf(':', end - 1);
  const port = Number(line.slice(colon + 1, end));
  const name = names.plain(line.slice(email + EMAIL.length));
  if (colon <= begin || !Number.isInteger(port) || name === undefined) return undefined;
  const bracketed = line[begin] === '[' && line[colon - 1] === ']';
  return {
    name,
    address: bracketed ? line.slice(begin + 1, colon - 1) : line.slice(begin, colon),
    port,
    at: timeOf(line),
  };
}

const INVALID_NAME = 'invalid domain name: ';

/** Whether the core has written this line to its end: with the way that it took. */
function isWhole(line: string): boolean {
  const email = line.lastIndexOf(EMAIL);
  return line.charAt((email < 0 ? line.length : email) - 1) === ']';
}

/**
 * Reads lines in their order. A target with a line break makes several lines of one message: of hysteria, where it may have
 * any character but brackets, the last of them bears the user's own name and any address. It counts for nothing.
 */
export class AccessLines {
  readonly #names: Pick<NameMark, 'plain'>;
  /** the first lines of a message were read, and not its last */
  #isBroken = false;
  /** a refused target may have any lines; they must not hide the next one of the core */
  #isRefused = false;

  constructor(names: Pick<NameMark, 'plain'>) {
    this.#names = names;
  }

  connectionOf(line: string): LoggedConnection | undefined {
    if (isWhole(line)) {
      const isLast = this.#isBroken;
      this.#isBroken = false;
      const connection = isLast ? undefined : connectionOf(line, this.#names);
      if (connection) this.#isRefused = false;
      return connection;
    }
    if (!line.startsWith(FROM, TIME)) return undefined;
    if (line.includes(INVALID_NAME)) this.#isRefused = true;
    else if (!this.#isRefused && line.startsWith(ACCEPTED, line.indexOf(' ', TIME + FROM.length)))
      this.#isBroken = true;
    return undefined;
  }
}

// Lines of Xray's access log, e.g.
// 2026/11/21 05:24:38.326889 from 127.0.1.1:48439 accepted tcp:127.0.0.1:45447 [in-a >> direct] email: i1.c2
import type { LoggedConnection } from '../driver.js';

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
 * which the user chooses: so the peer is read from the start of the line, and the user from its end.
 */
export function connectionOf(line: string): LoggedConnection | undefined {
  if (!line.startsWith(FROM, TIME)) return undefined;
  let begin = TIME + FROM.length;
  const end = line.indexOf(' ', begin);
  if (end < 0 || !line.startsWith(ACCEPTED, end)) return undefined;
  const email = line.lastIndexOf(EMAIL);
  if (email < end || line.startsWith('udp:', begin)) return undefined;
  if (line.startsWith('tcp:', begin)) begin += 4;
  const colon = line.lastIndexOf(':', end - 1);
  const port = Number(line.slice(colon + 1, end));
  if (colon <= begin || !Number.isInteger(port)) return undefined;
  const bracketed = line[begin] === '[' && line[colon - 1] === ']';
  return {
    name: line.slice(email + EMAIL.length),
    address: bracketed ? line.slice(begin + 1, colon - 1) : line.slice(begin, colon),
    port,
    at: timeOf(line),
  };
}

// A whole line of Xray's access log, for people:
// 2026/11/21 05:24:38.326889 from tcp:1.2.3.4:48439 accepted tcp:example.com:443 [in-a -> direct] email: i1.c2
// 2026/11/21 05:24:38.326889 from 1.2.3.4:48439 rejected  proxy/vless/encoding: invalid request user id
import type { LogLine } from '../driver.js';
import { timeOf } from './access-line.js';
import { API_TAG } from './config-text.js';
import type { NameMark } from './name-mark.js';
import { readBackwards } from './log-tail.js';

/** 50,000 lines or more */
const MOST_BYTES = 8 * 1024 * 1024;

const HEAD =
  /^\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2}\.\d{6} from (?:(?:tcp|udp|unix):)?(\S+) (accepted|rejected) /;
/** How the core marks why an outbound was taken: by a rule, as the first one, by force. */
const ARROW = / (?:->|>>|==>) /;
const EMAIL = ' email: ';

/**
 * Undefined for anything else. The user chooses the target, so what the core writes after it is read from the end of the
 * line. A line with a name without the mark is what a user wrote.
 */
export function logLineOf(text: string, names: Pick<NameMark, 'plain'>): LogLine | undefined {
  const [head, from = '', verb] = HEAD.exec(text) ?? [];
  if (head === undefined) return undefined;
  const at = timeOf(text);
  if (verb === 'rejected') return { at, from, to: '', inbound: '', outbound: '', name: '' };
  let end = text.length;
  const email = text.lastIndexOf(EMAIL);
  // Without a user, the text with the email would be a part of the target.
  const hasName = email > 0 && !text.includes(' ', email + EMAIL.length);
  const name = hasName ? names.plain(text.slice(email + EMAIL.length)) : '';
  if (name === undefined) return undefined;
  if (hasName) end = email;
  const [route] = text[end - 1] === ']' ? [text.lastIndexOf(' [', end)] : [];
  const [inbound = '', outbound = ''] =
    route === undefined ? [] : text.slice(route + 2, end - 1).split(ARROW);
  return {
    at,
    from,
    to: text.slice(head.length, route ?? end),
    inbound,
    outbound,
    name,
  };
}

/** The last line first, until the listener returns false or 8 MiB were read. `begin` is the place where the newest file begins. */
export const readLog = (
  paths: Iterable<string>,
  names: Pick<NameMark, 'plain'>,
  listener: (line: LogLine, place: number) => boolean,
  begin = 0,
): Promise<void> =>
  readBackwards(
    paths,
    MOST_BYTES,
    (text, place) => {
      const line = logLineOf(text, names);
      // The panel's own calls are no connections of users.
      return line === undefined || line.inbound === API_TAG || listener(line, place);
    },
    begin,
  );

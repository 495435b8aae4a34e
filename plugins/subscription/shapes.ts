// What plugins may add to subscriptions: ways to reach an inbound, headers, formats.
import { anything, checkedList, custom, optional, port, shape, text } from '../../kernel/index.js';
import { InboundShape, type Protocol } from '../inbounds/contract.js';
import type { Format } from './contract.js';

/** An object with methods stays the object that it is. */
const protocol = () =>
  custom<Protocol>(
    anything().custom((value: unknown) => {
      const { name, link } = value as Partial<Protocol>;
      if (typeof name !== 'string' || typeof link !== 'function') throw new Error('it must be a Protocol');
      return value;
    }),
  );
const line = (what: string) =>
  text()
    .max(255)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, what);

/** of a draft's `Entry` */
export const entryShape = shape({
  inbound: InboundShape,
  protocol: protocol(),
  hostRemark: line('text of one line without control characters'),
  address: optional(
    text()
      .max(255)
      .pattern(/^[^\s\p{Cc}\p{Cs}/@#?]*$/u, 'host name or address'),
  ),
  port: optional(port()),
});

const MOST_HEADERS = 100;
const LONGEST_HEADER = 8192;
/** Header names and values as HTTP/1.1 takes them (RFC 9110, section 5); those of the connection are the server's own. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Those of the body are not theirs either: a tap cannot change it. */
const OF_THE_CONNECTION =
  /^(?:connection|content-encoding|content-length|content-range|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

function headerProblem(item: unknown): string | undefined {
  if (!Array.isArray(item) || item.length !== 2) return 'a header is a pair of name and value';
  const [name, value] = item as unknown[];
  if (typeof name !== 'string' || !NAME.test(name) || OF_THE_CONNECTION.test(name))
    return 'its name is not one of a header that a reply may have';
  return typeof value === 'string' && value.length <= LONGEST_HEADER && VALUE.test(value)
    ? undefined
    : `the value of ${name} must be text of one line in Latin-1, of at most ${LONGEST_HEADER} characters`;
}
/** Characters of all headers together: programs and proxies take 8 to 16 KiB. */
const MOST_CHARACTERS = 12 * 1024;
export function headersProblem(headers: readonly (readonly [string, string])[]): string | undefined {
  const length = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  return length > MOST_CHARACTERS
    ? `all headers together have ${length} characters; client programs take at most ${MOST_CHARACTERS}`
    : undefined;
}
export const headersShape = checkedList<readonly [string, string]>(MOST_HEADERS, headerProblem);

/** What keeps a format from being served at all. */
export function formatProblem(format: Format): string | undefined {
  const { name, contentType, pathSetting } = format;
  if (typeof name !== 'string' || !/^[\w.~-]+$/.test(name))
    return 'a format needs a name of letters, digits, - _ . and ~';
  if (typeof contentType !== 'string' || contentType === '' || !VALUE.test(contentType))
    return `the contentType of the format ${name} must be the value of that header`;
  if (pathSetting !== undefined && typeof pathSetting !== 'string')
    return `the pathSetting of the format ${name} must be the name of a setting`;
  const missing = (['prefix', 'compile', 'body'] as const).find((key) => typeof format[key] !== 'function');
  return missing && `the format ${name} needs a function ${missing}`;
}

// Checks of what plugins add to subscriptions: ways to reach an inbound, headers, formats.
import {
  bool,
  checkedList,
  inspect,
  list,
  optional,
  shape,
  text,
  word,
  sentenceOf,
} from '../../kernel/index.js';
import { EntryTemplateShape } from '../inbounds/contract.js';
import type { DocumentFormat, Format, ListFormat, Renderer } from './contract.js';

const line = (what: string) =>
  text()
    .max(256)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, what);

/** of a draft's `Way` */
export const wayShape = shape({
  hostRemark: line('text of one line without control characters'),
  entry: EntryTemplateShape,
  notIn: optional(list(word()).max(100)),
  hidden: optional(bool()),
  shuffle: optional(word().max(255)),
});

const MOST_HEADERS = 100;
const LONGEST_HEADER = 8192;
/** Header names and values of HTTP/1.1 (RFC 9110, section 5); headers of the connection belong to the server. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers of the body are not allowed either: a tap cannot change it. */
const OF_THE_CONNECTION =
  /^(?:connection|content-encoding|content-length|content-range|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

function headerProblem(item: unknown): string | undefined {
  if (!Array.isArray(item) || item.length !== 2) return 'a header is a pair of name and value';
  const [name, value] = item as unknown[];
  if (typeof name !== 'string' || !NAME.test(name) || OF_THE_CONNECTION.test(name))
    return 'its name is not allowed for a header of a reply';
  return typeof value === 'string' && value.length <= LONGEST_HEADER && VALUE.test(value)
    ? undefined
    : `the value of ${name} must be text of one line in Latin-1, of at most ${LONGEST_HEADER} characters`;
}
/** Most characters of all headers together: programs and proxies accept 8 to 16 KiB. */
const MOST_CHARACTERS = 12 * 1024;
export function sizeProblem(headers: readonly (readonly [string, string])[]): string | undefined {
  const length = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  return length > MOST_CHARACTERS
    ? `all headers together have ${length} characters; client programs accept at most ${MOST_CHARACTERS}`
    : undefined;
}
export const headersShape = checkedList<readonly [string, string]>(MOST_HEADERS, headerProblem);

/** Headers are written to the connection as they are: an invalid one could forge a reply. */
export function headersProblem(headers: unknown): string | undefined {
  const inspected = inspect(headersShape, headers);
  return 'issues' in inspected ? sentenceOf(inspected.issues) : sizeProblem(inspected.value);
}

/** The reason why a format cannot be served at all. */
export function formatProblem(format: Format): string | undefined {
  const { name, contentType, pathSetting } = format;
  if (typeof name !== 'string' || !/^[\w.~-]+$/.test(name))
    return 'a format needs a name of letters, digits, - _ . and ~';
  if (typeof contentType !== 'string' || contentType === '' || !VALUE.test(contentType))
    return `the contentType of the format ${name} must be the value of that header`;
  if (pathSetting !== undefined && typeof pathSetting !== 'string')
    return `the pathSetting of the format ${name} must be the name of a setting`;
  const {
    prefix,
    cannot,
    compile,
    body,
    document,
    uniqueNames,
    note,
    publicUrl,
    fileName,
    aliases,
    variantOf,
  } = format as Partial<ListFormat & DocumentFormat>;
  const isMissing = (fn: unknown) => typeof fn !== 'function';
  const either = `the format ${name} needs either the functions compile and body, or the function document`;
  if (isMissing(prefix)) return `the format ${name} needs a function prefix`;
  if (isMissing(cannot)) return `the format ${name} needs a function cannot`;
  if (note !== undefined && isMissing(note)) return `note of the format ${name} must be a function`;
  if (publicUrl !== undefined && isMissing(publicUrl))
    return `publicUrl of the format ${name} must be a function`;
  if (aliases !== undefined && isMissing(aliases)) return `aliases of the format ${name} must be a function`;
  if (variantOf !== undefined && typeof variantOf !== 'string')
    return `variantOf of the format ${name} must be the name of a format`;
  if (fileName !== undefined && (typeof fileName !== 'string' || !/^[\w.-]{1,100}$/.test(fileName)))
    return `fileName of the format ${name} must be letters, digits, - _ and .`;
  if (uniqueNames !== undefined && typeof uniqueNames !== 'boolean')
    return `uniqueNames of the format ${name} must be true or false`;
  if (document === undefined) return isMissing(compile) || isMissing(body) ? either : undefined;
  return isMissing(document) || compile !== undefined || body !== undefined ? either : undefined;
}

/** The reason why a renderer cannot be used at all. */
export function rendererProblem(renderer: Renderer): string | undefined {
  const { format, protocol, cannot, compile, render } = renderer;
  if (typeof format !== 'string' || format === '' || typeof protocol !== 'string' || protocol === '')
    return 'a renderer needs the name of a format and that of a protocol';
  if (cannot !== undefined && typeof cannot !== 'function')
    return `cannot of the renderer for ${format}/${protocol} must be a function`;
  const [made] = [compile, render].filter((fn) => fn !== undefined);
  return typeof made === 'function' && (compile === undefined || render === undefined)
    ? undefined
    : `the renderer for ${format}/${protocol} needs either a function compile or a function render`;
}

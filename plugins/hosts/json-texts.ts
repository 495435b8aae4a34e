// The JSON texts of a host: multiplexing, socket options and masks, in the form of a client's config of the core. They are
// stored as they were sent, and checked against the shapes of entries, so that what is stored also has an effect.
import { inspect, type Issue, jsonObject, type Schema, sentenceOf } from '../../kernel/index.js';
import {
  type FinalMask,
  finalMaskOf,
  FinalMaskShape,
  type Mux,
  MuxShape,
  type SocketOptions,
  SocketShape,
} from '../inbounds/contract.js';

type Json = Readonly<Record<string, unknown>>;
/** What a text means for an entry; `null`: nothing is said. */
type Read<T> = { readonly value: T | undefined } | { readonly problem: string };

const SEPARATORS = 2000;
const OBJECT = jsonObject(SEPARATORS);
/** Connections in one, where the text does not say. */
const MUX_OF_CORE = 8;

/** Forms of other panels write every key: these values say nothing. */
const saysNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (Array.isArray(value) && value.length === 0);
const said = (object: Json): [string, unknown][] =>
  Object.entries(object).filter(([, value]) => !saysNothing(value));
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unknownKey = (where: string, keys: readonly string[], known: readonly string[]): string | undefined => {
  const key = keys.find((name) => !known.includes(name));
  return (
    key && `${where} has the key ${key}, which has no effect in a subscription; there are ${known.join(', ')}`
  );
};

function shaped<T>(schema: Schema<T>, value: unknown): Read<T> {
  const result = inspect(schema, value);
  return 'value' in result ? { value: result.value as T } : { problem: sentenceOf(result.issues) };
}

/** The object in a text; undefined where there is none. */
function objectIn(text: string | null): Read<Json> {
  if (text === null || text.trim() === '') return { value: undefined };
  const result = inspect(OBJECT, text);
  if (!('value' in result)) return { problem: sentenceOf(result.issues) };
  return { value: result.value };
}
function read<T>(text: string | null, make: (object: Json) => Read<T>): Read<T> {
  const object = objectIn(text);
  if ('problem' in object) return object;
  return object.value === undefined || Object.keys(object.value).length === 0
    ? { value: undefined }
    : make(object.value);
}

/** `off`: the client multiplexes nothing, whatever the inbound says. Source: xtls.github.io, MuxObject. */
export const readMux = (text: string | null): Read<Mux | 'off'> =>
  read<Mux | 'off'>(text, (object) => {
    const { enabled = true, concurrency, ...rest } = object;
    if (typeof enabled !== 'boolean') return { problem: 'enabled must be true or false' };
    const problem = unknownKey('it', Object.keys(rest), ['xudpConcurrency', 'xudpProxyUDP443']);
    if (problem !== undefined) return { problem };
    // The core takes 0 for its own default.
    const mux: Read<Mux> = shaped(MuxShape, { concurrency: concurrency || MUX_OF_CORE, ...rest });
    return 'value' in mux && !enabled ? { value: 'off' } : mux;
  });

/** Names of the core, and those of entries. */
const SOCKET_NAMES: Readonly<Record<string, keyof SocketOptions>> = Object.fromEntries(
  [
    ...['tcpFastOpen', 'tcpMptcp', 'tcpNoDelay', 'tcpKeepAliveIdle', 'tcpKeepAliveInterval'],
    ...['tcpUserTimeout', 'tcpMaxSeg', 'mark', 'interface', 'domainStrategy', 'dialerProxy'],
    ...['tcpWindowClamp', 'addressPortStrategy', 'happyEyeballs'],
  ].map((name) => [name, name as keyof SocketOptions]),
);
const SOCKET: typeof SOCKET_NAMES = { ...SOCKET_NAMES, tcpcongestion: 'tcpCongestion' };

/** Source: xtls.github.io, SockoptObject. */
export const readSocket = (text: string | null): Read<SocketOptions> =>
  read<SocketOptions>(text, (object) => {
    const entries = said(object);
    const problem = unknownKey(
      'it',
      entries.map(([name]) => name),
      Object.keys(SOCKET),
    );
    if (problem !== undefined) return { problem };
    const options = Object.fromEntries(entries.map(([name, value]) => [SOCKET[name], value]));
    // The core also takes the length of the server's queue; for a client it only says on or off.
    if (typeof options['tcpFastOpen'] === 'number') options['tcpFastOpen'] = options['tcpFastOpen'] > 0;
    return entries.length === 0 ? { value: undefined } : shaped(SocketShape, options);
  });

/** The first thing in these masks that has no place in an entry. */
function lostOfMasks(where: 'tcp' | 'udp', masks: unknown): string | undefined {
  if (!Array.isArray(masks)) return `${where} must be a list of masks`;
  for (const [i, mask] of masks.entries()) {
    const at = `${where}.${i}`;
    if (!isObject(mask)) return `${at} must be an object with type and settings`;
    const { type, settings = {} } = mask;
    const [read] = finalMaskOf({ [where]: [mask] })?.[where] ?? [];
    if (!read)
      return `${at} is of the type ${JSON.stringify(type)}, or lacks a setting that this type needs; there are ${where === 'tcp' ? 'fragment (with length) and sudoku' : 'salamander (with password), mkcp-legacy and sudoku'}`;
    const problem = unknownKey(
      `${at}.settings`,
      said(isObject(settings) ? settings : {}).map(([name]) => name),
      Object.keys(read).filter((name) => name !== 'kind'),
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Source: xtls.github.io, FinalMaskObject. */
export const readMask = (text: string): Read<FinalMask> =>
  read<FinalMask>(text, (object) => {
    const entries = said(object);
    const { tcp, udp, quicParams = {} } = Object.fromEntries(entries);
    const problem =
      unknownKey(
        'it',
        entries.map(([name]) => name),
        ['tcp', 'udp', 'quicParams'],
      ) ??
      (tcp === undefined ? undefined : lostOfMasks('tcp', tcp)) ??
      (udp === undefined ? undefined : lostOfMasks('udp', udp)) ??
      (isObject(quicParams)
        ? unknownKey(
            'quicParams',
            said(quicParams).map(([name]) => name),
            ['udpHop'],
          )
        : 'quicParams must be an object');
    if (problem !== undefined) return { problem };
    const mask = finalMaskOf(object);
    return mask === undefined ? { value: undefined } : shaped(FinalMaskShape, mask);
  });

interface JsonTexts {
  readonly muxParams: string | null;
  readonly sockoptParams: string | null;
  readonly finalMask: string;
}
/** What is wrong with the texts, by the name of the field. */
export function jsonIssues(texts: Partial<JsonTexts>): Issue[] {
  const reads: readonly [path: keyof JsonTexts, Read<unknown>][] = [
    ['muxParams', readMux(texts.muxParams ?? null)],
    ['sockoptParams', readSocket(texts.sockoptParams ?? null)],
    ['finalMask', readMask(texts.finalMask ?? '')],
  ];
  return reads.flatMap(([path, result]) =>
    'problem' in result ? [{ path, message: `${path}: ${result.problem}` }] : [],
  );
}

/** The value of a text that was checked when it was saved. */
export const valueIn = <T>(result: Read<T>): T | undefined => ('value' in result ? result.value : undefined);

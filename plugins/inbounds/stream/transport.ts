// Declares a transport: the check of its settings, and what a client's side must know. One file per transport.
import { annotate, bool, list, openObject, optional, type Schema, text } from '../../../kernel/index.js';
import type { HttpHeaders, NumberRange, Transport as EntryTransport } from '../entry/transport.js';
import { advanced, maybe, section } from '../form.js';

export type Settings = Readonly<Record<string, unknown>>;

export interface Transport {
  /** as replies call it, and entries where client programs can have it without its protocol */
  readonly name: EntryTransport['kind'] | 'hysteria';
  readonly title: string;
  /** what the core takes as well */
  readonly alias: string | undefined;
  /** its key in `streamSettings`, and its other one */
  readonly keys: readonly string[];
  readonly settings: Schema;
  /** what a client must know; of settings that have passed the schema, and the stream that holds them */
  entry(settings: Settings, stream: Settings): EntryTransport;
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const objectOf = (value: unknown): Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Settings) : {};
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string' && item !== '') : [];

/** Undefined for what is no number and no range. */
export const rangeOf = (value: unknown): NumberRange | undefined =>
  typeof value === 'number' || (typeof value === 'string' && value !== '') ? value : undefined;

/** Text that stands in a URL or a header line. */
export const oneWord = (name: string) => text().pattern(/^[^\s\p{Cc}\p{Cs}]*$/u, `${name} without spaces`);
export const words = () => list(oneWord('text'));
export const pathAndHost = {
  ...section('Transport', {
    path: annotate(optional(oneWord('path')), { initial: '/' }).description('path of the request'),
    host: optional(oneWord('host')).description('host that clients name; empty for any'),
  }),
  ...advanced('Transport', {
    headers: optional(openObject()).description('further headers by name'),
  }),
};
/** Behind a proxy that tells the address of the client (PROXY protocol). */
export const behindProxy = advanced('Transport', {
  acceptProxyProtocol: maybe(bool()).description(
    'a proxy in front tells the address of the client by the PROXY protocol',
  ),
});

/** Returns the Host header that a client must send: the setting of its own, or the one among the headers (a text, or the first of a list). */
export function hostOf(settings: Settings): string {
  return textOf(settings['host']) || headerHost(settings['headers']);
}
export function headerHost(headers: unknown): string {
  const value = Object.entries(objectOf(headers)).find(([name]) => name.toLowerCase() === 'host')?.[1];
  return Array.isArray(value) ? textOf(value[0]) : textOf(value);
}
/** Headers but for `Host`; undefined when there are none. */
export function headersOf(settings: Settings): HttpHeaders | undefined {
  const headers = Object.entries(objectOf(settings['headers'])).filter(
    (header): header is [string, string] =>
      typeof header[1] === 'string' && header[0].toLowerCase() !== 'host',
  );
  return headers.length > 0 ? Object.fromEntries(headers) : undefined;
}
export const pathOf = (settings: Settings): string => textOf(settings['path']) || '/';

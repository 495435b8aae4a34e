// What one transport is to a panel: a check of its settings and what links say of them. One file per transport.
import { list, openObject, optional, type Schema, text } from '../../../kernel/index.js';

export type Settings = Readonly<Record<string, unknown>>;

export interface Transport {
  /** as links and replies call it */
  readonly name: string;
  /** what the core takes as well */
  readonly alias: string | undefined;
  /** its key in `streamSettings`, and its other one */
  readonly keys: readonly string[];
  readonly settings: Schema;
  /** Parameters of a share link beside `type`. Source: XTLS/Xray-core discussion 716. */
  query(settings: Settings): Record<string, string>;
  /** Fields of v2rayN's JSON beside `net`. Source: 2dust/v2rayN, "Description of VMess share link". */
  vmess(settings: Settings): Record<string, unknown>;
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const objectOf = (value: unknown): Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Settings) : {};
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string' && item !== '') : [];

/** Text that stands in a URL or a header line. */
export const oneWord = (name: string) => text().pattern(/^[^\s\p{Cc}\p{Cs}]*$/u, `${name} without spaces`);
export const words = () => list(oneWord('text'));
export const pathAndHost = {
  path: optional(oneWord('path')),
  host: optional(oneWord('host')),
  headers: optional(openObject()),
};

/** The Host header that a client program shall send: the setting of its own, or one among the headers (a text, or a list of which the first counts). */
export function hostOf(settings: Settings): string {
  return textOf(settings['host']) || headerHost(settings['headers']);
}
export function headerHost(headers: unknown): string {
  const value = Object.entries(objectOf(headers)).find(([name]) => name.toLowerCase() === 'host')?.[1];
  return Array.isArray(value) ? textOf(value[0]) : textOf(value);
}
export const pathOf = (settings: Settings): string => textOf(settings['path']) || '/';

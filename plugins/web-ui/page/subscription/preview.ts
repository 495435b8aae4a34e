// What the subscription server would send, as people read it.
import type { SettingsSubscriptionPreviewReply } from '../../../../sdk/index.js';

export type Preview = SettingsSubscriptionPreviewReply;

/** How programs name themselves; the panel may choose a format by it. */
export const PROGRAMS = [
  ['v2rayNG', 'v2rayNG/1.10.8'],
  ['v2rayN', 'v2rayN/7.12.5'],
  ['Happ', 'Happ/3.13.0'],
  ['Hiddify', 'HiddifyNext/2.5.7'],
  ['Streisand', 'Streisand/1.6.50'],
  ['Clash Verge', 'clash-verge/v2.2.3'],
  ['mihomo', 'mihomo/1.19.2'],
  ['sing-box', 'SFA/1.11.4 (525; sing-box 1.11.4)'],
] as const;

export interface ShownBody {
  readonly text: string;
  /** it is sent as base64 */
  readonly isEncoded: boolean;
}

const BASE64 = /^[A-Za-z\d+/]+={0,2}$/;

/** Undefined for what is no base64 of a text. */
function decoded(text: string): string | undefined {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export function shownBody(body: string): ShownBody {
  const plain = decoded(body.trim());
  return plain === undefined ? { text: pretty(body), isEncoded: false } : { text: plain, isEncoded: true };
}

/** Headers as they are sent, with what they say in base64 beside it. */
export function headerRows(headers: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(headers).map(([name, sent]) => {
    const inside = sent.startsWith('base64:') ? decoded(sent.slice('base64:'.length)) : undefined;
    return { name, value: inside ?? sent };
  });
}

export interface LineChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Lines that only one of two texts has, wherever they stand. */
export function lineChanges(before: string, after: string): LineChanges {
  const counts = new Map<string, number>();
  for (const line of before.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1);
  const added: string[] = [];
  for (const line of after.split('\n')) {
    const count = counts.get(line) ?? 0;
    if (count > 0) counts.set(line, count - 1);
    else added.push(line);
  }
  const removed = [...counts].flatMap(([line, count]) => Array.from({ length: count }, () => line));
  return { added, removed };
}

/** A line that is another now is one change. */
export const lineCount = ({ added, removed }: LineChanges): number => Math.max(added.length, removed.length);

/** A digest of the rest: it would be one more change each time. */
const DIGEST = 'etag';
/** A whole reply as one text, to say what a save has changed. */
export const wholeText = ({ status, headers, body }: Pick<Preview, 'status' | 'headers' | 'body'>): string =>
  [
    String(status),
    ...headerRows(headers)
      .filter(({ name }) => name.toLowerCase() !== DIGEST)
      .map(({ name, value }) => `${name}: ${value}`),
    shownBody(body).text,
  ].join('\n');

// The name in a link, and the same link under another name. Also for schemes that nobody reads: a link is sent on as it is.
import { type Link, shownName, splitLink } from './link.js';
import { inBase64, isObject } from './text.js';

/** Their links have no place for a name behind them. */
const WITHOUT_NAME: readonly string[] = ['tg', 'vpn'];

const percent = (c: string): string => `%${c.charCodeAt(0).toString(16).toUpperCase()}`;
const escaped = (text: string): string =>
  encodeURIComponent(text.replaceAll(/\p{Cs}/gu, '\uFFFD')).replaceAll(/[!'()*]/g, percent);

/** The JSON of VMess; undefined for anything else. */
function configOf({ scheme, body }: Link): Readonly<Record<string, unknown>> | undefined {
  if (scheme !== 'vmess' || body.includes('@')) return undefined;
  try {
    const config: unknown = JSON.parse(inBase64(body.trim()) ?? '');
    return isObject(config) ? config : undefined;
  } catch {
    return undefined;
  }
}

export function nameIn(text: string): string {
  const link = splitLink(text);
  const name = configOf(link)?.['ps'];
  return typeof name === 'string' ? shownName(name) : link.name;
}

export function renamed(text: string, name: string): string {
  const link = splitLink(text);
  if (WITHOUT_NAME.includes(link.scheme)) return text;
  const config = configOf(link);
  const start = text.trim().slice(0, link.scheme.length + '://'.length);
  if (config) return `${start}${Buffer.from(JSON.stringify({ ...config, ps: name })).toString('base64')}`;
  const { description } = link;
  const tail = description && `?serverDescription=${Buffer.from(description).toString('base64')}`;
  const fragment = escaped(name) + tail;
  return start + link.body + (fragment === '' ? '' : `#${fragment}`);
}

// A copy of an inbound, what its removal loses, and documents that are imported.
import { parseDocument } from '../forms/json-text.js';
import { isRecord, type Values } from '../forms/schema.js';
import { jsonOf } from '../forms/values.js';
import { documentOf, type ProtocolsReply } from './document.js';

/** Above those that systems use. */
export const anyPort = (random: () => number = Math.random): number => 20_000 + Math.floor(random() * 12_000);

/** A new inbound like this one, without its clients: on another port, with a tag that the panel makes. */
export function copyOf(stored: Values, schemas: ProtocolsReply, remark: string): Values {
  const { tag: _, ...rest } = documentOf(stored, schemas);
  // Another port next to the first one is as easy to remember, but often taken.
  return { ...rest, remark, port: stored['port'] === 0 ? 0 : anyPort() };
}

/** Most clients that an import takes. */
export const MOST_CLIENTS = 20_000;
export type Loss = 'fallbacks' | 'hosts' | 'clients';

/** What an import of the deleted inbound would not bring back. */
export function lossesOf(
  stored: Values,
  { fallbacks, hosts }: { readonly fallbacks: number; readonly hosts: number },
): Loss[] {
  const isChild = stored['fallbackParent'] !== undefined && stored['fallbackParent'] !== null;
  return [
    ...(fallbacks > 0 || isChild ? (['fallbacks'] as const) : []),
    ...(hosts > 0 ? (['hosts'] as const) : []),
    ...(clientCount(stored) > MOST_CLIENTS ? (['clients'] as const) : []),
  ];
}

/** Other programs store the settings as text. */
export function clientCount({ settings }: Values): number {
  const own = typeof settings === 'string' ? jsonOf(settings)?.value : settings;
  const clients = isRecord(own) ? own['clients'] : undefined;
  return Array.isArray(clients) ? clients.length : 0;
}

export interface Imported {
  readonly document?: Values;
  readonly fault?: { readonly kind: 'syntax' | 'protocol' | 'clients'; readonly line: number };
}

/** One inbound as `inbounds/get` shows it, or the whole reply with it. */
export function importedOf(text: string): Imported {
  const { document, line = 1 } = parseDocument(text);
  if (!document) return { fault: { kind: 'syntax', line } };
  const inner = document['obj'];
  const inbound = document['protocol'] === undefined && isRecord(inner) ? inner : document;
  if (typeof inbound['protocol'] !== 'string') return { fault: { kind: 'protocol', line: 1 } };
  if (clientCount(inbound) > MOST_CLIENTS) return { fault: { kind: 'clients', line: 1 } };
  return { document: inbound };
}

/** The link of a client that leads to this port; else the first. */
export function linkTo(links: readonly string[], port: number): string | undefined {
  return links.find((link) => portOf(link) === port) ?? links[0];
}

function portOf(link: string): number | undefined {
  try {
    if (link.startsWith('vmess://')) {
      const inner = jsonOf(atob(link.slice('vmess://'.length)))?.value;
      return isRecord(inner) ? Number(inner['port']) : undefined;
    }
    // Browsers parse what stands after a scheme that they do not know only in part.
    return Number(new URL(link.replace(/^[a-z\d+.-]+:/i, 'http:')).port || 80);
  } catch {
    return undefined;
  }
}

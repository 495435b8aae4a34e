// An inbound as the form and the JSON view edit it: one document, whose unknown keys survive.
import { lineOf } from '../forms/json-lines.js';
import { parseDocument } from '../forms/json-text.js';
import { isRecord, type JsonSchema, type Values } from '../forms/schema.js';
import { changedOf, initialOf, jsonOf } from '../forms/values.js';

export interface ProtocolSchema {
  readonly name: string;
  readonly title: string;
  /** `program`: a program of its own, in place of the core */
  readonly runBy?: 'core' | 'program';
  readonly streams: readonly { readonly network: string; readonly securities: readonly string[] }[];
  readonly settings: JsonSchema;
}
export interface ProtocolsReply {
  readonly inbound: JsonSchema;
  readonly protocols: readonly ProtocolSchema[];
}
interface PartSchema {
  readonly name: string;
  readonly title: string;
  readonly key: string;
  readonly settings: JsonSchema | null;
}
export interface TransportsReply {
  readonly networks: readonly PartSchema[];
  readonly securities: readonly PartSchema[];
  readonly sniffing: JsonSchema;
}

const PARTS = ['settings', 'streamSettings', 'sniffing'] as const;
export const partOf = (document: Values, name: string): Values => (document[name] ?? {}) as Values;

/** The fields of an inbound beside its protocol, which is chosen first. */
export function fieldsBeside({ inbound }: ProtocolsReply): JsonSchema {
  const { protocol: _, ...properties } = inbound.properties ?? {};
  return { ...inbound, properties };
}

/** What of a stored inbound can be edited. Its clients have pages of their own, and stay as they are. */
export function documentOf(stored: Values, schemas: ProtocolsReply): Values {
  const names = [...Object.keys(fieldsBeside(schemas).properties ?? {}), 'protocol', ...PARTS];
  const document = Object.fromEntries(
    names.flatMap((name) => {
      const value = stored[name];
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );
  const { clients: _, ...settings } = partOf(document, 'settings');
  return 'settings' in document ? { ...document, settings } : document;
}

/**
 * The stream with another network or security: with the parts that it needs then, and without those of the other choices.
 * `typed`: parts that were typed before, for a reader who chooses back.
 */
export function withStream(
  stream: Values,
  network: string,
  security: string,
  { networks, securities }: TransportsReply,
  typed: Values = {},
): Values {
  const parts = [
    networks.find(({ name }) => name === network),
    securities.find(({ name }) => name === security),
  ];
  const needed = parts.map((part) => part?.key);
  const made: Record<string, unknown> = { ...stream, network, security };
  for (const { key } of [...networks, ...securities]) if (!needed.includes(key)) delete made[key];
  for (const part of parts)
    if (part?.settings && part.key !== '') made[part.key] ??= typed[part.key] ?? initialOf(part.settings);
  return made;
}

/** A new inbound of a protocol. What was typed of the inbound itself stays. */
export function newDocument(
  protocol: ProtocolSchema,
  schemas: ProtocolsReply,
  transports: TransportsReply,
  typed: Values,
): Values {
  const { settings: _, streamSettings: __, ...kept } = typed;
  const stream = protocol.streams[0];
  return {
    ...initialOf(fieldsBeside(schemas)),
    ...kept,
    protocol: protocol.name,
    settings: initialOf(protocol.settings),
    ...(stream && {
      streamSettings: withStream({}, stream.network, stream.securities[0] ?? 'none', transports),
    }),
  };
}

/** What a value is when nobody wants it any more; undefined where it cannot be taken away. */
function blankOf(value: unknown, schema: JsonSchema | undefined): unknown {
  const kinds = [schema?.type ?? [], ...(schema?.anyOf ?? []).map(({ type }) => type ?? [])].flat();
  if (typeof value === 'number') return kinds.includes('null') ? null : 0;
  return isRecord(value) ? {} : undefined;
}

/** What to send for an edit: only parts that were changed. What was taken away is sent blank, because what is not sent stays. */
export function editOf(before: Values, after: Values, { inbound }: Pick<ProtocolsReply, 'inbound'>): Values {
  const gone = Object.entries(before).flatMap(([name, value]) => {
    const blank = after[name] === undefined ? blankOf(value, inbound.properties?.[name]) : undefined;
    return blank === undefined || JSON.stringify(blank) === JSON.stringify(value) ? [] : [[name, blank]];
  });
  return { ...Object.fromEntries(gone), ...changedOf(before, after) };
}

/** What the reader changed, field by field, above what somebody else has saved meanwhile. */
export function mergedAbove(before: Values, mine: Values, theirs: Values): Values {
  const merged: Record<string, unknown> = { ...theirs };
  for (const name of new Set([...Object.keys(before), ...Object.keys(mine)])) {
    const [old, own, other] = [before[name], mine[name], theirs[name]];
    if (JSON.stringify(old) === JSON.stringify(own)) continue;
    if (own === undefined) delete merged[name];
    else
      merged[name] = isRecord(old) && isRecord(own) && isRecord(other) ? mergedAbove(old, own, other) : own;
  }
  return merged;
}

export interface ParsedInbound {
  readonly document?: Values;
  readonly fault?: {
    /** `clients`: the panel would detach all other clients of the inbound */
    readonly kind: 'syntax' | 'clients';
    /** from 1 on */
    readonly line: number;
  };
}

export function parseInbound(text: string): ParsedInbound {
  const { document, line = 1 } = parseDocument(text);
  if (!document) return { fault: { kind: 'syntax', line } };
  const clients = clientsLine(text, document['settings']);
  return clients === undefined ? { document } : { fault: { kind: 'clients', line: clients } };
}

/** The line of `settings.clients`. The panel takes settings as text as well, as other programs store them. */
function clientsLine(text: string, settings: unknown): number | undefined {
  const isText = typeof settings === 'string';
  const sent = isText ? jsonOf(settings)?.value : settings;
  if (!isRecord(sent) || !Object.hasOwn(sent, 'clients')) return undefined;
  return lineOf(text, isText ? 'settings' : 'settings.clients');
}

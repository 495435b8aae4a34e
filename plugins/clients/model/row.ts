// A client as it is held in memory.
import type { Credentials } from '../../inbounds/contract.js';
import { copierOf } from './copier.js';
import { declaredFields, type ClientFields, fewValued, fields } from './fields.js';

/** What the other tables say about a client. */
const RELATED = ['inboundIds', 'credentials', 'up', 'down', 'lastOnline', 'lastSubFetch'] as const;

export interface ClientRow extends ClientFields {
  readonly id: number;
  /** ascending; shared between clients, never mutated */
  inboundIds: readonly number[];
  /** what the client has in single inbounds only, by inbound, ascending; null for most clients. Never mutated */
  credentials: Credentials | null;
  /** bytes over all inbounds */
  up: number;
  down: number;
  /** Unix ms; 0 for never */
  lastOnline: number;
  lastSubFetch: number;
}

/** Returns a copy. All rows in memory are made here, so that they have one hidden class. */
export const rowOf = copierOf<ClientRow, ClientRow>(
  ['id', ...fields.names, ...RELATED].map((name) => [name, name]),
);

/** A row as the roster's SELECT gives it. */
export type StoredClient = Omit<ClientRow, 'inboundIds' | 'credentials'> & {
  readonly inboundIds: string | null;
};

const converted = Object.entries(declaredFields).flatMap(([name, { column }]) =>
  column.read ? [[name, column.read] as const] : [],
);
/** A driver makes a text again for each row that it reads. */
const held = new Map<unknown, unknown>();

/** Brings stored values into the form that code uses; `inboundIds` are those of the row. Writes into `stored`, which the SELECT made for it: the start reads 100,000 of them. */
export function readRow(stored: StoredClient, inboundIds: readonly number[]): ClientRow {
  const values = stored as unknown as Record<string, unknown>;
  for (const [name, read] of converted) values[name] = read(values[name]);
  for (const name of fewValued) {
    const value = held.get(values[name]);
    if (value === undefined) held.set(values[name], values[name]);
    else values[name] = value;
  }
  values['inboundIds'] = inboundIds;
  values['credentials'] = null;
  return rowOf(values as unknown as ClientRow);
}

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

/** What the roster's SELECT gives of a client, in this order. */
export const storedNames = ['id', ...fields.names, ...RELATED.filter((name) => name !== 'credentials')];
const rowOfStored = copierOf<readonly unknown[], ClientRow>([
  ...['id', ...fields.names, ...RELATED].map((name): [string, string?] => {
    const place = storedNames.indexOf(name);
    return place === -1 ? [name] : [name, String(place)];
  }),
]);
const INBOUND_IDS = storedNames.indexOf('inboundIds');
const converted = Object.entries(declaredFields).flatMap(([name, { column }]) =>
  column.read ? [[storedNames.indexOf(name), column.read] as const] : [],
);
const fewValuedPlaces = fewValued.map((name) => storedNames.indexOf(name));
/** Each row that is read has texts of its own. */
const held = new Map<unknown, unknown>();

/**
 * Brings stored values into the form that code uses. They come as one JSON text: as an object with a property for each
 * column, which the driver makes and Sequelize copies, a row costs 6 KB of garbage, and the start reads 100,000 of them.
 * `inboundIdsOf` brings a list such as `1,3` into the form of a row.
 */
export function readRow(stored: string, inboundIdsOf: (list: string) => readonly number[]): ClientRow {
  const values = JSON.parse(stored) as unknown[];
  for (const [place, read] of converted) values[place] = read(values[place]);
  for (const place of fewValuedPlaces) {
    const value = held.get(values[place]);
    if (value === undefined) held.set(values[place], values[place]);
    else values[place] = value;
  }
  values[INBOUND_IDS] = inboundIdsOf((values[INBOUND_IDS] as string | null) ?? '');
  return rowOfStored(values);
}

// What a node tells of itself to a central that may adopt it: the same on both sides.
type Fields = Readonly<Record<string, unknown>>;
export interface OfferedInbound {
  readonly id: number;
  readonly tag: string;
  /** guid and address of the machine that runs it: this one, or one below it */
  readonly originGuid: string;
  readonly originAddress: string;
  readonly value: Fields;
  readonly fallbacks: readonly Fields[];
  readonly up: number;
  readonly down: number;
  /** guid of the central that has it; blank for none */
  readonly managedBy: string;
}
/** One that the central has. */
export interface OwnInbound {
  readonly id: number;
  readonly localId: number;
  readonly originAddress: string;
}
export interface OfferedClient {
  readonly id: number;
  /** the id that the central has for it; 0 for one that it does not have */
  readonly recordId: number;
  readonly value: Fields;
  readonly inboundIds: readonly number[];
  readonly credentials: readonly Fields[];
  readonly up: number;
  readonly down: number;
  readonly lastOnline: number;
  readonly lastSubFetch: number;
  readonly resetCount: number;
  readonly managedBy: string;
}

/** Columns of a client that belong to one panel, or to what is counted there: they do not travel with it. */
export const NOT_OFFERED: readonly string[] = [
  ...['id', 'inboundIds', 'credentials', 'up', 'down', 'lastOnline', 'lastSubFetch', 'depletedCause'],
  ...['countedSince', 'resetCount', 'elsewhereUp', 'elsewhereDown', 'createdAt', 'updatedAt'],
];

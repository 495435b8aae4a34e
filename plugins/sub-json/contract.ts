// The JSON format: documents that contain several entries, which other plugins add.
import { extensionPoint } from '../../kernel/index.js';
import type { JsonObject } from '../engine/contract.js';

export { coreOutbound } from './core-outbound.js';

/** One of the outbounds of a group. */
export interface GroupMember {
  readonly tag: string;
  readonly inboundId: number;
}

/** How the core chooses among the outbounds of a group. Source: xtls.github.io, BalancerObject. */
export interface GroupBalancer {
  readonly strategy: JsonObject;
  /** taken while the strategy knows no outbound */
  readonly fallbackTag?: string;
  /** The strategy needs the delays of the outbounds: the document measures them, as `subJsonObservatory` says. */
  readonly measured: boolean;
}

/** One document with the entries of several inbounds, among which the core chooses. */
export interface DocumentGroup {
  /** name of the document */
  readonly remarks: string;
  /** The document comes after the entries of inbounds whose `subSortIndex` is not larger. */
  readonly place: number;
  /** Entries of these inbounds are in the document. A client who has none of them does not get it. */
  readonly inboundIds: readonly number[];
  /** begins the tags of the outbounds; no group's is the beginning of another's */
  readonly tagPrefix: string;
  /** Called when the entries of a group change, not for every fetch. */
  balancer(members: readonly GroupMember[]): GroupBalancer;
}

/** Adds documents of several entries. */
export interface DocumentGroups {
  /** Called for every fetch: return the same frozen list until a group changes, in the order of the documents. */
  groups(): readonly DocumentGroup[];
}
/** Plugins that add documents of several entries to the JSON format. */
export const DocumentGroupSources = extensionPoint<DocumentGroups>(
  'sub-json',
  'DocumentGroupSources',
  ({ groups }) => (typeof groups === 'function' ? undefined : 'groups of a source must be a function'),
);

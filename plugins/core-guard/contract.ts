// Checks of the core's config: files that the core would read or write, and connections of the core into the panel.
import { type Issue, token } from '../../kernel/index.js';

export { hostOf, plainAddress, type Reach, reachOf } from './address.js';
export { inboundAt } from './inbound-at.js';
export { isPrivate, PRIVATE_RANGES } from './private-ranges.js';
export { isSocket, socketName } from './socket-name.js';
export { fold as foldKey } from './walk.js';
export { goSeconds } from './go-duration.js';

/** Prefix of tags that are reserved for the panel. */
export const OWN_TAG_PREFIX = 'weir.';
/** Tag of the core's own API, which no part may name. */
export const CORE_API_TAG = `${OWN_TAG_PREFIX}api`;

/** JSON of an inbound, an outbound or a rule in the core's config. */
export type ConfigPart = Readonly<Record<string, unknown>>;

export interface Finding extends Issue {
  /** the entry of `WEIR_FALLBACK_DESTINATIONS` that would allow it, if any */
  readonly destination?: string;
}

/** Where an inbound listens. */
export interface ListeningPlace {
  readonly listen?: unknown;
  readonly port?: unknown;
  readonly enable?: unknown;
}
/** Other inbounds, for the check of one's destinations. */
export interface Beside {
  /** all inbounds of this machine, with disabled ones marked */
  readonly inbounds: readonly ListeningPlace[];
  /** another machine runs it: the panel there checks its files, sockets and destinations */
  readonly elsewhere?: boolean;
}

export interface CoreGuardApi {
  /** Resolves with all reasons against saving this inbound; resolves host names. */
  examine(part: ConfigPart, beside: Beside): Promise<Finding[]>;
  /**
   * Resolves with the first reason to keep a part out of the core, even if it could be saved: ports of the panel and files
   * change. Accepts destinations that are merely missing in `WEIR_FALLBACK_DESTINATIONS`.
   */
  problem(part: ConfigPart, beside: Beside): Promise<string | undefined>;
  /** Returns the destinations of this part's fallbacks and REALITY, in the form of `WEIR_FALLBACK_DESTINATIONS`. */
  destinations(part: ConfigPart): string[];
  /** Resolves with the text of a file in a folder for certificates. Rejects with a readable reason. */
  readCertificate(path: string): Promise<string>;
}
export const CoreGuard = token<CoreGuardApi>('core-guard', 'CoreGuard');

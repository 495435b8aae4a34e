// What may not stand in the core's config: files that the core would read or write, and connections of the core into
// the panel.
import { type Issue, token } from '../../kernel/index.js';

export { hostOf, plainAddress, type Reach, reachOf } from './address.js';
export { isPrivate, PRIVATE_RANGES } from './private-ranges.js';

/** Tags that begin so are the panel's own. */
export const OWN_TAGS = 'weir.';
/** Tag of the core's own API, which no part of another may name. */
export const CORE_API_TAG = `${OWN_TAGS}api`;

/** JSON of an inbound, an outbound or a rule as the core's config has it. */
export type ConfigPart = Readonly<Record<string, unknown>>;

export interface Finding extends Issue {
  /** set where this entry of `WEIR_FALLBACK_DESTINATIONS` would allow it */
  readonly destination?: string;
}

/** What other inbounds have to do with the destinations of one. */
export interface Beside {
  /** all inbounds of the panel; those that are switched off say so */
  readonly inbounds: readonly {
    readonly listen?: unknown;
    readonly port?: unknown;
    readonly enable?: unknown;
  }[];
}

export interface CoreGuardApi {
  /** All that speaks against saving this inbound; host names are resolved. */
  examine(part: ConfigPart, beside: Beside): Promise<Finding[]>;
  /**
   * The first reason to keep a part out of the core, whatever allowed it when it was saved: ports of the panel change,
   * and so do files. Destinations that only have no name in `WEIR_FALLBACK_DESTINATIONS` pass.
   */
  problem(part: ConfigPart, beside: Beside): Promise<string | undefined>;
  /** Where a fallback or REALITY of this part leads to, as `WEIR_FALLBACK_DESTINATIONS` would name it. */
  destinations(part: ConfigPart): string[];
  /** Text of a file in a folder for certificates. Rejects with the reason for a person. */
  readCertificate(path: string): Promise<string>;
}
export const CoreGuard = token<CoreGuardApi>('core-guard', 'CoreGuard');

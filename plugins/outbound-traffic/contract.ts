// The traffic of outbounds, for plugins that bring what another panel counted.
import { type Principal, token } from '../../kernel/index.js';

export interface OutboundBytes {
  readonly tag: string;
  readonly up: number;
  readonly down: number;
}
export interface OutboundCountsApi {
  /** What was counted of an outbound since its last reset; undefined for an unknown one. */
  counted(tag: string): OutboundBytes | undefined;
  /** Adds what another panel counted to outbounds that counted less here: a second call with the same counts adds nothing. Do not call it inside a write. */
  adopt(counts: readonly OutboundBytes[], who: Principal): Promise<void>;
}
export const OutboundCounts = token<OutboundCountsApi>('outbound-traffic', 'OutboundCounts');

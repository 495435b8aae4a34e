// Tests of outbounds: what other plugins may follow.
import { event } from '../../kernel/index.js';

/** An outbound that is tested on a schedule failed as often in a row as `outboundDownThreshold` says. Emitted once until it works again. */
export const outboundDown = event<{
  readonly tag: string;
  /** in a row */
  readonly failures: number;
  readonly error: string;
}>('outbounds/outboundDown');
/** An outbound that was down works again. */
export const outboundUp = event<{
  readonly tag: string;
  /** ms */
  readonly delay: number;
}>('outbounds/outboundUp');

// Tests of outbounds: what other plugins may follow.
import { event } from '../../kernel/index.js';

/** Outbounds that are tested on a schedule and failed as often in a row as `outboundDownThreshold` says. Each is reported once until it works again. */
export const outboundDown = event<{
  /** up to fifty, as many as are tested at once */
  readonly outbounds: readonly {
    readonly tag: string;
    /** in a row */
    readonly failures: number;
    readonly error: string;
  }[];
}>('outbounds/outboundDown');
/** Outbounds that were down and work again. */
export const outboundUp = event<{
  readonly outbounds: readonly {
    readonly tag: string;
    /** ms */
    readonly delay: number;
  }[];
}>('outbounds/outboundUp');

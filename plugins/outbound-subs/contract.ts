// Subscriptions to lists of outbounds, for plugins that bring some.
import { type Principal, token } from '../../kernel/index.js';

/** The edits of the API, with the same checks. Do not call it inside a write. */
export interface OutboundSubEditsApi {
  /** Addresses of the lists that are subscribed to. */
  urls(): readonly string[];
  /** Subscribes to a list; `sub` as `outboundSubs.create` takes it. It is fetched by the next run of the job. Rejects with KERNEL_INVALID or TOO_MANY. */
  add(sub: unknown, who: Principal): Promise<void>;
  /** Does the checks of `add`, but for their number. Throws KERNEL_INVALID. */
  check(sub: unknown): void;
}
export const OutboundSubEdits = token<OutboundSubEditsApi>('outbound-subs', 'OutboundSubEdits');

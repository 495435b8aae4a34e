// Part of the contract: where connections leave the running core, and its balancers.
import { guard, token } from '../../../kernel/index.js';
import type { BalancerState, RouteQuestion } from '../driver.js';

/** Where a connection would leave. */
export interface FoundRoute {
  /** false: no rule takes it, and it leaves by the first outbound */
  readonly matched: boolean;
  /** '' when no rule takes it */
  readonly outboundTag: string;
  /** whether that outbound is one of the panel's, which blocks private targets or asks name servers */
  readonly isOwn: boolean;
  readonly groupTags: readonly string[];
}
/** Rules and balancers of the running core; tags are those of the config. All reject when the core does not answer. */
export interface CoreRoutesApi {
  /** Undefined while no core runs. What no rule of a plugin takes is taken by the panel's last rule, and so matched. */
  route(question: RouteQuestion): Promise<FoundRoute | undefined>;
  /** Returns the tags of the balancers in the config, which the core may not have yet. Composes the config. */
  balancers(): Promise<ReadonlySet<string>>;
  /** Undefined while no core runs, and when it does not have the balancer. */
  balancer(tag: string): Promise<BalancerState | undefined>;
  /** Makes the balancer use this outbound, unchecked; '' ends that. False when the core does not have the balancer. The core forgets it at a restart, and when the balancer changes: see beforeRulesInForce. */
  override(tag: string, target: string): Promise<boolean>;
}
export const CoreRoutes = token<CoreRoutesApi>('engine', 'CoreRoutes');

/** Called when a core has started, or rules or balancers of the running one have changed, before callers are told that this is in force. Overrides of balancers are lost then: in a new core all, else those of balancers that changed. Not called for a core that a previous panel left running. */
export const beforeRulesInForce = guard<{ readonly balancers: readonly string[] }>(
  'engine/beforeRulesInForce',
);

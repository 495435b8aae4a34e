// Tags of rules and balancers in the core. A tag contains a digest of its content, so the list of tags that a core returns
// says what it runs: the core returns nothing else of a rule, and a running one changes by tag.
import { digestOf } from './digest.js';
import type { Json, JsonObject } from '../driver.js';

/** `<tag of the admin>@<digest>`: a changed balancer is another one, because a running core cannot replace a balancer. */
const coreBalancerTag = (balancer: JsonObject): string =>
  `${String(balancer['tag'])}@${digestOf(balancer).slice(0, 8)}`;

/** Returns the tag that the config gives a balancer of the core. */
export const plainBalancerTag = (tag: string): string => tag.replace(/@[^@]{8}$/, '');

/** Returns the tags that balancers have in the core, by their own. */
export const balancerTags = (balancers: readonly JsonObject[]): ReadonlyMap<string, string> =>
  new Map(balancers.map((balancer) => [String(balancer['tag']), coreBalancerTag(balancer)]));

/** Returns the tags that the config gives the balancers of a base. */
export const balancersIn = (base: JsonObject): string[] => {
  const { balancers = [] } = (base['routing'] ?? {}) as { readonly balancers?: readonly JsonObject[] };
  return balancers.map(({ tag }) => plainBalancerTag(String(tag)));
};

function ruleTag(rule: JsonObject): string {
  const { ruleTag: own } = rule as { readonly ruleTag?: Json };
  // `~<n>` at the end is for a rule that moves; see xray/base-change.ts.
  const name = typeof own === 'string' && own !== '' ? `.${own.replace(/~(?=\d+$)/, '-')}` : '';
  return `weir.${digestOf(rule).slice(0, 12)}${name}`;
}

/** Gives each rule and balancer its tag in the core. */
export function taggedRouting(
  rules: readonly JsonObject[],
  balancers: readonly JsonObject[],
): { rules: JsonObject[]; balancers: JsonObject[] } {
  const names = balancerTags(balancers);
  const seen = new Map<string, number>();
  return {
    rules: rules.map((rule) => {
      const { balancerTag } = rule as { readonly balancerTag?: Json };
      const known = typeof balancerTag === 'string' ? names.get(balancerTag) : undefined;
      const named = known === undefined ? rule : { ...rule, balancerTag: known };
      const tag = ruleTag(named);
      const times = (seen.get(tag) ?? 0) + 1;
      seen.set(tag, times);
      return { ...named, ruleTag: times === 1 ? tag : `${tag}.${times}` };
    }),
    balancers: balancers.map((balancer) => ({ ...balancer, tag: coreBalancerTag(balancer) })),
  };
}

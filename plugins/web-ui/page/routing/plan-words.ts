// What a plan says, in texts of the page.
import type { EnginePlanOfReply } from '../../../../sdk/index.js';
import type { Say } from '../language/messages.js';
import { isolated } from '../format/names.js';

const MOST = 12;
const named = (tags: readonly string[]): string =>
  [...tags.slice(0, MOST).map(isolated), ...(tags.length > MOST ? ['…'] : [])].join(', ');

/** Sentences, the dearest first. */
export function planWords(plan: EnginePlanOfReply, say: Say): string[] {
  const { change, outbounds, rules, sections, connections } = plan;
  const words = [say(`routing.plan.${change}`)];
  if (change !== 'none') words.push(say(`routing.plan.end.${connections.end}`, { count: connections.users }));
  if (outbounds.put.length > 0) words.push(say('routing.plan.put', { tags: named(outbounds.put) }));
  if (outbounds.remove.length > 0) words.push(say('routing.plan.remove', { tags: named(outbounds.remove) }));
  if (rules) words.push(say('routing.plan.rules'));
  if (sections.length > 0) words.push(say('routing.plan.sections', { parts: named(sections) }));
  if (!plan.tested) words.push(say('routing.plan.untested'));
  return words;
}

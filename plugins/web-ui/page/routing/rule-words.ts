// A rule of the template as a plain sentence, and its fields for a form.
import { isolated } from '../format/names.js';
import type { Say } from '../language/messages.js';
import { type Entry, textOf, textsOf } from './template.js';

/** Conditions with words of their own, in the order of the sentence. */
const CONDITIONS = [
  'inboundTag',
  'user',
  'sourceIP',
  'source',
  'domain',
  'ip',
  'port',
  'network',
  'protocol',
] as const;
/** What is no condition. */
const OTHERS = new Set(['type', 'enabled', 'outboundTag', 'balancerTag', 'ruleTag', 'domainMatcher']);
const MOST = 4;

function some(values: readonly string[]): string {
  const shown = values.filter((value) => value.trim() !== '');
  const more = shown.length - MOST;
  return [...shown.slice(0, MOST).map(isolated), ...(more > 0 ? [`+${more}`] : [])].join(', ');
}

export const isOn = ({ enabled }: Entry): boolean => enabled !== false;

/** `o` for an outbound, `b` for a balancer, and its tag; blank for neither. */
export function targetOf({ outboundTag, balancerTag }: Entry): string {
  if (textOf(outboundTag) !== '') return `o${textOf(outboundTag)}`;
  return textOf(balancerTag) === '' ? '' : `b${textOf(balancerTag)}`;
}

export function withTarget(rule: Entry, target: string): Entry {
  const { outboundTag: _, balancerTag: __, ...others } = rule;
  if (target === '') return others;
  return { ...others, [target.startsWith('o') ? 'outboundTag' : 'balancerTag']: target.slice(1) };
}

export function sentenceOf(rule: Entry, say: Say): string {
  const known = CONDITIONS.flatMap((name) => {
    const values = some(textsOf(rule[name]));
    return values === '' ? [] : [say(`routing.when.${name}`, { values })];
  });
  const strange = Object.keys(rule)
    .filter((name) => !OTHERS.has(name) && !(CONDITIONS as readonly string[]).includes(name))
    .map((name) => `${isolated(name)} ${isolated(JSON.stringify(rule[name]))}`);
  const when = [...known, ...strange].join(say('routing.when.and'));
  const target = targetOf(rule);
  const tag = isolated(target.slice(1));
  const to =
    target === ''
      ? say('routing.to.nothing')
      : target.startsWith('o')
        ? say('routing.to.outbound', { tag })
        : say('routing.to.balancer', { tag });
  return say('routing.sentence', { when: when || say('routing.when.any'), to });
}

/** Lists are edited one per line; a blank text removes the key. */
export function withLines(rule: Entry, name: string, typed: string): Entry {
  const { [name]: _, ...others } = rule;
  if (typed === '') return others;
  return name in rule ? { ...rule, [name]: typed.split('\n') } : { ...others, [name]: typed.split('\n') };
}
export function withText(rule: Entry, name: string, typed: string): Entry {
  const { [name]: _, ...others } = rule;
  return typed === '' ? others : { ...rule, [name]: typed };
}
export const withSwitch = ({ enabled: _, ...rule }: Entry, on: boolean): Entry =>
  on ? rule : { ...rule, enabled: false };

/** What a person typed as the address of a route test. */
export const addressFields = (typed: string): { readonly ip?: string; readonly domain?: string } => {
  const address = typed.trim().replace(/^\[(.*)\]$/, '$1');
  return /^[\d.]+$/.test(address) || address.includes(':') ? { ip: address } : { domain: address };
};

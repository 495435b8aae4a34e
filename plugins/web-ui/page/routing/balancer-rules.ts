// What a balancer chooses among, and the probes that tell which of it works.
import {
  type Entry,
  listOf,
  tagOf,
  type Template,
  textOf,
  textsOf,
  valueAt,
  withValueAt,
} from './template.js';

export const STRATEGIES = ['random', 'roundRobin', 'leastPing', 'leastLoad'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** As the core spells it; another word as it is. */
export function strategyOf(balancer: Entry): string {
  const type = textOf(valueAt(balancer, ['strategy', 'type']));
  return STRATEGIES.find((known) => known.toLowerCase() === type.toLowerCase()) ?? (type || 'random');
}
export const isKnownStrategy = (type: string): type is Strategy =>
  (STRATEGIES as readonly string[]).includes(type);

export const withStrategy = (balancer: Entry, type: string): Entry =>
  withValueAt(balancer, ['strategy', 'type'], type) as Entry;

export const selectorOf = (balancer: Entry): string[] => textsOf(balancer['selector']);

/** Tags that begin with one of the texts. */
export const matching = (selector: readonly string[], tags: readonly string[]): string[] =>
  tags.filter((tag) => selector.some((begin) => begin !== '' && tag.startsWith(begin)));

/** Tags of all outbounds, also of those that lists and other plugins add. */
export const allTags = (template: Template, others: readonly string[]): string[] =>
  [...new Set([...listOf(template, 'outbounds').map(tagOf), ...others])].filter((tag) => tag !== '');

const BY_PROBES = new Set(['leastPing', 'leastLoad']);
export const needsProbes = (balancer: Entry): boolean =>
  BY_PROBES.has(strategyOf(balancer)) || textOf(balancer['fallbackTag']) !== '';

/** The core has one kind of probes at a time. */
export const PROBES = {
  observatory: { url: ['probeURL'], interval: ['probeInterval'] },
  burstObservatory: { url: ['pingConfig', 'destination'], interval: ['pingConfig', 'interval'] },
} as const;
export type ProbesName = keyof typeof PROBES;

export const probesName = (template: Template): ProbesName | undefined =>
  (Object.keys(PROBES) as ProbesName[]).find((name) => template[name] !== undefined);

export const subjectsOf = (template: Template): string[] => {
  const name = probesName(template);
  return name ? textsOf(valueAt(template[name], ['subjectSelector'])) : [];
};

/** Outbounds among which a balancer chooses by probes that nobody makes. */
export function unprobed(template: Template, tags: readonly string[]): string[] {
  const probed = new Set(matching(subjectsOf(template), tags));
  const needed = listOf(template, 'balancers')
    .filter(needsProbes)
    .flatMap((balancer) => matching(selectorOf(balancer), tags));
  return [...new Set(needed)].filter((tag) => !probed.has(tag));
}

const URL_TO_ASK = 'https://www.gstatic.com/generate_204';
const INTERVAL = '1m';

/** Makes or widens the probes, so that they cover what balancers need. */
export function withProbes(template: Template): Template {
  const balancers = listOf(template, 'balancers').filter(needsProbes);
  const before = subjectsOf(template);
  const isCovered = (begin: string): boolean => before.some((subject) => begin.startsWith(subject));
  const more = [...new Set(balancers.flatMap(selectorOf))].filter(
    (begin) => begin !== '' && !isCovered(begin),
  );
  const subjectSelector = [...before, ...more];
  const name = probesName(template);
  if (name) return withValueAt(template, [name, 'subjectSelector'], subjectSelector) as Template;
  // The steadiest one is known by several samples only.
  return balancers.some((balancer) => strategyOf(balancer) === 'leastLoad')
    ? {
        ...template,
        burstObservatory: {
          subjectSelector,
          pingConfig: { destination: URL_TO_ASK, interval: INTERVAL, sampling: 3, timeout: '5s' },
        },
      }
    : {
        ...template,
        observatory: {
          subjectSelector,
          probeURL: URL_TO_ASK,
          probeInterval: INTERVAL,
          enableConcurrency: true,
        },
      };
}

/** How many rules lead to it. */
export const rulesTo = (template: Template, tag: string): number =>
  listOf(template, 'rules').filter(({ balancerTag }) => textOf(balancerTag) === tag).length;

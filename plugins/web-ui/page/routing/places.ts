// Where an entry of the template is edited, by its place such as `routing.rules.3`.
import type { Say } from '../language/messages.js';
import { isolated } from '../format/names.js';
import { type ListName, listOf, tagOf, type Template } from './template.js';

const PAGES = {
  outbounds: '/routing/outbound',
  rules: '/routing/rule',
  balancers: '/routing/balancer',
} as const satisfies Record<ListName, string>;

export interface Place {
  readonly list: ListName;
  readonly at: number;
  readonly page: (typeof PAGES)[ListName];
  /** the path within the entry; blank for all of it */
  readonly within: string;
}

/** Undefined for another part of the template. */
export function placeOf(path: string): Place | undefined {
  const [, list, at, within = ''] =
    /^(?:engineSetting\.)?(?:routing\.)?(outbounds|rules|balancers)\.(\d+)(?:\.(.*))?$/.exec(path) ?? [];
  if (list === undefined) return undefined;
  return { list: list as ListName, at: Number(at), page: PAGES[list as ListName], within };
}

/** What people call the entry. */
export function placeName({ list, at }: Place, template: Template, say: Say): string {
  if (list === 'rules') return say('routing.ruleTitle', { place: at + 1 });
  const name = tagOf(listOf(template, list)[at] ?? {});
  const tag = name === '' ? say('routing.noTag') : isolated(name);
  return say(list === 'outbounds' ? 'routing.field.outbound' : 'routing.field.balancer', { tag });
}

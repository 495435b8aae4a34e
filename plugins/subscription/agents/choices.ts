// What a user agent gets: a format, nothing, further headers. Each agent is decided once, until a setting changes.
import type { LiveSettings, SettingValues } from '../../../kernel/index.js';
import type { subscriptionSettings } from '../settings.js';
import { appHHeaders } from './app-h-settings.js';
import { APP_H, APP_I, type App, appHeaders } from './app-headers.js';
import { compilePattern, LONGEST_AGENT, type Pattern } from './pattern.js';
import { DETECTED, type ResponseRule } from './settings.js';

export interface AgentChoice {
  /** position of the rule that matches; undefined: none does */
  readonly rule: number | undefined;
  /** name of the format at the standard path; undefined: the one of the path */
  readonly format: string | undefined;
  readonly isBlocked: boolean;
  /** name, value, name, value … */
  readonly headers: readonly string[];
}
const NOTHING: AgentChoice = { rule: undefined, format: undefined, isBlocked: false, headers: [] };
/** Agents that are remembered; hostile ones would fill the memory. */
const MOST_AGENTS = 1000;

type Values = SettingValues<typeof subscriptionSettings>;
interface Decider {
  readonly rules: readonly { readonly pattern: Pattern; readonly rule: ResponseRule }[];
  readonly formats: readonly { readonly pattern: Pattern; readonly format: string }[];
  readonly apps: readonly { readonly pattern: Pattern; readonly headers: readonly string[] }[];
}

export class AgentChoices {
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  #values: Values | undefined;
  #decider: Decider | undefined;
  readonly #known = new Map<string, AgentChoice>();

  constructor({ settings }: { settings: LiveSettings<typeof subscriptionSettings> }) {
    this.#settings = settings;
  }

  /** Undefined while no setting chooses by agent, as on most panels. */
  of(agent: string | undefined): AgentChoice | undefined {
    const values = this.#settings.read();
    if (values !== this.#values) {
      this.#values = values;
      this.#known.clear();
      this.#decider = deciderOf(values);
    }
    const decider = this.#decider;
    if (!decider) return undefined;
    const name = (agent ?? '').slice(0, LONGEST_AGENT);
    const known = this.#known.get(name);
    if (known) return known;
    if (this.#known.size >= MOST_AGENTS) this.#known.clear();
    const choice = choose(decider, name);
    this.#known.set(name, choice);
    return choice;
  }
}

function choose({ rules, formats, apps }: Decider, agent: string): AgentChoice {
  const rule = rules.findIndex(({ pattern }) => pattern.test(agent));
  const found = rules[rule]?.rule;
  const detected = formats.find(({ pattern }) => pattern.test(agent))?.format;
  const format = found?.format ?? detected;
  const headers = [
    ...apps.flatMap((app) => (app.pattern.test(agent) ? app.headers : [])),
    ...Object.entries(found?.headers ?? {}).flat(),
  ];
  if (!found && format === undefined && headers.length === 0) return NOTHING;
  return { rule: found ? rule : undefined, format, isBlocked: found?.block === true, headers };
}

function deciderOf(values: Values): Decider | undefined {
  const formats = DETECTED.flatMap(({ format, isOn, pattern, otherwise }) => {
    const source = values[pattern] || otherwise;
    return values[isOn] && source !== '' ? [{ pattern: compilePattern(source), format }] : [];
  });
  const rules = values.subResponseRules.map((rule) => ({ pattern: compilePattern(rule.agent), rule }));
  const app = (isOn: boolean, { pattern }: App, headers: readonly string[]) =>
    isOn && headers.length > 0 ? [{ pattern: compilePattern(pattern), headers }] : [];
  const apps = [
    ...app(values.subAppAutoDetect, APP_H, [
      // This app keeps what it had while a header is missing.
      ...(values.subEnableRouting ? [] : ['Routing-Enable', '0']),
      ...(values.subHideSettings ? [] : ['Hide-Settings', '0']),
      ...appHeaders(APP_H, appHHeaders(values)),
    ]),
    ...app(values.subAppIAutoDetect, APP_I, appHeaders(APP_I, values.subAppIHeaders)),
  ];
  return rules.length + formats.length + apps.length === 0 ? undefined : { rules, formats, apps };
}

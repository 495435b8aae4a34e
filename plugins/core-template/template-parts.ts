// Takes a template apart into parts of the core's config, each with its place in the JSON.
import type { Issue } from '../../kernel/index.js';
import type { CorePart, Json, JsonObject, SectionName } from '../engine/contract.js';
import { chainIssues } from './outbound-chains.js';
import { FIELD } from './read-template.js';

export interface PlacedPart {
  readonly part: CorePart;
  /** in the JSON that was sent, e.g. `engineSetting.routing.rules.3` */
  readonly path: string;
}
export interface TemplateParts {
  readonly parts: readonly PlacedPart[];
  readonly issues: readonly Issue[];
  /** what has no effect, for people */
  readonly notes: readonly string[];
}

const MOST = {
  portals: 100,
  outbounds: 1000,
  rules: 2000,
  balancers: 200,
  servers: 50,
  selectors: 200,
} as const;
const LONGEST_TAG = 128;
/** The panel connects to the core and reads its counters in its own way. */
const OURS = new Set(['api', 'stats', 'metrics', 'version']);
const SECTIONS: Readonly<Record<string, SectionName>> = {
  policy: 'policy',
  observatory: 'observatory',
  burstObservatory: 'burstObservatory',
  fakeDns: 'fakeDns',
  fakedns: 'fakeDns',
  reverse: 'reverse',
};
const KNOWN = new Set([
  'log',
  'dns',
  'inbounds',
  'outbounds',
  'routing',
  'transport',
  ...OURS,
  ...Object.keys(SECTIONS),
]);
const OBSERVED = new Set(['leastping', 'leastload']);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTag = (value: Json | undefined): value is string => typeof value === 'string' && value !== '';

/** @param seen paths by tag */
function tagProblem(tag: Json | undefined, seen: ReadonlyMap<string, string>): string | undefined {
  if (!isTag(tag)) return 'it needs a tag, a text';
  if (tag.length > LONGEST_TAG) return `the tag has ${tag.length} characters; the most are ${LONGEST_TAG}`;
  if (tag.startsWith('weir.')) return 'tags that begin with weir. belong to the panel; choose another';
  const other = seen.get(tag);
  return other && `${other} has the tag ${tag} too; choose another`;
}

class Reader {
  readonly parts: PlacedPart[] = [];
  readonly issues: Issue[] = [];
  readonly notes: string[] = [];
  readonly #ways = {
    outbounds: [] as [JsonObject, string][],
    rules: [] as JsonObject[],
    balancers: [] as JsonObject[],
  };
  readonly #template: JsonObject;

  constructor(template: JsonObject) {
    this.#template = template;
  }

  #issue(path: string, message: string): void {
    this.issues.push({ path, message: `${path}: ${message}` });
  }
  #add(path: string, part: CorePart): void {
    this.parts.push({ part, path });
  }

  /** The objects of a list, with their paths; issues for all else. */
  *#objects(list: Json | undefined, path: string, most: number): Generator<[JsonObject, string]> {
    if (list === undefined || list === null) return;
    if (!Array.isArray(list)) return this.#issue(path, 'it must be a list');
    if (list.length > most) return this.#issue(path, `it has ${list.length} entries; the most are ${most}`);
    for (const [at, item] of (list as readonly Json[]).entries())
      if (isObject(item)) yield [item, `${path}.${at}`];
      else this.#issue(`${path}.${at}`, 'it must be an object');
  }

  #object(key: string): JsonObject | undefined {
    const value = this.#template[key];
    if (value === undefined || value === null) return undefined;
    if (isObject(value)) return value;
    this.#issue(`${FIELD}.${key}`, 'it must be an object');
    return undefined;
  }

  read(): TemplateParts {
    const strange = Object.keys(this.#template).filter((key) => !KNOWN.has(key));
    if (strange.length > 0) this.notes.push(`the core does not know ${strange.slice(0, 10).join(', ')}`);
    const ours = Object.keys(this.#template).filter((key) => OURS.has(key));
    if (ours.length > 0) this.notes.push(`the panel sets ${ours.join(', ')} itself`);
    if (this.#template['transport'] !== undefined)
      this.#issue(
        `${FIELD}.transport`,
        'the core has no such section any more; set the transport of each outbound',
      );
    this.#log();
    this.#dns();
    this.#sections();
    this.#inbounds();
    this.#outbounds();
    this.#routing();
    this.issues.push(...chainIssues(this.#ways));
    return this;
  }

  #log(): void {
    const log = this.#object('log');
    if (!log) return;
    const { loglevel, dnsLog, ...others } = log as { loglevel?: Json; dnsLog?: Json };
    const unused = Object.keys(others).filter(
      (key) => !['', null].includes((others as JsonObject)[key] as string),
    );
    if (unused.length > 0)
      this.notes.push(
        `the panel sets ${unused.map((key) => `log.${key}`).join(', ')} itself: it reads the log of connections`,
      );
    if (loglevel === 'error' || loglevel === 'none')
      this.notes.push(
        'log.loglevel is at least warning, as the panel waits for a line of that level at the start',
      );
    this.#add(`${FIELD}.log`, {
      section: 'log',
      value: { ...(loglevel !== undefined && { loglevel }), ...(dnsLog !== undefined && { dnsLog }) },
    });
  }

  #dns(): void {
    const dns = this.#object('dns');
    if (!dns) return;
    const { servers, tag, ...settings } = dns as { servers?: Json; tag?: Json };
    if (tag !== undefined) this.notes.push('the panel sets dns.tag itself');
    const path = `${FIELD}.dns`;
    if (servers !== undefined && !Array.isArray(servers)) this.#issue(`${path}.servers`, 'it must be a list');
    else if (Array.isArray(servers) && servers.length > MOST.servers)
      this.#issue(`${path}.servers`, `it has ${servers.length} entries; the most are ${MOST.servers}`);
    else
      for (const [at, server] of ((servers ?? []) as readonly Json[]).entries())
        if (isTag(server) || isObject(server)) this.#add(`${path}.servers.${at}`, { nameServer: server });
        else this.#issue(`${path}.servers.${at}`, 'it must be an address or an object');
    if (Object.keys(settings).length > 0) this.#add(path, { section: 'dns', value: settings });
  }

  #sections(): void {
    for (const [key, section] of Object.entries(SECTIONS)) {
      const value = this.#template[key];
      if (value === undefined || value === null) continue;
      if (isObject(value) || Array.isArray(value)) this.#add(`${FIELD}.${key}`, { section, value });
      else this.#issue(`${FIELD}.${key}`, 'it must be an object');
    }
  }

  #inbounds(): void {
    for (const [{ tag }, path] of this.#objects(this.#template['inbounds'], `${FIELD}.inbounds`, 100))
      if (tag === this.#apiTag) this.notes.push(`the panel sets the inbound ${this.#apiTag} itself`);
      else
        this.#issue(
          path,
          'inbounds are added by POST /panel/api/inbounds/add, which checks their ports and counts their bytes; remove it here',
        );
  }

  get #apiTag(): string {
    const { tag } = (isObject(this.#template['api']) ? this.#template['api'] : {}) as { tag?: Json };
    return isTag(tag) ? tag : 'api';
  }

  #tag(tag: Json | undefined, path: string, seen: Map<string, string>): void {
    const problem = tagProblem(tag, seen);
    if (problem !== undefined) this.#issue(`${path}.tag`, problem);
    else seen.set(String(tag), path);
  }

  #outbounds(): void {
    const path = `${FIELD}.outbounds`;
    const seen = new Map<string, string>();
    for (const [outbound, at] of this.#objects(this.#template['outbounds'], path, MOST.outbounds)) {
      this.#tag(outbound['tag'], at, seen);
      if (!isTag(outbound['protocol'])) this.#issue(`${at}.protocol`, 'it needs a protocol, a text');
      this.#add(at, { outbound, isDefault: this.#ways.outbounds.length === 0 });
      this.#ways.outbounds.push([outbound, at]);
    }
    this.#portals(seen);
  }

  /** A portal is an outbound of its tag: with one that is taken, the core passes its test and does not start. */
  #portals(seen: Map<string, string>): void {
    const { portals } = (isObject(this.#template['reverse']) ? this.#template['reverse'] : {}) as {
      portals?: Json;
    };
    for (const [{ tag }, path] of this.#objects(portals, `${FIELD}.reverse.portals`, MOST.portals))
      this.#tag(tag, path, seen);
  }

  #routing(): void {
    const routing = this.#object('routing');
    if (!routing) return;
    const path = `${FIELD}.routing`;
    const { domainStrategy, rules, balancers, ...others } = routing as Record<string, Json | undefined>;
    if (Object.keys(others).length > 0)
      this.notes.push(
        `the core does not know ${Object.keys(others)
          .map((key) => `routing.${key}`)
          .join(', ')}`,
      );
    const strategy = domainStrategy === undefined ? 'asis' : String(domainStrategy).toLowerCase();
    if (!['asis', 'ipifnonmatch', 'ipondemand'].includes(strategy))
      this.#issue(`${path}.domainStrategy`, 'it must be AsIs, IPIfNonMatch or IPOnDemand');
    if (strategy === 'ipondemand')
      this.notes.push(
        'routing.domainStrategy IPOnDemand works as IPIfNonMatch: names are looked up where no rule takes the name',
      );
    for (const [rule, at] of this.#objects(rules, `${path}.rules`, MOST.rules)) {
      const { enabled, ...used } = rule as { enabled?: Json };
      if (enabled !== undefined && typeof enabled !== 'boolean')
        this.#issue(`${at}.enabled`, 'it must be true or false');
      if ((used as JsonObject)['outboundTag'] === this.#apiTag) continue;
      if (enabled === false) continue;
      this.#add(at, { rule: used as JsonObject, looksUp: strategy !== 'asis' });
      this.#ways.rules.push(used as JsonObject);
    }
    this.#balancers(balancers, `${path}.balancers`);
  }

  #balancers(list: Json | undefined, path: string): void {
    const seen = new Map<string, string>();
    const observes = 'observatory' in this.#template || 'burstObservatory' in this.#template;
    for (const [balancer, at] of this.#objects(list, path, MOST.balancers)) {
      const { tag, selector, strategy, fallbackTag } = balancer as Record<string, Json | undefined>;
      this.#tag(tag, at, seen);
      const selectors = isTag(selector) ? [selector] : selector;
      if (!Array.isArray(selectors) || selectors.length === 0 || !selectors.every(isTag))
        this.#issue(`${at}.selector`, 'it needs a list of beginnings of tags of outbounds');
      else if (selectors.length > MOST.selectors)
        this.#issue(`${at}.selector`, `it has ${selectors.length} entries; the most are ${MOST.selectors}`);
      const type = isObject(strategy) ? String(strategy['type'] ?? '').toLowerCase() : '';
      if (!observes && (OBSERVED.has(type) || isTag(fallbackTag)))
        this.#issue(
          at,
          `${OBSERVED.has(type) ? `the strategy ${type}` : 'a fallbackTag'} needs an observatory or burstObservatory beside it, which tells what works`,
        );
      this.#add(at, { balancer });
      this.#ways.balancers.push(balancer);
    }
  }
}

export const partsOf = (template: JsonObject): TemplateParts => new Reader(template).read();

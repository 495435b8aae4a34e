// What is wrong with a template, in a sentence with the place: client programs would refuse the whole file.
import { BUILT_IN, GROUP } from './names.js';
import { readRule } from './rules.js';

/** Stands in a group for all proxies of the client. */
export const ALL = '$PROXIES';
const GROUPS = ['select', 'url-test', 'fallback', 'load-balance', 'relay'];
const MOST_RULES = 100_000;

type Item = Readonly<Record<string, unknown>>;
const isMap = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isName = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** Stops at the first mistake. */
class Wrong extends Error {}
function ensure(isRight: boolean, sentence: string): asserts isRight {
  if (!isRight) throw new Wrong(sentence);
}

function listOf(value: unknown, path: string): readonly unknown[] {
  ensure(value === undefined || value === null || Array.isArray(value), `${path} must be a list`);
  return (value as unknown[] | null | undefined) ?? [];
}
function mapOf(value: unknown, path: string): Item {
  ensure(value === undefined || value === null || isMap(value), `${path} must be a mapping of names`);
  return (value as Item | null | undefined) ?? {};
}

/** Names of the list, each once. */
function namesOf(value: unknown, path: string, taken: Map<string, string>): readonly Item[] {
  return listOf(value, path).map((item, i) => {
    const at = `${path}[${i}]`;
    ensure(isMap(item) && isName(item['name']), `${at} needs a name`);
    const name = item['name'];
    const other = taken.get(name);
    ensure(other === undefined, `${at}.name: ${name} is the name of ${other} already; choose another`);
    taken.set(name, at);
    return item;
  });
}

function checkGroup(group: Item, at: string, known: ReadonlySet<string>, providers: Item): void {
  const type = String(group['type'] ?? '');
  ensure(GROUPS.includes(type), `${at}.type must be one of ${GROUPS.join(', ')}`);
  const proxies = listOf(group['proxies'], `${at}.proxies`);
  for (const [i, name] of proxies.entries())
    ensure(
      isName(name) && (name === ALL || known.has(name)),
      `${at}.proxies[${i}]: there is no proxy or group ${String(name)}; ${ALL} stands for all proxies of the client`,
    );
  const use = listOf(group['use'], `${at}.use`);
  for (const [i, name] of use.entries())
    ensure(
      isName(name) && Object.hasOwn(providers, name),
      `${at}.use[${i}]: proxy-providers has no ${String(name)}`,
    );
  const includes = ['include-all', 'include-all-proxies', 'include-all-providers'];
  ensure(
    proxies.length > 0 || use.length > 0 || includes.some((key) => group[key] === true),
    `${at} needs proxies, such as [${ALL}]`,
  );
}

/** A group that reaches itself is refused. */
function checkLoops(groups: readonly Item[]): void {
  const members = new Map(groups.map((group) => [group['name'], listOf(group['proxies'], 'proxies')]));
  const done = new Set<unknown>();
  const visit = (name: unknown, way: readonly unknown[]): void => {
    ensure(!way.includes(name), `proxy-groups: ${[...way, name].join(' > ')} is a circle`);
    if (done.has(name)) return;
    for (const member of members.get(name) ?? []) if (members.has(member)) visit(member, [...way, name]);
    done.add(name);
  };
  for (const name of members.keys()) visit(name, []);
}

interface Around {
  readonly known: ReadonlySet<string>;
  readonly ruleProviders: Item;
  readonly subRules: Item;
}
function checkRules(value: unknown, path: string, { known, ruleProviders, subRules }: Around): string[] {
  const rules = listOf(value, path);
  ensure(rules.length <= MOST_RULES, `${path} has ${rules.length} rules; at most ${MOST_RULES} are allowed`);
  return rules.map((text, i) => {
    const at = `${path}[${i}]`;
    ensure(typeof text === 'string', `${at} must be a text like DOMAIN-SUFFIX,example.com,PROXY`);
    const rule = readRule(text);
    ensure(typeof rule !== 'string', `${at}: ${String(rule)}`);
    if (rule.kind === 'RULE-SET')
      ensure(Object.hasOwn(ruleProviders, rule.payload), `${at}: rule-providers has no ${rule.payload}`);
    if (rule.kind === 'SUB-RULE')
      ensure(Object.hasOwn(subRules, rule.target), `${at}: sub-rules has no ${rule.target}`);
    else if (!known.has(rule.target))
      throw new Wrong(`${at}: there is no proxy or group ${rule.target}; there are ${[...known].join(', ')}`);
    return rule.kind;
  });
}

export interface Checked {
  /** names that a client's proxy cannot have */
  readonly taken: ReadonlySet<string>;
  readonly hasMatch: boolean;
}
/** Returns a sentence for what is wrong. */
export function checkTemplate(template: Item): Checked | string {
  try {
    const places = new Map(BUILT_IN.map((name) => [name, 'a proxy of mihomo itself']));
    const proxies = namesOf(template['proxies'], 'proxies', places);
    const groups = namesOf(template['proxy-groups'], 'proxy-groups', places);
    const known = new Set([...places.keys(), GROUP]);
    const providers = mapOf(template['proxy-providers'], 'proxy-providers');
    for (const [i, proxy] of proxies.entries())
      ensure(isName(proxy['type']), `proxies[${i}] needs a type, such as socks5`);
    for (const [i, group] of groups.entries()) checkGroup(group, `proxy-groups[${i}]`, known, providers);
    checkLoops(groups);
    const ruleProviders = mapOf(template['rule-providers'], 'rule-providers');
    for (const [name, provider] of Object.entries(ruleProviders)) {
      const through = isMap(provider) ? provider['proxy'] : undefined;
      ensure(isMap(provider), `rule-providers.${name} must be a mapping`);
      ensure(
        through === undefined || known.has(String(through)),
        `rule-providers.${name}.proxy: there is no proxy or group ${String(through)}`,
      );
    }
    const subRules = mapOf(template['sub-rules'], 'sub-rules');
    const around = { known, ruleProviders, subRules };
    for (const [name, rules] of Object.entries(subRules)) checkRules(rules, `sub-rules.${name}`, around);
    const kinds = checkRules(template['rules'], 'rules', around);
    return { taken: known, hasMatch: kinds.includes('MATCH') };
  } catch (error) {
    if (error instanceof Wrong) return error.message;
    throw error;
  }
}

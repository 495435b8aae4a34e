// Checks that each part of a plugin has the right type: JavaScript accepts anything, and its later errors name no part.
import type { Plugin } from '../kernel/plugin/define.js';

const FUNCTIONS = ['provides', 'contributes', 'taps', 'routes', 'jobs', 'commands'] as const;
type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

/** definePlugin fills in missing parts, so all of these exist. */
export const isMadeByDefinePlugin = (value: unknown): value is Plugin =>
  ['essential', 'uses', 'services', 'migrations', ...FUNCTIONS].every(
    (part) => fieldsOf(value)?.[part] !== undefined,
  );

/** Parts that are objects, with the type that each of their entries must have. */
const EACH: readonly (readonly [part: string, is: (entry: Fields) => boolean, must: string])[] = [
  [
    'uses',
    ({ kind }) => kind === 'token' || kind === 'maybe',
    "be a token, such as Clients of '@weir-panel/weir/plugins/clients', or maybe(…) of one",
  ],
  ['config', ({ variable }) => typeof variable === 'string', 'be made with variable(name, schema, about)'],
  [
    'settings',
    ({ schema }) => fieldsOf(schema) !== undefined,
    'be made with setting(schema, initial, about)',
  ],
  ['tables', ({ columns }) => fieldsOf(columns) !== undefined, 'be made with table(name, columns)'],
  ['services', ({ build }) => typeof build === 'function', 'be made with singleton(Class)'],
];

/** Returns one sentence for each part that has the wrong type. */
export function wrongParts(plugin: Plugin): string[] {
  const parts = plugin as unknown as Fields;
  const wrong: string[] = [];
  if (typeof parts['name'] !== 'string') wrong.push('its `name` must be a text');
  if (typeof parts['about'] !== 'string') wrong.push('its `about` must be a sentence for people');
  if (typeof parts['api'] !== 'number')
    wrong.push("its `api` must be the number of the kernel's contract that it was written for: `api: 1`");
  for (const part of FUNCTIONS)
    if (typeof parts[part] !== 'function')
      wrong.push(`its \`${part}\` must be a function that returns a list: \`${part}: () => […]\``);
  for (const part of ['start', 'stop'])
    if (typeof parts[part] !== 'function') wrong.push(`its \`${part}\` must be a function`);
  for (const [part, is, must] of EACH) {
    const entries = fieldsOf(parts[part]);
    if (!entries) wrong.push(`its \`${part}\` must be an object`);
    for (const [key, entry] of Object.entries(entries ?? {}))
      if (!is(fieldsOf(entry) ?? {})) wrong.push(`\`${key}\` in its \`${part}\` must ${must}`);
  }
  if (
    typeof parts['hooks'] === 'function' ||
    !listOf(parts['hooks']).every(({ id }) => typeof id === 'string')
  )
    wrong.push('its `hooks` must list the hooks that it owns; what listens to hooks is called `taps`');
  if (
    !listOf(parts['migrations']).every(({ name, up }) => typeof name === 'string' && typeof up === 'function')
  )
    wrong.push("its `migrations` must be a list of { name: '0001-…', up: (types) => ['CREATE TABLE …'] }");
  return wrong;
}

/** Something that is not a list becomes a list with one invalid entry. */
const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map((entry) => fieldsOf(entry) ?? {}) : [{}];

// Settings that choose by the user agent.
import {
  bool,
  custom,
  list,
  mapOf,
  optional,
  type Schema,
  setting,
  shape,
  text,
  word,
  inSection,
} from '../../../kernel/index.js';
import { headersProblem } from '../shapes.js';
import { APP_I, type AppHeaders, appHeadersProblem } from './app-headers.js';
import { appHSettings } from './app-h-settings.js';
import { compilePattern } from './pattern.js';

/** A value that a function refuses with a sentence. */
const checked = <T>(schema: Schema, problem: (value: T) => string | undefined): Schema<T> =>
  custom<T>(
    schema.custom((value: T, state) => {
      const found = problem(value);
      return found === undefined ? value : state.error('any.custom', { error: new Error(found) });
    }),
  );

export function patternProblem(source: string): string | undefined {
  try {
    compilePattern(source);
    return undefined;
  } catch (error) {
    return `it is not a pattern: ${(error as Error).message}`;
  }
}
const pattern = () => checked<string>(text().max(2048), patternProblem);
const line = () =>
  text()
    .max(2048)
    .pattern(/^(?:[^\p{Cc}\p{Cs}]|\t)*$/u, 'text of one line without control characters');

/** Headers that the server itself sends: a second one would contradict it. */
const OWN =
  /^(?:content-type|cache-control|etag|set-cookie|subscription-userinfo|x-content-type-options|x-hwid-.*)$/i;
function extraHeadersProblem(headers: Readonly<Record<string, string>>): string | undefined {
  const pairs = Object.entries(headers);
  const own = pairs.find(([name]) => OWN.test(name));
  return headersProblem(pairs) ?? (own && `the header ${own[0]} is the server's own`);
}

export interface ResponseRule {
  /** pattern of the user agents that it is for */
  readonly agent: string;
  /** name of the format at the standard path */
  readonly format?: string | undefined;
  /** They get what is sent for unknown ids. */
  readonly block?: boolean | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}
const ruleShape = () =>
  shape(
    inSection(
      'Rule',
      {
        agent: pattern().description('pattern of user agents'),
        format: optional(word().max(64)).description('format that they get at the standard path'),
        block: optional(bool()).description('they get what is sent for unknown ids'),
        headers: optional(
          checked<Readonly<Record<string, string>>>(mapOf(line()), extraHeadersProblem),
        ).description('further headers by name'),
      },
      { level: 'advanced', change: 'none' },
    ),
  );

/** Steps of all patterns together: a fetch of an agent that was not seen before takes up to 256 times as many. */
const MOST_STEPS = 8000;
function rulesProblem(rules: readonly ResponseRule[]): string | undefined {
  const steps = rules.reduce((sum, { agent }) => sum + compilePattern(agent).steps, 0);
  return steps > MOST_STEPS ? 'all patterns together are too large; use fewer or shorter ones' : undefined;
}

const appIHeaders = () => checked<AppHeaders>(mapOf(line()), (values) => appHeadersProblem(APP_I, values));

const detect = (format: string) =>
  setting(bool(), false, `serve the format ${format} at the standard path to agents that match its pattern`);
const agents = (otherwise: string) =>
  setting(pattern(), '', `pattern of the agents of that format; empty: ${otherwise || 'none'}`);

/** What the pattern of an automatic choice is while its setting is empty; '' matches none. */
export const DETECTED = [
  {
    format: 'alt',
    isOn: 'subAltAutoDetect',
    pattern: 'subAltUserAgentRegex',
    otherwise: '(?i)(clash|mihomo)',
  },
  { format: 'json', isOn: 'subJsonAutoDetect', pattern: 'subJsonUserAgentRegex', otherwise: '' },
  {
    format: 'sing-box',
    isOn: 'subSingBoxAutoDetect',
    pattern: 'subSingBoxUserAgentRegex',
    otherwise: String.raw`(?i)(sing-box|\bSF[AIMT]\b)`,
  },
] as const;

export const agentSettings = inSection(
  'Programs of users',
  {
    subResponseRules: setting(
      checked<readonly ResponseRule[]>(list(ruleShape()).max(50), rulesProblem),
      [],
      'rules by user agent, the first that matches counts: format at the standard path, block, further headers',
    ),
    subAltAutoDetect: detect('alt'),
    subAltUserAgentRegex: agents(DETECTED[0].otherwise),
    subJsonAutoDetect: detect('json'),
    subJsonUserAgentRegex: agents(DETECTED[1].otherwise),
    subSingBoxAutoDetect: detect('sing-box'),
    subSingBoxUserAgentRegex: agents(DETECTED[2].otherwise),
    subAppAutoDetect: setting(bool(), false, 'send headers of app H to its user agents'),
    ...appHSettings,
    subAppIAutoDetect: setting(bool(), false, 'send headers of app I to its user agents'),
    subAppIHeaders: setting(appIHeaders(), {}, 'headers of app I by name, such as Banner-Text', {
      when: { field: 'subAppIAutoDetect' },
    }),
  },
  { level: 'advanced' },
);

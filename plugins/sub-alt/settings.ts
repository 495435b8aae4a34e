import { bool, setting, text, urlPath } from '../../kernel/index.js';
import { randomPath } from '../subscription/contract.js';
import { readTemplate } from './template/template.js';

/** Reading it must not hold up the panel; long lists of rules belong into rule-providers. */
const LONGEST_TEMPLATE = 65_536;

/** Programs send all settings back with each change, so most texts come again. */
let known = { text: '', problem: undefined as string | undefined };
function problemOf(given: string): string | undefined {
  if (given !== known.text) {
    const read = readTemplate(given);
    known = { text: given, problem: typeof read === 'string' ? read : undefined };
  }
  return known.problem;
}

const template = () =>
  text()
    .max(LONGEST_TEMPLATE)
    .custom((value: string, state) => {
      const problem = problemOf(value);
      return problem === undefined ? value : state.error('any.custom', { error: new Error(problem) });
    });

const publicUrl = () =>
  text()
    .max(1024)
    .custom((value: string, state) => {
      const url = URL.canParse(value) ? new URL(value) : undefined;
      return value === '' ||
        (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username)
        ? value
        : state.error('any.custom', {
            error: new Error(
              'it must be an http or https URL without query, fragment and user, like https://sub.example.com/alt/',
            ),
          });
    });

export const altSettings = {
  subAltEnable: setting(bool(), false, 'serve subscriptions as YAML of mihomo, too'),
  altFormatPath: setting(urlPath().min(2).max(255), randomPath, 'path prefix of the YAML of mihomo'),
  subAltURI: setting(
    publicUrl(),
    '',
    'URL of the YAML as users reach it, before the id; empty: it follows from subURI',
  ),
  subAltEnableRouting: setting(bool(), false, 'use subAltRules'),
  subAltRules: setting(
    template(),
    '',
    'rules of the YAML, one a line or as a list; or a mapping with groups, rules and all else that mihomo reads',
  ),
} as const;

import { bool, setting, urlPath, inSection } from '../../kernel/index.js';
import { orRemote } from '../remote-texts/contract.js';
import { checkedText, publicUrl, randomPath } from '../subscription/contract.js';
import { readTemplate } from './template/template.js';

/** Reading it must not hold up the panel; long lists of rules belong into rule-providers. */
export const LONGEST_TEMPLATE = 65_536;

/** Programs send all settings back with each change, so most texts come again. */
let known = { text: '', problem: undefined as string | undefined };
function problemOf(given: string): string | undefined {
  if (given !== known.text) {
    const read = readTemplate(given);
    known = { text: given, problem: typeof read === 'string' ? read : undefined };
  }
  return known.problem;
}

function check(given: string): void {
  const problem = problemOf(given);
  if (problem !== undefined) throw new Error(problem);
}

export const altSettings = inSection('YAML of mihomo', {
  subAltEnable: setting(bool(), false, 'serve subscriptions as YAML of mihomo, too'),
  altFormatPath: setting(urlPath().min(2).max(255), randomPath, 'path prefix of the YAML of mihomo', {
    when: { field: 'subAltEnable' },
    level: 'advanced',
    alias: 'subAltPath',
  }),
  subAltFixedPaths: setting(
    bool(),
    false,
    'serve the YAML below /mihomo/ as well, and below /clash-legacy/ what the first Clash can read; everybody knows these paths, so the subId is the only secret',
    { when: { field: 'subAltEnable' }, level: 'advanced' },
  ),
  subAltURI: setting(
    publicUrl('https://sub.example.com/alt/'),
    '',
    'URL of the YAML as users reach it, before the id; empty: it follows from subURI',
    { when: { field: 'subAltEnable' }, level: 'advanced' },
  ),
  subAltEnableRouting: setting(bool(), false, 'use subAltRules', {
    when: { field: 'subAltEnable' },
    level: 'advanced',
  }),
  subAltRules: setting(
    checkedText(orRemote(check), LONGEST_TEMPLATE),
    '',
    'rules of the YAML, one a line or as a list; or a mapping with groups, rules and all else that mihomo reads; or the https URL of rules, groups and rule-providers',
    { level: 'advanced', when: { field: 'subAltEnableRouting' } },
  ),
});

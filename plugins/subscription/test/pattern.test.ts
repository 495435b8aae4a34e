// Patterns for user agents: what they match is what RE2 and JavaScript match, and no pattern takes long.
import test from 'ava';
import { compilePattern } from '../agents/pattern.js';

const AGENTS = [
  '',
  'clash',
  'ClashMeta/1.18',
  'mihomo/1.19.2',
  'Happ/1.2.0 (iPhone; iOS 17)',
  'Happy/2.0',
  'unhappy',
  'Mozilla/5.0 Happ/1.0',
  'sing-box 1.11.0',
  'SFA/1.12 (Build 1; sing-box 1.12.0)',
  'v2rayN/7.1',
  'a_b',
  'aaa-bbb',
  '1.2.3',
  'a\tb',
];

test('patterns match what JavaScript matches', (t) => {
  for (const source of [
    'clash|mihomo',
    '^(?:clash|mihomo)',
    String.raw`\bHapp\b`,
    String.raw`\d+\.\d+`,
    '^$',
    'a*b',
    '(a|b)+-(a|b)+$',
    '[^a-z]',
    '[A-Z]{2,3}/',
    '[A-Z]{3}/',
    'x?y?z?$',
    String.raw`sing-box (1\.1[12])\.`,
    String.raw`[\w.-]+/\d`,
    '[]a]',
    '[a-]b',
    'a.b',
    String.raw`a\Bb|\ba`,
    '(?:a+)+$',
    '(|a)b',
    'a{0}b',
    String.raw`\x43lash`,
    'n{2,}',
    'Ha*?p',
  ]) {
    const pattern = compilePattern(source);
    // An empty set is the one place where JavaScript differs: there, `[]a]` is one.
    const expected = new RegExp(source.replace('[]a]', String.raw`[\]a]`));
    for (const agent of AGENTS) t.is(pattern.test(agent), expected.test(agent), `${source} on ${agent}`);
  }
});

test('(?i) ignores case until its group ends', (t) => {
  const matches = (source: string) => AGENTS.filter((agent) => compilePattern(source).test(agent));
  t.deepEqual(matches('(?i)(clash|mihomo)'), ['clash', 'ClashMeta/1.18', 'mihomo/1.19.2']);
  t.deepEqual(matches(String.raw`(?i)\bhapp\b`), ['Happ/1.2.0 (iPhone; iOS 17)', 'Mozilla/5.0 Happ/1.0']);
  t.deepEqual(matches('(?i:CLASH)Meta'), ['ClashMeta/1.18']);
  t.deepEqual(matches('(?i:CLASH)META'), []);
  t.deepEqual(matches('((?i)C)LASH'), []);
  t.deepEqual(matches('(?i)[R-Z]2RAYn'), ['v2rayN/7.1']);
});

test('what is not a pattern is refused, with the place', (t) => {
  for (const [source, problem] of [
    ['(a', /a group has no end/],
    ['a)', /closes a group that is not open.*character 2/],
    ['*a', /nothing to repeat before \*/],
    ['a**', /two repetitions/],
    ['[a', /a set has no end/],
    ['[z-a]', /a range/],
    [String.raw`(a)\1`, /\\1 is not possible/],
    ['(?=a)', /lookaround/],
    ['(?<!a)b', /lookaround/],
    ['a{101}', /up to 100/],
    ['a{5,2}', /first number/],
    ['((a{100}){100}){100}', /too large/],
    ['a\\', /ends with a backslash/],
    [String.raw`\p{L}`, /\\p is not possible/],
    ['('.repeat(60), /too deep/],
  ] as const)
    t.throws(() => compilePattern(source), { message: problem }, source);
});

test('patterns that stop other engines take no time', (t) => {
  const text = `${'a'.repeat(200)}!${'a'.repeat(100_000)}!`;
  const started = process.cpuUsage();
  for (const source of ['(a+)+x$', '^(a|aa)+$', '(a*)*b', '(.*)(.*)(.*)(.*)(.*)x', '(a?){50}a{50}b'])
    t.false(compilePattern(source).test(text), source);
  const { user, system } = process.cpuUsage(started);
  t.true(user + system < 500_000, `${user + system} µs`);
});

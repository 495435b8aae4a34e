import test from 'ava';
import { parse } from 'yaml';
import { apart } from '../template/names.js';
import { PLAIN, readTemplate, type Template } from '../template/template.js';

interface File {
  readonly proxies: readonly { readonly name: string }[];
  readonly 'proxy-groups': readonly { readonly name: string; readonly proxies: readonly string[] }[];
  readonly rules: readonly string[];
  readonly [key: string]: unknown;
}
const TWO = ['{name: "a"}', '{name: "b"}'];
const NAMES = ['"a"', '"b"'];
const fileOf = (text: string, proxies = TWO, names = NAMES): File => {
  const template = readTemplate(text);
  if (typeof template === 'string') throw new Error(template);
  return parse(template.write(proxies, names)) as File;
};
const wrong = (text: string): string => {
  const template = readTemplate(text);
  return typeof template === 'string' ? template : '';
};

test('without a template: all proxies in one group, and everything through it', (t) => {
  t.deepEqual(parse(PLAIN.write(TWO, NAMES)), {
    proxies: [{ name: 'a' }, { name: 'b' }],
    'proxy-groups': [{ name: 'PROXY', type: 'select', proxies: ['a', 'b', 'DIRECT'] }],
    rules: ['MATCH,PROXY'],
  });
});

test('without proxies nothing goes out beside them, whatever the template says', (t) => {
  const empty = {
    proxies: [],
    'proxy-groups': [{ name: 'PROXY', type: 'select', proxies: ['REJECT', 'DIRECT'] }],
    rules: ['MATCH,PROXY'],
  };
  t.deepEqual(parse(PLAIN.write([], [])), empty);
  t.deepEqual(fileOf('- MATCH,DIRECT', [], []), empty);
});

test('lines and a list are rules before the last one, or instead of it', (t) => {
  t.deepEqual(fileOf('DOMAIN,a.b,DIRECT\n\n  # a note\n GEOIP,CN,DIRECT,no-resolve ').rules, [
    'DOMAIN,a.b,DIRECT',
    'GEOIP,CN,DIRECT,no-resolve',
    'MATCH,PROXY',
  ]);
  t.deepEqual(fileOf('- DOMAIN,a.b,REJECT').rules, ['DOMAIN,a.b,REJECT', 'MATCH,PROXY']);
  t.deepEqual(fileOf('- MATCH,DIRECT').rules, ['MATCH,DIRECT']);
});

test("a mapping brings keys of its own, and the client's proxies stay", (t) => {
  const file = fileOf(`
# kept
mode: rule
proxy-groups:
  - name: Auto
    type: url-test
    proxies:
      # all of them
      - $PROXIES
  - {name: Main, type: select, proxies: [Auto, $PROXIES, own]}
proxies: [{name: own, type: socks5, server: h, port: 1}]
rules: ['DOMAIN,a.b,Main']
`);
  t.deepEqual(
    file.proxies.map(({ name }) => name),
    ['a', 'b', 'own'],
  );
  // Named by the last rule, which is not the template's.
  t.deepEqual(
    file['proxy-groups'].map(({ name, proxies }) => [name, ...proxies].join(' ')),
    ['PROXY a b DIRECT', 'Auto a b', 'Main Auto a b own'],
  );
  t.deepEqual(file.rules, ['DOMAIN,a.b,Main', 'MATCH,PROXY']);
  t.is(file['mode'], 'rule');
});

test('the generated group is left out where nothing names it, and gives way to one of that name', (t) => {
  const groups = (text: string): string[] => fileOf(text)['proxy-groups'].map(({ name }) => name);
  const own = 'proxy-groups: [{name: G, type: select, proxies: [$PROXIES]}]';
  t.deepEqual(groups(`${own}\nrules: ['MATCH,G']`), ['G']);
  t.deepEqual(groups(own), ['PROXY', 'G']);
  t.deepEqual(groups(own.replace('name: G', 'name: PROXY')), ['PROXY']);
  t.deepEqual(groups('{"proxy-groups": [], "rules": ["MATCH,DIRECT"]}'), ['PROXY']);
});

test('what mihomo would refuse is refused, with the place', (t) => {
  const group = (more: string): string => `proxy-groups: [{name: A, type: select, proxies: [DIRECT]${more}}]`;
  const cases: readonly (readonly [string, RegExp])[] = [
    ['a: [', /at character/],
    ['a: 1\na: 2', /unique/],
    ['hello', /^rules\[0\]: mihomo has no rule hello; a rule looks like/],
    ['- DOMIAN,a.b,PROXY', /^rules\[0\]: mihomo has no rule DOMIAN/],
    ['- DOMAIN,PROXY', /^rules\[0\]: DOMAIN needs a value and a target/],
    ['- MATCH', /^rules\[0\]: MATCH needs a target/],
    ['- MATCH,Nobody', /^rules\[0\]: there is no proxy or group Nobody; there are DIRECT/],
    ['- 1', /^rules\[0\] must be a text/],
    ['- RULE-SET,x,PROXY', /^rules\[0\]: rule-providers has no x/],
    ['- SUB-RULE,(NETWORK,tcp),x', /^rules\[0\]: sub-rules has no x/],
    ['sub-rules: {x: [MATCH]}', /^sub-rules.x\[0\]: MATCH needs/],
    ['rules: 3', /^rules must be a list/],
    ['proxies: {a: 1}', /^proxies must be a list/],
    ['proxies: [{type: ss}]', /^proxies\[0\] needs a name/],
    ['proxies: [{name: DIRECT, type: ss}]', /^proxies\[0\].name: DIRECT is the name of a proxy of mihomo/],
    ['proxies: [{name: A}]', /^proxies\[0\] needs a type/],
    [
      `proxies: [{name: A, type: ss}]\n${group('')}`,
      /^proxy-groups\[0\].name: A is the name of proxies\[0\]/,
    ],
    ['proxy-groups: [{name: A, type: best, proxies: [DIRECT]}]', /^proxy-groups\[0\].type must be one of/],
    ['proxy-groups: [{name: A, type: select}]', /^proxy-groups\[0\] needs proxies, such as \[\$PROXIES\]/],
    ['proxy-groups: [{name: A, type: select, proxies: [B]}]', /\.proxies\[0\]: there is no proxy or group B/],
    [group(', use: [x]'), /^proxy-groups\[0\].use\[0\]: proxy-providers has no x/],
    [
      'proxy-groups: [{name: A, type: select, proxies: [B]}, {name: B, type: select, proxies: [A]}]',
      /A > B > A is a circle/,
    ],
    ['rule-providers: {x: {type: http, proxy: Z}}', /^rule-providers.x.proxy: there is no proxy or group Z/],
    [
      `a: &a [x, x]\n${'bcdefghij'
        .split('')
        .map((c, i, all) => `${c}: &${c} [${`*${all[i - 1] ?? 'a'},`.repeat(9)}]`)
        .join('\n')}`,
      /alias/i,
    ],
  ];
  for (const [text, reason] of cases) t.regex(wrong(text), reason, text);
  t.is(wrong(group('')), '');
});

test('names of groups stay apart from those of proxies, and different names stay different', (t) => {
  const { taken } = readTemplate(
    'proxy-groups: [{name: Auto, type: select, proxies: [$PROXIES]}]',
  ) as Template;
  const names = [
    'DIRECT',
    'DIRECT (proxy)',
    'DIRECT (proxy) (proxy)',
    'PROXY',
    'Auto',
    'Other',
    'Other (proxy)',
  ];
  const made = names.map((name) => apart(name, taken));
  t.deepEqual(made.slice(3), ['PROXY (proxy)', 'Auto (proxy)', 'Other', 'Other (proxy)']);
  t.is(new Set(made).size, names.length);
  t.false(made.some((name) => taken.has(name)));
});

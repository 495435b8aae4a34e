// Runs client programs.
// mihomo's own check of every protocol over every transport and security that the format has words for.
import test from 'ava';
import { compileProxy } from '../proxy/proxy.js';
import { PLAIN, readTemplate, type Template } from '../template/template.js';
import { flow, quoted } from '../yaml-text.js';
import { ENTRIES, fill } from './entries.js';
import { refusal } from './mihomo.js';

const same = (name: string): string => name;
const names = ENTRIES.map(({ name }) => quoted(name));
const proxies = ENTRIES.map(({ name, entry }) => compileProxy(entry, same)(fill(name)));

test('it takes each proxy, and refuses a file with a broken one', async (t) => {
  t.is(await refusal(t, PLAIN.write(proxies, names)), undefined);
  const broken = flow({ name: 'x', type: 'vless', server: 'h' });
  t.regex((await refusal(t, PLAIN.write([broken], ['"x"']))) ?? '', /port/);
});

test('it takes odd names, a note, and a file without proxies', async (t) => {
  const odd = [
    'a"b\\c',
    "it's",
    '2351e1',
    '~',
    '\u2028\u0085\ufeff',
    '📊 имя | 12:30',
    ' ',
    'x'.repeat(2000),
  ];
  const [entry] = ENTRIES;
  const written = odd.map((name) => compileProxy(entry?.entry as never, same)(fill(name)));
  written.push(flow({ name: 'over', type: 'socks5', server: '127.0.0.1', port: 1 }));
  t.is(await refusal(t, PLAIN.write(written, [...odd, 'over'].map(quoted))), undefined);
  t.is(await refusal(t, PLAIN.write([], [])), undefined);
});

test('it takes what becomes of templates', async (t) => {
  for (const text of [
    'DOMAIN-SUFFIX,example.com,DIRECT\n# a note\nAND,((NETWORK,UDP),(DST-PORT,443)),REJECT',
    '- IP-CIDR,10.0.0.0/8,DIRECT,no-resolve\n- MATCH,PROXY',
    `
base: &base {type: url-test, url: 'https://www.gstatic.com/generate_204', interval: 300}
proxies: [{name: own, type: socks5, server: 127.0.0.1, port: 1}]
proxy-groups:
  - {name: Auto, <<: *base, proxies: [$PROXIES]}
  - {name: Main, type: select, proxies: [Auto, own, $PROXIES, DIRECT]}
rule-providers:
  list: {type: inline, behavior: domain, payload: [example.org]}
sub-rules:
  second: ['MATCH,Auto']
rules: ['RULE-SET,list,Main', 'SUB-RULE,(NETWORK,tcp),second', 'MATCH,Main']
dns: {enable: yes, nameserver: [1.1.1.1]}
`,
    '{"proxy-groups": [{"name": "PROXY", "type": "fallback", "proxies": ["$PROXIES"]}]}',
  ]) {
    const template = readTemplate(text) as Template;
    t.not(typeof template, 'string', String(template));
    t.is(await refusal(t, template.write(proxies.slice(0, 3), names.slice(0, 3))), undefined, text);
    t.is(await refusal(t, template.write([], [])), undefined, text);
  }
});

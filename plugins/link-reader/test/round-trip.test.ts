// What the writer of links says of an entry, the reader gives back; and a text that nobody wrote so is an error, soon.
import test from 'ava';
import { type Random, random } from '../../../test/harness/random.js';
import { LinkError } from '../contract.js';
import { linkOf } from './links.js';
import { matrix } from './matrix.js';
import { faults, readerWith } from './reader.js';

const reader = readerWith();

test('every entry of the matrix survives being written and read', (t) => {
  const entries = matrix();
  t.true(entries.length > 800, `${entries.length} entries`);
  for (const entry of entries) {
    const link = linkOf(entry);
    const read = reader.read(link);
    t.deepEqual(read, entry, link);
    t.is(linkOf(read), link, 'and is written the same again');
  }
});

const ODD = [
  ...[
    '%',
    '%00',
    '%0a',
    '%ZZ',
    '%E0%A4',
    '\u0000',
    '\n',
    '\u2028',
    '\uD800',
    '&',
    '?',
    '#',
    '@',
    ':',
    '/',
    '[',
  ],
  ...[']', '=', '+', '', '%25', '😀', '{"a":', '[[[[', ']]]]', 'null', '-1', '1e999', '99999999999999999999'],
  ...['__proto__=1&', 'constructor=x&', 'fm={}&', 'extra=[]&', 'extra={"headers":{"a":{}}}&', 'type=h2&'],
  ...[
    'security=reality&',
    'plugin=v2ray-plugin&',
    'fm={"tcp":[{"type":"xmc"}]}&',
    '%'.repeat(300),
    'é'.repeat(300),
  ],
];
const SCHEMES = [
  'vless',
  'vmess',
  'trojan',
  'ss',
  'hy2',
  'tuic',
  'wg',
  'vpn',
  'tg',
  'http',
  'socks',
  'x',
  '',
];

/** One of the ways in which texts go wrong, by accident or on purpose. */
function spoiled(link: string, { below, pick }: Random): string {
  const [at, other] = [below(link.length + 1), below(link.length + 1)];
  switch (below(9)) {
    case 0:
      return link.slice(0, at) + (pick(ODD) ?? '') + link.slice(at);
    case 1:
      return link.slice(0, at) + link.slice(at + 1 + below(9));
    case 2:
      return link.slice(0, at) + String.fromCharCode(below(0x1_00_00)) + link.slice(at + 1);
    case 3:
      return `${pick(SCHEMES) ?? ''}${link.slice(link.indexOf('://'))}`;
    case 4:
      return link.slice(0, at) + link.slice(other);
    case 5: {
      // Inside of base64, where most of VMess, Shadowsocks and AmneziaWG is.
      const body = link.slice(link.indexOf('://') + 3);
      const plain = Buffer.from(body, 'base64').toString('latin1');
      const cut = below(plain.length + 1);
      const changed = plain.slice(0, cut) + (pick(ODD) ?? '') + plain.slice(cut + below(4));
      return `${link.slice(0, link.indexOf('://'))}://${Buffer.from(changed).toString('base64')}`;
    }
    case 6:
      return link.replaceAll(pick(['=', '&', '%2F', '%22', '443', 'tls']) ?? '', pick(ODD) ?? '');
    case 7:
      return Buffer.from(Array.from({ length: below(200) }, () => below(256))).toString('latin1');
    default:
      return link.slice(0, at) + (pick(ODD) ?? '').repeat(below(400)) + link.slice(at);
  }
}

const LONG_MS = 20;
/** Milliseconds of this process: others on the machine do not count. */
function took(work: () => unknown): number {
  const from = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}
/** The collector of garbage may run meanwhile: only a text that takes long every time does. */
const leastOf = (tries: number, work: () => unknown): number =>
  Math.min(...Array.from({ length: tries }, () => took(work)));

test('100,000 hostile texts are read, or refused with a part and a sentence, and none takes long', (t) => {
  const dice = random(20_261_122);
  const links = matrix().map(linkOf);
  const read = (text: string): unknown => {
    try {
      return reader.read(text);
    } catch (error) {
      return error;
    }
  };
  const parts = new Set<string>();
  let good = 0;
  for (let i = 0; i < 100_000; i++) {
    let text = dice.pick(links) ?? '';
    for (let times = dice.below(3); times >= 0; times--) text = spoiled(text, dice);
    let result: unknown;
    const first = took(() => (result = read(text)));
    if (first > LONG_MS && leastOf(5, () => read(text)) > LONG_MS)
      t.fail(`${first} ms for ${JSON.stringify(text)}`);
    if (result instanceof LinkError) parts.add(result.part);
    else if (result instanceof Error) t.fail(`${result.stack} for ${JSON.stringify(text)}`);
    else good += 1;
    if (result instanceof LinkError && !/^(?:it|its|what|the) /.test(result.message)) t.fail(result.message);
  }
  t.deepEqual(faults, []);
  t.true(good > 1000 && good < 90_000, `${good} were good`);
  t.true(parts.size > 15, [...parts].join());
});

test('texts that are made to take long are refused before anybody parses them', (t) => {
  const MOST = 16_000;
  for (const text of [
    `vless://${'a'.repeat(1_000_000)}`,
    `vless://id@${'a.'.repeat(MOST / 2)}:443`,
    `vless://id@${'ä'.repeat(MOST)}:443`,
    `vless://id@[${':'.repeat(MOST)}]:443`,
    `vless://${'@'.repeat(MOST)}`,
    `vless://id@h:443?${'a&'.repeat(MOST / 2)}`,
    `vless://id@h:443?extra=${'['.repeat(MOST)}`,
    `vless://id@h:443?type=xhttp&extra=${'{"a":'.repeat(MOST / 5)}`,
    `vless://id@h:443?type=xhttp&extra=${encodeURIComponent(`{"xmux":${'['.repeat(500)}${']'.repeat(500)}}`)}`,
    `vmess://${Buffer.from('['.repeat(MOST / 2)).toString('base64')}`,
    `vless://id@h:443#${'?serverDescription='.repeat(MOST / 20)}`,
    `hy2://a@h:${'1-'.repeat(MOST / 2)}`,
    `hy2://a@h:443?mport=${'1,'.repeat(MOST / 2)}!`,
    `ss://${'a'.repeat(MOST)}`,
    `vpn://${Buffer.from('[Interface]\n'.repeat(900)).toString('base64')}`,
    `${' '.repeat(MOST)}x`,
  ]) {
    const shortest = leastOf(5, () => {
      try {
        reader.read(text);
      } catch (error) {
        t.true(error instanceof LinkError, text.slice(0, 60));
      }
    });
    t.true(shortest < LONG_MS, `${shortest} ms for ${text.slice(0, 60)}`);
  }
});

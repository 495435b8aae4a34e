import test from 'ava';
import { withoutTokens } from '../filter.js';
import { parseTemplate, type Template } from '../grammar.js';
import { compileRemark } from '../template.js';
import type { TokenGroup } from '../tokens.js';
import { named, NOW, remarkInput } from './sample.js';

const without = (template: string, ...groups: TokenGroup[]): Template =>
  withoutTokens(parseTemplate(template), new Set(groups));
const first = (template: string): string =>
  compileRemark(template, { identityOnAllLinks: false }).first(
    named('DE', 'john', { totalGB: 4096, down: 1024, expiryTime: NOW + 90_000_000 }),
  );

test('parts of a template', (t) => {
  t.deepEqual(parseTemplate('a{{EMAIL}}{{X_Y}}|b'), [
    [{ literal: 'a' }, { token: 'EMAIL' }, { token: 'X_Y' }],
    [{ literal: 'b' }],
  ]);
  t.deepEqual(parseTemplate(''), [[]]);
});

test('single-brace names of the other family', (t) => {
  t.is(first('{EMAIL}'), 'john');
  t.is(first('{DATA_USAGE} {DATA_LEFT} {DATA_LIMIT} {USAGE_PERCENTAGE}'), '1.00KB 3.00KB 4.00KB 25.0％');
  t.is(first('{DAYS_LEFT} {TIME_LEFT}'), '1 1d 1h 0m');
  t.is(first('{EXPIRE_DATE} {JALALI_EXPIRE_DATE}'), '2024-01-02 1402/10/12');
  t.is(first('{STATUS_EMOJI}'), '✅');
  t.is(first('{PROTOCOL}-{TRANSPORT}-{SECURITY}'), 'VLESS-tcp-NONE');
  t.deepEqual(parseTemplate('{DATA_LEFT}'), parseTemplate('{{TRAFFIC_LEFT}}'));
});

test('other single-brace names are literal', (t) => {
  for (const text of ['{INBOUND}', '{username}', '{TRAFFIC_LEFT}', '{STATUS}', '{}', '{ EMAIL }'])
    t.is(first(text), text);
});

test('a single-brace name between double braces is an unknown token', (t) => {
  t.is(first('x{{DATA_LEFT}}y{{EMAIL}}'), 'xyjohn');
});

test('unknown tokens are empty, and do not make a segment worth showing', (t) => {
  t.is(first('{{EMAIL}}{{NO_SUCH}}!'), 'john!');
  t.is(first('{{EMAIL}}|x{{NO_SUCH}}'), 'john');
  t.is(first('{{CONSTRUCTOR}}{{EMAIL}}'), 'john');
});

test('lone and lower-case braces are literal', (t) => {
  t.is(first('{{email}} {{ EMAIL }}'), '{{email}} {{ EMAIL }}');
  t.is(first('{{{EMAIL}}}'), '{john}');
  t.is(first('{{EMAIL}'), '{john');
  t.is(first('{EMAIL}}'), 'john}');
  t.is(first('{{'), '{{');
  t.is(first('}}{{}}{'), '}}{{}}{');
  t.is(first('{{EMAIL1}}'), '{{EMAIL1}}');
  t.is(first('{{EMA|IL}}'), '{{EMA|IL}}');
});

test('astral characters stay whole', (t) => {
  t.is(first('🇩🇪{{EMAIL}}👩‍💻|𝕏{{INBOUND}}𝕐'), '🇩🇪john👩‍💻|𝕏DE𝕐');
  const input = remarkInput({ inboundRemark: '😀', client: { email: '🎉', uuid: '12345678-1' } });
  t.is(
    compileRemark('{{INBOUND}}-{{EMAIL}} {{SHORT_ID}}', { identityOnAllLinks: false }).first(input),
    '😀-🎉 12345678',
  );
});

const usageTable = [
  [
    '{{INBOUND}}|📊{{TRAFFIC_LEFT}}|{{PROTOCOL}}-{{TRANSPORT}}-{{SECURITY}}',
    '{{INBOUND}}|{{PROTOCOL}}-{{TRANSPORT}}-{{SECURITY}}',
  ],
  ['{{TRAFFIC_LEFT}}|{{SECURITY}}', '{{SECURITY}}'],
  ['{{INBOUND}}|📊{{TRAFFIC_LEFT}} {{PROTOCOL}}', '{{INBOUND}}|{{PROTOCOL}}'],
  ['{{EMAIL}} {{TRAFFIC_USED}}5h', '{{EMAIL}}'],
  ['{{EMAIL}}-{{TRAFFIC_LEFT}}D-{{HOST}}', '{{EMAIL}} {{HOST}}'],
  ['{{EMAIL}} 📊{{TRAFFIC_LEFT}} {{PROTOCOL}}', '{{EMAIL}} {{PROTOCOL}}'],
] as const;

const displayTable = [
  ['{{INBOUND}} {{PROTOCOL}}', '{{INBOUND}}'],
  ['{{EMAIL}} {{INBOUND}} ⏳{{DAYS_LEFT}}', '{{EMAIL}} {{INBOUND}}'],
  ['{{INBOUND}} | {{STATUS}}', '{{INBOUND}}'],
] as const;

for (const [template, left] of usageTable) {
  test(`usage filter: ${template}`, (t) => {
    t.deepEqual(without(template, 'usage'), parseTemplate(left));
  });
}

for (const [template, left] of displayTable) {
  test(`display filter: ${template}`, (t) => {
    t.deepEqual(without(template, 'usage', 'route'), parseTemplate(left));
  });
}

test('filter: nothing may be left', (t) => {
  t.deepEqual(without('{{TRAFFIC_LEFT}}', 'usage', 'route'), []);
  t.deepEqual(without('📊{{TRAFFIC_LEFT}}GB|{{STATUS}}', 'usage'), []);
});

test('filter: every usage token goes, the others stay', (t) => {
  const tokens =
    'TRAFFIC_USED TRAFFIC_LEFT TRAFFIC_TOTAL TRAFFIC_USED_BYTES TRAFFIC_LEFT_BYTES TRAFFIC_TOTAL_BYTES UP DOWN DAYS_LEFT EXPIRE_DATE EXPIRE_UNIX JALALI_EXPIRE_DATE STATUS STATUS_EMOJI USAGE_PERCENTAGE TIME_LEFT';
  for (const name of tokens.split(' ')) t.deepEqual(without(`{{${name}}}`, 'usage'), [], name);
  const others =
    'EMAIL USERNAME INBOUND HOST ID SHORT_ID TELEGRAM_ID SUB_ID COMMENT CREATED_UNIX RESET_DAYS RESET_DAY PROTOCOL TRANSPORT SECURITY NO_SUCH';
  for (const name of others.split(' '))
    t.deepEqual(without(`{{${name}}}`, 'usage'), parseTemplate(`{{${name}}}`), name);
});

test('filter: a template with nothing to remove keeps its spaces and empty segments', (t) => {
  t.deepEqual(without('  {{INBOUND}} || {{HOST}} ', 'usage'), parseTemplate('  {{INBOUND}} || {{HOST}} '));
});

test('filter: spaces around pipes stay, at the ends they go, literal segments stay', (t) => {
  t.deepEqual(
    without('{{INBOUND}} | {{STATUS}} | {{HOST}}', 'usage'),
    parseTemplate('{{INBOUND}} | {{HOST}}'),
  );
  t.deepEqual(without('{{STATUS}} | {{HOST}} ', 'usage'), parseTemplate('{{HOST}}'));
  t.deepEqual(without('VIP | {{STATUS}}', 'usage'), parseTemplate('VIP'));
});

test('filter: a single-brace name goes as the token it stands for', (t) => {
  t.deepEqual(without('{EMAIL} 📊{DATA_LEFT}', 'usage'), parseTemplate('{{EMAIL}}'));
});

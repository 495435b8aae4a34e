import test from 'ava';
import { compileRemark, type RemarkTemplate } from '../template.js';
import type { RemarkInput } from '../tokens.js';
import { DAY, DEFAULT_TEMPLATE, GB, named, NOW, remarkInput } from './sample.js';

const compile = (template: string, identityOnAllLinks = false): RemarkTemplate =>
  compileRemark(template, { identityOnAllLinks });
const first = (template: string, input: RemarkInput): string => compile(template).first(input);

const host = (client: Partial<RemarkInput['client']> = {}): RemarkInput => named('host', '', client);
const usage = '{{INBOUND}}|📊{{TRAFFIC_LEFT}}|⏳{{DAYS_LEFT}}D';

const golden: readonly (readonly [template: string, input: RemarkInput, remark: string])[] = [
  ['{{INBOUND}}-{{EMAIL}}', named('Germany', 'john'), 'Germany-john'],
  ['{{INBOUND}}-{{EMAIL}}', named('', 'john'), 'john'],
  ['{{INBOUND}}-{{EMAIL}}', named('Germany', ''), 'Germany'],
  ['{{INBOUND}} - {{EMAIL}}', named('Germany', ''), 'Germany'],
  ['-{{EMAIL}}', named('', 'john'), '-john'],
  ['-{{INBOUND}}-{{EMAIL}}', named('', 'john'), '-john'],
  ['{{EMAIL}}-{{INBOUND}}-{{EMAIL}}', named('', 'john'), 'john-john'],
  ['🌐{{INBOUND}}-{{EMAIL}}', named('', 'john'), '🌐john'],
  ['Sub {{INBOUND}}-{{EMAIL}}', named('', 'john'), 'Sub john'],
  [DEFAULT_TEMPLATE, named('', 'john'), 'john'],
  [usage, host(), 'host'],
  [usage, host({ totalGB: 50 * GB, up: 3 * GB, down: 5 * GB }), 'host|📊42.00GB'],
  ['{{EMAIL}} 📊{{TRAFFIC_LEFT}}', named('', 'john'), 'john 📊∞'],
  ['{{INBOUND}}|{{COMMENT}}', host(), 'host'],
  ['{{INBOUND}}|📅{{EXPIRE_DATE}}', host(), 'host'],
  [
    '{{INBOUND}} | {{TRAFFIC_LEFT}} | {{DAYS_LEFT}}d',
    named('DE', '', { totalGB: 100 * GB, down: 20 * GB, expiryTime: -10 * DAY }),
    'DE | 80.00GB | 10d',
  ],
  [
    '{{INBOUND}}|{{HOST}}|{{TRAFFIC_LEFT}}',
    remarkInput({ inboundRemark: 'DE', hostRemark: 'CDN', client: { totalGB: 100 * GB, up: 20 * GB } }),
    'DE|CDN|80.00GB',
  ],
  [
    '',
    remarkInput({ inboundRemark: 'DE', hostRemark: 'Relay', client: { email: 'john@example.com' } }),
    'DE-Relay-john@example.com',
  ],
  ['  {{INBOUND}}  ', named('DE', ''), '  DE  '],
];

for (const [index, [template, input, remark]] of golden.entries()) {
  test(`golden ${index + 1}: ${template}`, (t) => {
    t.is(first(template, input), remark);
  });
}

test('golden: display forms', (t) => {
  const input = remarkInput({
    inboundRemark: 'DE',
    hostRemark: 'CDN',
    client: { email: 'john@example.com', totalGB: 100 * GB },
  });
  t.is(compile(DEFAULT_TEMPLATE).display(input), 'DE-john@example.com');
  t.is(compile('{{INBOUND}}-{{HOST}}|📊{{TRAFFIC_LEFT}}').display(input), 'DE-CDN');
});

test('golden: the first link shows all, later links by the identity setting', (t) => {
  const template = '{{INBOUND}}-{{EMAIL}}|{{USERNAME}}|📊{{TRAFFIC_LEFT}}|{{STATUS_EMOJI}}';
  const input = named('DE', 'alice@x', { totalGB: 100 * GB, up: 20 * GB });
  t.is(first(template, input), 'DE-alice@x|alice@x|📊80.00GB|✅');
  t.is(compile(template, false).later(input), 'DE');
  t.is(compile(template, true).later(input), 'DE-alice@x|alice@x');
});

test('golden: two clients of one subscription', (t) => {
  const template = compile('{{INBOUND}}-{{EMAIL}}');
  t.is(template.first(named('DE', 'first@example')), 'DE-first@example');
  t.is(template.later(named('FI', 'second@example')), 'FI');
});

test('the identity setting does not touch first and display', (t) => {
  const input = named('DE', 'alice');
  for (const identity of [true, false]) {
    t.is(compile(DEFAULT_TEMPLATE, identity).first(input), 'DE-alice');
    t.is(compile(DEFAULT_TEMPLATE, identity).display(input), 'DE-alice');
  }
});

test('no template, or a blank one, joins what there is, on every kind of link', (t) => {
  for (const text of ['', '  ']) {
    const { first, later, display } = compile(text);
    for (const render of [first, later, display]) {
      t.is(
        render(remarkInput({ inboundRemark: 'DE', hostRemark: 'Relay', client: { email: 'j' } })),
        'DE-Relay-j',
      );
      t.is(render(remarkInput({ hostRemark: 'Relay', client: { email: 'j' } })), 'Relay-j');
      t.is(render(named('DE', 'j')), 'DE-j');
      t.is(render(named('', 'j')), 'j');
      t.is(render(remarkInput()), '');
    }
  }
});

test('a blank result becomes the inbound remark', (t) => {
  t.is(first('{{EMAIL}}', named('DE', '')), 'DE');
  t.is(first(' | ', named('DE', '')), ' | ', 'a literal pipe is not blank');
  t.is(first('{{COMMENT}}|{{TRAFFIC_LEFT}}', named('DE', 'j')), 'DE');
  t.is(first('{{UNKNOWN}}', named('DE', 'j')), 'DE');
  t.is(first('{{COMMENT}}', named('DE', 'j', { comment: '  ' })), 'DE');
  t.is(first(DEFAULT_TEMPLATE, remarkInput()), '');
});

test('a template of filtered tokens only falls back to the inbound remark', (t) => {
  const input = named('DE', 'j', { totalGB: GB });
  t.is(compile('{{TRAFFIC_LEFT}}').first(input), '1.00GB');
  t.is(compile('{{TRAFFIC_LEFT}}').later(input), 'DE');
  t.is(compile('{{TRAFFIC_LEFT}}').display(input), 'DE');
});

test('a lone dash stands only between texts', (t) => {
  const template = '{{INBOUND}}-{{HOST}}-{{EMAIL}}';
  t.is(first(template, named('A', 'C')), 'A-C');
  t.is(first(template, named('A', '')), 'A');
  t.is(first(template, remarkInput({ hostRemark: 'B', client: { email: 'C' } })), 'B-C');
  t.is(first('{{INBOUND}} - {{EMAIL}}', named('A', 'B')), 'A - B');
  t.is(first('{{INBOUND}}--{{EMAIL}}', named('A', '')), 'A--', 'two dashes are plain text');
  t.is(first('{{INBOUND}}-', named('A', '')), 'A-', 'nothing behind it');
  t.is(
    first('{{INBOUND}}|{{COMMENT}}-{{EMAIL}}', named('A', 'B')),
    'A|B',
    'text before a pipe does not count',
  );
});

test('segments: literal ones stay, those with only empty or unlimited tokens go', (t) => {
  t.is(first('VIP|{{INBOUND}}', named('DE', '')), 'VIP|DE');
  t.is(first('VIP|x{{COMMENT}}y', named('DE', '')), 'VIP');
  t.is(first('{{INBOUND}}|{{TRAFFIC_TOTAL}} {{TIME_LEFT}} {{DAYS_LEFT}}', named('DE', '')), 'DE');
  t.is(
    first(
      '{{INBOUND}}|{{TRAFFIC_LEFT}} of {{TRAFFIC_TOTAL}} {{DAYS_LEFT}}',
      named('DE', '', { expiryTime: NOW + DAY }),
    ),
    'DE|∞ of ∞ 1',
  );
  t.is(
    first('{{INBOUND}}|{{HOST}}', remarkInput({ inboundRemark: 'DE', hostRemark: '∞' })),
    'DE|∞',
    'only limits can be unlimited',
  );
});

test('pipes and braces in values are only text', (t) => {
  t.is(first('{{INBOUND}}-{{EMAIL}}', named('a|{{EMAIL}}', '{EMAIL}')), 'a|{{EMAIL}}-{EMAIL}');
});

// The draft of the template: what is changed, joined with the changes of another admin, and sent.
import test from 'ava';
import { issuesAt, TemplateDraft } from '../page/routing/draft-store.js';
import { lineOf } from '../page/forms/json-lines.js';
import { changedFields } from '../page/routing/merge.js';
import {
  addressOf,
  fieldValue,
  kindOf,
  KINDS,
  type OutboundField,
  withField,
} from '../page/routing/outbound-kinds.js';
import {
  addressFields,
  sentenceOf,
  targetOf,
  withLines,
  withSwitch,
  withTarget,
} from '../page/routing/rule-words.js';
import {
  asText,
  type Entry,
  freeTag,
  listOf,
  moved,
  type Template,
  withValueAt,
} from '../page/routing/template.js';

const out = (tag: string, more: Entry = {}): Entry => ({ tag, protocol: 'freedom', ...more });
const START: Template = {
  log: { loglevel: 'warning' },
  outbounds: [out('direct'), out('blocked')],
  routing: { domainStrategy: 'AsIs', rules: [], balancers: [] },
  strange: { kept: true },
};
const tags = (template: Template | undefined): unknown[] =>
  listOf(template ?? {}, 'outbounds').map(({ tag }) => tag);

test('the line of a value is found by its path', (t) => {
  const text = '{\n"a.b": [1, "}\\"]",\n {"c": 2,\n\n"d": {}}],\n"e": null}';
  t.is(lineOf(text, ''), 1);
  t.is(lineOf(text, 'a.b.1'), 2);
  t.is(lineOf(text, 'a.b.2'), 3);
  t.is(lineOf(text, 'a.b.2.d'), 5);
  t.is(lineOf(text, 'e'), 6);
  t.is(lineOf(text, 'a.b.2.missing'), 3, 'the deepest one that is there');
  t.is(lineOf('{"a": ', 'a.b'), 1);
  t.is(lineOf('{"a": {"b": "open', 'c'), 1);
  t.is(lineOf(`{"a": "${'x'.repeat(9_000_000)}",\n"b": "\\\\",\n"c": 1}`, 'c'), 3);
});

test('a protocol with the name of something else has no form', (t) => {
  for (const protocol of ['constructor', '__proto__', 'toString', '', 7])
    t.is(kindOf({ protocol }), undefined);
  t.is(kindOf({ protocol: 'socks' }), KINDS['socks']);
});

test('outbounds of the same tag have names of their own', (t) => {
  const twins = [out('a'), out('a'), out('a (2)'), out('a')];
  const before: Template = { ...START, outbounds: twins };
  const now: Template = { ...START, outbounds: twins.with(1, out('a', { mux: {} })) };
  t.deepEqual(changedFields(before, now), ['outbound a (2)']);
  const last: Template = { ...START, outbounds: twins.with(3, out('a', { mux: {} })) };
  t.deepEqual(changedFields(before, last), ['outbound a (3)']);
});

test('a field of the form changes its own key, and a cleared login goes as a whole', (t) => {
  const label = (name: string): OutboundField =>
    KINDS['socks']?.fields.find((field) => field.label === `routing.field.${name}`) as OutboundField;
  const start: Entry = { tag: 's', protocol: 'socks', strange: 1, ...KINDS['socks']?.initial };
  const typed = withField(withField(start, label('address'), 'a.example'), label('port'), '99');
  t.is(addressOf(typed), 'a.example:99');
  t.is(typed['strange'], 1);
  const user = withField(typed, label('user'), 'ann');
  t.is(fieldValue(user, label('user')), 'ann');
  t.deepEqual(withField(user, label('user'), ''), typed);
  const flat: Entry = { protocol: 'socks', settings: { address: '::1', port: 1 } };
  t.is(addressOf(withField(flat, label('port'), '2')), '[::1]:2');
  t.is(fieldValue(withField(typed, label('port'), '9x'), label('port')), '9x', 'what is typed stays');
});

test('changes of two admins are joined: each keeps what only he changed', (t) => {
  const draft = new TemplateDraft();
  draft.meet({ template: START, version: '1' });
  draft.changeList('outbounds', (list) => [...moved(list, 1, 0), out('mine')]);
  const theirs: Template = {
    ...START,
    outbounds: [out('direct', { theirs: true }), out('blocked'), out('new')],
    dns: { servers: ['1.1.1.1'] },
  };
  draft.meet({ template: theirs, version: '2' });
  t.deepEqual(draft.conflicts().conflicts, []);
  t.deepEqual([...draft.conflicts().kept].sort(), ['outbound direct', 'outbound new', 'part dns']);
  draft.join({});
  const state = draft.state();
  t.deepEqual(tags(state?.now), ['blocked', 'new', 'direct', 'mine']);
  t.true(listOf(state?.now ?? {}, 'outbounds')[2]?.['theirs']);
  t.deepEqual(state?.now['dns'], theirs['dns']);
  t.deepEqual(state?.now['strange'], START['strange']);
  t.is(state?.saved.version, '2');
  t.deepEqual(changedFields(theirs, state?.now ?? {}).sort(), ['order', 'outbound mine']);
});

test('what both changed is chosen, and a deleted one can come back', (t) => {
  for (const side of ['mine', 'theirs'] as const) {
    const draft = new TemplateDraft();
    draft.meet({ template: START, version: '1' });
    draft.changeList('outbounds', ([direct = {}]) => [{ ...direct, mine: 1 }]);
    const theirs = { ...START, outbounds: [out('direct', { theirs: 1 }), out('blocked', { theirs: 1 })] };
    draft.meet({ template: theirs, version: '2' });
    const { conflicts } = draft.conflicts();
    t.deepEqual(conflicts.map(({ field }) => field).sort(), ['outbound blocked', 'outbound direct']);
    draft.join({ 'outbound direct': side, 'outbound blocked': side });
    t.deepEqual(
      draft.state()?.now['outbounds'],
      side === 'theirs' ? theirs.outbounds : [out('direct', { mine: 1 })],
    );
  }
});

test('without changes the draft follows the panel, and its own save is not a change of another', (t) => {
  const draft = new TemplateDraft();
  draft.meet({ template: START, version: '1' });
  draft.meet({ template: { ...START, log: {} }, version: '2' });
  t.is(draft.state()?.saved.version, '2');
  draft.changeList('outbounds', (list) => list.slice(1));
  const saved = JSON.parse(draft.text()) as Template;
  draft.applied();
  draft.changeList('outbounds', (list) => [...list, out('next')]);
  draft.meet({ template: saved, version: '3' });
  t.is(draft.state()?.theirs, undefined);
  t.is(draft.state()?.saved.version, '3');
  t.deepEqual(tags(draft.state()?.now), ['blocked', 'next']);
});

test('text that is not JSON yet outlives what another admin saves', (t) => {
  const draft = new TemplateDraft();
  draft.meet({ template: START, version: '1' });
  draft.setBroken('outbounds.0', '{');
  draft.meet({ template: { ...START, log: {} }, version: '2' });
  t.deepEqual(draft.state()?.broken, { 'outbounds.0': '{' });
  t.is(draft.state()?.theirs?.version, '2');
});

test('blank lines of rules are left out of what is sent, and nothing else is', (t) => {
  const draft = new TemplateDraft();
  const rule = { domain: ['a.example', '', ' '], ip: [''], outboundTag: 'direct', strange: [''] };
  draft.meet({ template: START, version: '1' });
  t.is(draft.text(), asText(START));
  draft.changeList('rules', () => [rule]);
  const { routing } = JSON.parse(draft.text()) as { routing: { rules: unknown } };
  t.deepEqual(routing.rules, [{ domain: ['a.example'], outboundTag: 'direct', strange: [''] }]);
});

test('problems are those of the entry, by the path within it', (t) => {
  const path = 'engineSetting.outbounds.1.tag';
  const issues = [
    { path, message: `${path}: it needs a tag` },
    { path: 'engineSetting.outbounds.10', message: 'another' },
  ];
  t.deepEqual(issuesAt(issues, 'outbounds.1'), [{ path: 'tag', message: 'it needs a tag' }]);
});

test('a new tag is free', (t) => {
  t.is(freeTag([out('a'), out('a-2')], 'a'), 'a-3');
});

const say = (key: string, values: object = {}): string =>
  key === 'routing.when.and'
    ? '; '
    : `${key.replace('routing.', '')}(${Object.values(values)
        .join(' ')
        .replaceAll(/[\u2068\u2069]/g, '')})`;

test('a rule is a sentence: all that it takes, and where that leaves', (t) => {
  const rule = {
    type: 'field',
    domain: ['a', 'b', '', 'c', 'd', 'e'],
    port: 443,
    attrs: { x: 1 },
    outboundTag: 'far',
  };
  t.is(
    sentenceOf(rule, say),
    'sentence(when.domain(a, b, c, d, +1); when.port(443); attrs {"x":1} to.outbound(far))',
  );
  t.is(sentenceOf({ balancerTag: 'pool' }, say), 'sentence(when.any() to.balancer(pool))');
  t.is(sentenceOf({ domain: 'a' }, say), 'sentence(when.domain(a) to.nothing())');
});

test('the form of a rule changes its own keys', (t) => {
  const rule = { domain: ['a'], balancerTag: 'pool', strange: 1 };
  t.is(targetOf(rule), 'bpool');
  t.deepEqual(withTarget(rule, 'ofar'), { domain: ['a'], outboundTag: 'far', strange: 1 });
  t.deepEqual(withLines(rule, 'domain', 'a\n'), { ...rule, domain: ['a', ''] });
  t.deepEqual(withLines(rule, 'domain', ''), { balancerTag: 'pool', strange: 1 });
  t.deepEqual(withSwitch(withSwitch(rule, false), true), rule);
  t.false(withSwitch(rule, false)['enabled']);
});

test('what the panel said of a draft is gone when the draft is changed', (t) => {
  const draft = new TemplateDraft();
  draft.meet({ template: START, version: '1' });
  draft.tell([{ path: 'engineSetting.outbounds.0', message: 'wrong' }]);
  draft.changeList('outbounds', (list) => list.slice(1));
  t.deepEqual(draft.state()?.issues, []);
});

test('a value that is changed stays at its place, so that changing it back is no change', (t) => {
  const entry = { a: { b: 1, c: 2 }, d: [3, { e: 4 }] };
  const changed = withValueAt(withValueAt(entry, ['a', 'b'], 9), ['d', 1, 'e'], 9);
  t.is(JSON.stringify(changed), '{"a":{"b":9,"c":2},"d":[3,{"e":9}]}');
  t.is(JSON.stringify(withValueAt(entry, ['a', 'b'], undefined)), '{"a":{"c":2},"d":[3,{"e":4}]}');
  t.is(JSON.stringify(withValueAt({}, ['x', 'y'], 1)), '{"x":{"y":1}}');
});

test('what is typed for a route test is a name or an address', (t) => {
  t.deepEqual(addressFields(' 192.0.2.1 '), { ip: '192.0.2.1' });
  t.deepEqual(addressFields('[2001:db8::1]'), { ip: '2001:db8::1' });
  t.deepEqual(addressFields('1.example'), { domain: '1.example' });
});

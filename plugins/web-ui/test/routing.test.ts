// The draft of the template: what is changed, joined with the changes of another admin, and sent.
import test from 'ava';
import { issuesAt, TemplateDraft } from '../page/routing/draft-store.js';
import { lineOf } from '../page/routing/json-lines.js';
import { changedFields } from '../page/routing/merge.js';
import {
  addressOf,
  fieldValue,
  KINDS,
  type OutboundField,
  withField,
} from '../page/routing/outbound-kinds.js';
import { asText, type Entry, freeTag, listOf, moved, type Template } from '../page/routing/template.js';

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

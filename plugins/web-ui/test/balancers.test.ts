// Balancers and probes of the draft of routing, and what is taken back in it.
import test from 'ava';
import {
  allTags,
  matching,
  needsProbes,
  probesName,
  rulesTo,
  strategyOf,
  subjectsOf,
  unprobed,
  withProbes,
  withStrategy,
} from '../page/routing/balancer-rules.js';
import { TemplateDraft } from '../page/routing/draft-store.js';
import { placeName, placeOf } from '../page/routing/places.js';
import { type Entry, listOf, tagOf, type Template } from '../page/routing/template.js';

const out = (tag: string): Entry => ({ tag, protocol: 'freedom' });
const START: Template = {
  outbounds: [out('direct'), out('exit-1'), out('exit-2')],
  routing: {
    rules: [{ balancerTag: 'pool' }, { outboundTag: 'pool' }],
    balancers: [{ tag: 'pool', selector: ['exit-'], strategy: { type: 'leastping', strange: 1 } }],
  },
};
const tags = allTags(START, ['exit-3', '', 'direct']);
const pool = (more: Entry): Template => ({
  ...START,
  routing: { balancers: [{ tag: 'pool', selector: ['exit-'], ...more }] },
});

test('a selector takes tags that begin with it, also those of lists', (t) => {
  t.deepEqual(tags, ['direct', 'exit-1', 'exit-2', 'exit-3']);
  t.deepEqual(matching(['exit-', ''], tags), ['exit-1', 'exit-2', 'exit-3']);
  t.deepEqual(matching(['xit'], tags), []);
});

test('a strategy is read in any spelling, and its settings stay', (t) => {
  const [balancer = {}] = listOf(START, 'balancers');
  t.is(strategyOf(balancer), 'leastPing');
  t.is(strategyOf({}), 'random');
  t.is(strategyOf({ strategy: { type: 'mine' } }), 'mine');
  t.deepEqual(withStrategy(balancer, 'random')['strategy'], { type: 'random', strange: 1 });
});

test('probes are made for the balancers that need them, and widened for more', (t) => {
  t.false(needsProbes({ tag: 'pool' }));
  t.true(needsProbes({ fallbackTag: 'direct' }));
  t.deepEqual(unprobed(pool({}), tags), []);
  t.deepEqual(unprobed(START, tags), ['exit-1', 'exit-2', 'exit-3']);
  const made = withProbes(START);
  t.is(probesName(made), 'observatory');
  t.deepEqual(unprobed(made, tags), []);
  t.is(probesName(withProbes(pool({ strategy: { type: 'leastLoad' } }))), 'burstObservatory');
  const narrow: Template = { ...START, burstObservatory: { subjectSelector: ['exit-1'], strange: 1 } };
  t.deepEqual(unprobed(narrow, tags), ['exit-2', 'exit-3']);
  const wide = withProbes(narrow);
  t.deepEqual(subjectsOf(wide), ['exit-1', 'exit-']);
  t.like(wide, { burstObservatory: { strange: 1 }, observatory: undefined });
  t.deepEqual(withProbes(wide), wide, 'what is covered is not named again');
});

test('the rules that lead to a balancer are counted', (t) => {
  t.is(rulesTo(START, 'pool'), 1);
});

test('an entry that is taken out comes back at its place, beside what changed since', (t) => {
  const draft = new TemplateDraft();
  draft.meet({ template: START, version: '1' });
  const putBack = draft.remove('outbounds', 1);
  draft.changeList('outbounds', (list) => [...list, out('new')]);
  putBack();
  t.deepEqual(listOf(draft.state()?.now ?? {}, 'outbounds').map(tagOf), [
    'direct',
    'exit-1',
    'exit-2',
    'new',
  ]);
});

test('discarded changes come back, with texts that are not JSON yet, unless something is changed since', (t) => {
  const draft = new TemplateDraft();
  draft.meet({ template: START, version: '1' });
  draft.remove('outbounds', 0);
  draft.setBroken('routing.rules.0', '{');
  const before = draft.state();
  const takeBack = draft.discard();
  t.false(draft.isChanged);
  t.true(takeBack());
  t.deepEqual(draft.state(), before);
  const again = draft.discard();
  draft.remove('outbounds', 2);
  t.false(again());
  t.deepEqual(listOf(draft.state()?.now ?? {}, 'outbounds').map(tagOf), ['direct', 'exit-1']);
});

test('discarded changes that come back meet what another admin saved meanwhile', (t) => {
  const draft = new TemplateDraft();
  draft.meet({ template: START, version: '1' });
  draft.remove('outbounds', 0);
  const takeBack = draft.discard();
  draft.meet({ template: { ...START, log: {} }, version: '2' });
  t.true(takeBack());
  t.is(draft.state()?.saved.version, '1');
  t.is(draft.state()?.theirs?.version, '2');
});

test('a session that is given up takes the draft with it', (t) => {
  const draft = new TemplateDraft();
  draft.meet({ template: START, version: '1' });
  draft.remove('outbounds', 0);
  draft.forget();
  t.is(draft.state(), undefined);
  t.false(draft.isChanged);
});

test('a problem leads to the page of its entry', (t) => {
  const say = (key: string, values: object = {}): string => `${key} ${Object.values(values).join()}`;
  const place = placeOf('engineSetting.outbounds.1.settings.port');
  t.like(place, { page: '/routing/outbound', at: 1, within: 'settings.port' });
  t.is(place && placeName(place, START, say), 'routing.field.outbound \u2068exit-1\u2069');
  t.like(placeOf('routing.balancers.0'), { page: '/routing/balancer', at: 0, within: '' });
  t.is(place && placeName({ ...place, at: 9 }, START, say), 'routing.field.outbound routing.noTag ');
  const rule = placeOf('engineSetting.routing.rules.3');
  t.is(rule && placeName(rule, START, say), 'routing.ruleTitle 4');
  for (const path of ['engineSetting.dns', 'engineSetting.inbounds.0', 'outbounds'])
    t.is(placeOf(path), undefined, path);
});

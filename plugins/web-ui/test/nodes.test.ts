// What the page makes of nodes: addresses as people type them, the order of the tree, and states.
import test from 'ava';
import { nodeOfTexts, textsOfNode } from '../page/nodes/node-texts.js';
import { placeOfTyped, typedPlace } from '../page/nodes/place.js';
import { stateOf } from '../page/nodes/state.js';
import { type PanelNode, treeOf } from '../page/nodes/tree.js';
import { conflictsOf, merged } from '../page/parts/conflict.js';
import { BLANK_NODE, bodyOf, fieldOfIssue } from '../page/nodes/wanted.js';

const node = (more: Partial<PanelNode>): PanelNode =>
  ({
    id: 0,
    guid: '',
    parentGuid: '',
    name: '',
    enable: true,
    transitive: false,
    status: 'online',
    lastError: '',
    engineState: 'running',
    engineError: '',
    problems: [],
    ...more,
  }) as unknown as PanelNode;

test('an address is read as it is typed, and shown as it was read', (t) => {
  const read = (text: string) => {
    const place = placeOfTyped(text);
    return place && typedPlace(place);
  };
  t.is(read(' https://paris.example.com:2053/base/ '), 'https://paris.example.com:2053/base/');
  t.is(read('paris.example.com:2053'), 'https://paris.example.com:2053/');
  t.is(read('https://paris.example.com'), 'https://paris.example.com:443/');
  t.is(read('http://10.0.0.1'), 'http://10.0.0.1:80/');
  t.is(read('https://[2001:db8::1]:2053'), 'https://[2001:db8::1]:2053/');
  t.is(read('https://paris.example.com:2053/base/panel/clients'), 'https://paris.example.com:2053/base/');
  t.is(read('https://paris.example.com:2053/panel/'), 'https://paris.example.com:2053/');
  t.is(read('https://paris.example.com:2053/mypanel'), 'https://paris.example.com:2053/mypanel/');
  for (const wrong of [
    '',
    'two words',
    'ftp://a',
    'https://user:word@a',
    'https://a/?b=c',
    'https://a:99999',
  ])
    t.is(read(wrong), undefined, wrong);
});

test('a body has the place, and a token only if one was typed', (t) => {
  const typed = { ...BLANK_NODE, name: ' Paris ', place: 'https://a.example:1/b' };
  t.is(bodyOf({ ...typed, place: 'two words' }, 'x'), undefined);
  t.like(bodyOf(typed, ' secret '), {
    name: 'Paris',
    address: 'a.example',
    basePath: '/b/',
    apiToken: 'secret',
  });
  t.false(Object.hasOwn(bodyOf(typed, '') ?? {}, 'apiToken'));
  t.false(Object.hasOwn(bodyOf(typed, '') ?? {}, 'place'));
  t.is(fieldOfIssue('body.address'), 'place');
  t.is(fieldOfIssue('apiToken'), 'token');
  t.is(fieldOfIssue('inboundTags[3]'), undefined);
});

test('nodes come after the panel that has them, each once, also if they lead back', (t) => {
  const keys = (nodes: PanelNode[]) => treeOf(nodes).map((branch) => `${branch.depth} ${branch.node.name}`);
  const below = { transitive: true };
  t.deepEqual(
    keys([
      node({ id: 1, guid: 'a', name: 'a' }),
      node({ id: 2, guid: 'b', name: 'b' }),
      node({ ...below, guid: 'c', parentGuid: 'a', name: 'c' }),
      node({ ...below, guid: 'd', parentGuid: 'c', name: 'd' }),
      node({ ...below, guid: 'c', parentGuid: 'd', name: 'c again' }),
      node({ ...below, guid: 'e', parentGuid: 'nobody', name: 'e' }),
    ]),
    ['0 a', '1 c', '2 d', '3 c again', '0 b', '1 e'],
  );
  const circle = [
    node({ ...below, guid: 'x', parentGuid: 'y', name: 'x' }),
    node({ ...below, guid: 'y', parentGuid: 'x', name: 'y' }),
  ];
  t.deepEqual(keys(circle), ['1 x', '2 y']);
  // Nodes that have not answered yet have no guid, and nothing is below them.
  t.deepEqual(keys([node({ id: 1, name: 'new' }), node({ ...below, name: 'odd' })]), ['0 new', '1 odd']);
});

test('a state says why', (t) => {
  const sync = { nodeId: 1, name: '', pending: 0, refused: 0, sentAt: 0, comparedAt: 0, problem: '' };
  t.is(stateOf(node({}), sync).level, 'good');
  t.is(stateOf(node({ enable: false, status: 'offline', lastError: 'x' }), sync).level, 'off');
  t.like(stateOf(node({ status: 'offline', lastError: 'refused' }), sync), {
    text: 'nodes.state.lost',
    reasons: ['refused'],
  });
  t.is(stateOf(node({ status: 'unknown' }), undefined).text, 'nodes.state.unknown');
  t.is(stateOf(node({ engineState: 'error', engineError: 'bad config' }), sync).level, 'bad');
  t.is(stateOf(node({}), { ...sync, refused: 1 }).level, 'warn');
  t.like(stateOf(node({}), { ...sync, problem: 'too old' }), { level: 'warn', reasons: ['too old'] });
});

test('a typed node is the same after it was compared as texts', (t) => {
  const typed = { ...BLANK_NODE, name: 'Paris', allowPrivateAddress: true, inboundTags: ['b,c', 'a'] };
  t.deepEqual(nodeOfTexts(textsOfNode(typed)), { ...typed, inboundTags: ['a', 'b,c'] });
  const before = textsOfNode(typed);
  t.deepEqual(conflictsOf(before, before, textsOfNode({ ...typed, inboundTags: ['a', 'b,c'] })), []);
  const mine = textsOfNode({ ...typed, remark: 'mine' });
  const theirs = textsOfNode({ ...typed, remark: 'theirs', allowPrivateAddress: false });
  t.deepEqual(conflictsOf(before, mine, theirs), [
    { field: 'remark', before: '', mine: 'mine', theirs: 'theirs' },
  ]);
  const saved = nodeOfTexts(merged(before, mine, theirs, {}));
  t.like(saved, { remark: 'mine', allowPrivateAddress: false, name: 'Paris' });
});

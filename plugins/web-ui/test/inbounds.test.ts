// An inbound as its page edits it: what a new one has, what is sent, what of a broken text is said.
import test from 'ava';
import { chosenOf, shownPath, textsOf } from '../page/inbounds/conflict.js';
import { conflictsOf, onlyTheirs } from '../page/parts/conflict.js';
import {
  documentOf,
  editOf,
  mergedAbove,
  newDocument,
  parseInbound,
  type ProtocolsReply,
  type TransportsReply,
  withStream,
} from '../page/inbounds/document.js';

const schemas: ProtocolsReply = {
  inbound: { properties: { protocol: { type: 'string' }, port: { type: 'integer' } } },
  protocols: [
    {
      name: 'bird',
      title: 'Bird',
      streams: [{ network: 'tcp', securities: ['none', 'tls'] }],
      settings: { properties: { height: { type: 'integer', default: 3 } } },
    },
  ],
};
const transports: TransportsReply = {
  networks: [{ name: 'tcp', title: 'TCP', key: 'tcpSettings', settings: { properties: {} } }],
  securities: [
    { name: 'none', title: 'None', key: '', settings: null },
    { name: 'tls', title: 'TLS', key: 'tlsSettings', settings: { properties: { alpn: { default: 'h2' } } } },
  ],
  sniffing: {},
};
const [bird] = schemas.protocols;

test('a new inbound has what its schemas begin with, and what was typed of itself', (t) => {
  if (!bird) return t.fail();
  t.deepEqual(newDocument(bird, schemas, transports, { port: 7, settings: { old: 1 } }), {
    port: 7,
    protocol: 'bird',
    settings: { height: 3 },
    streamSettings: { network: 'tcp', security: 'none', tcpSettings: {} },
  });
});

test('another security adds its part, and unknown keys and typed parts stay', (t) => {
  const stream = { network: 'tcp', security: 'none', tcpSettings: { typed: 1 }, odd: true };
  t.deepEqual(withStream(stream, 'tcp', 'tls', transports), {
    ...stream,
    security: 'tls',
    tlsSettings: { alpn: 'h2' },
  });
});

test('another choice takes the parts of the one before away, and brings them back', (t) => {
  const rest = { network: 'tcp', tcpSettings: {}, sockopt: { mark: 1 } };
  const stream = { ...rest, security: 'tls', tlsSettings: { alpn: 'h3' } };
  const plain = withStream(stream, 'tcp', 'none', transports, stream);
  t.deepEqual(plain, { ...rest, security: 'none' });
  t.deepEqual(withStream(plain, 'tcp', 'tls', transports, stream), stream);
});

test('an edit sends changed parts only, and never clients or counters', (t) => {
  const stored = { id: 1, up: 9, port: 1, protocol: 'bird', settings: { odd: 1, clients: [{ email: 'a' }] } };
  const before = documentOf(stored, schemas);
  t.deepEqual(before, { port: 1, protocol: 'bird', settings: { odd: 1 } });
  t.deepEqual(editOf(before, { ...before, port: 2 }, schemas), { port: 2 });
});

test('what was taken away is sent blank, because what is not sent stays', (t) => {
  const nullable: ProtocolsReply = {
    ...schemas,
    inbound: { properties: { nodeId: { type: ['integer', 'null'] }, total: { type: 'integer' } } },
  };
  const before = { nodeId: 3, total: 9, remark: 'a', sniffing: { enabled: true }, settings: {} };
  t.deepEqual(editOf(before, {}, nullable), { nodeId: null, total: 0, remark: '', sniffing: {} });
  t.deepEqual(editOf({ total: 0, remark: '' }, {}, nullable), {});
});

test('a broken text says its line', (t) => {
  t.deepEqual(parseInbound('{"a":1}'), { document: { a: 1 } });
  t.deepEqual(parseInbound('{\n"a": 1,\n"b": x\n}').fault, { kind: 'syntax', line: 3 });
  for (const text of ['[]', 'null', '1', '']) t.is(parseInbound(text).fault?.line, 1, text);
});

test('clients in a text are refused at their line, however they are written', (t) => {
  const refused = (text: string, line: number) =>
    t.deepEqual(parseInbound(text), { fault: { kind: 'clients', line } }, text);
  refused('{\n"tag": "clients",\n"settings": {\n"x": ["}\\""],\n"clients": []\n}}', 5);
  refused('{"settings": {"in": {"clients": 1},\n"\\u0063lients": null\n}}', 2);
  refused('{\n"settings":\n"{\\"clients\\":[]}"}', 3);
  for (const text of ['{"clients": 1}', '{"settings": {"in": {"clients": 1}}}', '{"settings": "clients"}'])
    t.truthy(parseInbound(text).document, text);
});

test('after somebody else saved, only what the reader changed is put above it', (t) => {
  const before = { remark: 'a', port: 1, settings: { height: 3, wings: 2, list: [1] }, listen: 'x' };
  const mine = { remark: 'a', port: 2, settings: { height: 4, wings: 2, list: [1] } };
  const theirs = {
    remark: 'b',
    port: 1,
    settings: { height: 9, wings: 5, list: [1, 2] },
    listen: 'x',
    tag: 't',
  };
  t.deepEqual(mergedAbove(before, mine, theirs), {
    remark: 'b',
    port: 2,
    settings: { height: 4, wings: 5, list: [1, 2] },
    tag: 't',
  });
  t.deepEqual(mergedAbove({}, { settings: { height: 1 } }, { settings: { wings: 1 } }), {
    settings: { height: 1 },
  });
});

test('fields that both have changed are compared one by one, and each goes as the reader says', (t) => {
  const before = { remark: 'a', settings: { height: 3, wings: 2, 'a.b': {} }, listen: 'x' };
  const mine = { remark: 'a', settings: { height: 4, wings: 7, 'a.b': { deep: true } } };
  const theirs = { remark: 'b', settings: { height: 9, wings: 5, list: [1] }, listen: 'y' };
  const texts = textsOf(before, mine, theirs);
  const [ours = {}, own = {}, other = {}] = texts;
  const at = (...keys: string[]): string => JSON.stringify(keys);
  t.deepEqual(
    conflictsOf(ours, own, other).map(({ field, ...values }) => [shownPath(field), values]),
    [
      ['settings.height', { before: '3', mine: '4', theirs: '9' }],
      ['settings.wings', { before: '2', mine: '7', theirs: '5' }],
      ['listen', { before: 'x', mine: '', theirs: 'y' }],
    ],
  );
  t.deepEqual(onlyTheirs(ours, own, other).map(shownPath), ['remark', 'settings.list']);
  t.deepEqual(
    chosenOf(before, mine, theirs, {
      [at('settings', 'height')]: 'theirs',
      [at('settings', 'wings')]: 'mine',
    }),
    {
      remark: 'b',
      settings: { height: 9, wings: 7, list: [1], 'a.b': { deep: true } },
    },
  );
  t.deepEqual(chosenOf(before, mine, theirs, { [at('listen')]: 'theirs' })['listen'], 'y');
});

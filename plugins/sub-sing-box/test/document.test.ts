// The document around the entries: holes, tags, and templates of the admin.
import test from 'ava';
import type { JsonObject } from '../../engine/contract.js';
import { defaultTemplate } from '../default-template.js';
import { compileDocument } from '../document.js';
import { readTemplate } from '../template.js';

interface Read {
  readonly outbounds: readonly {
    readonly tag: string;
    readonly type: string;
    readonly outbounds?: string[];
  }[];
  readonly endpoints: readonly { readonly tag: string }[];
}
const node = (tag: string): string => JSON.stringify({ type: 'socks', tag });
const write = (template: JsonObject, tags: readonly string[], entries = tags.map(node)): Read =>
  JSON.parse(compileDocument(template)(entries, tags)) as Read;
const tagsOf = ({ outbounds }: Read): string[] => outbounds.map(({ tag }) => tag);

test('entries come into every group that asks for them, and into the lists', (t) => {
  const template = readTemplate(
    JSON.stringify({
      outbounds: [
        { type: 'selector', tag: 'a', outbounds: ['{all}', 'd'] },
        { type: 'selector', tag: 'b', outbounds: ['d', '{all}', 'a'] },
        { type: 'direct', tag: 'd' },
      ],
      endpoints: [{ type: 'wireguard', tag: 'own' }],
    }),
  );
  const tunnel = '{"type":"wireguard","tag":"w"}';
  const read = write(template, ['n "1"', 'w'], [node('n "1"'), tunnel]);
  t.deepEqual(tagsOf(read), ['a', 'b', 'd', 'n "1"']);
  t.deepEqual(read.outbounds[0]?.outbounds, ['n "1"', 'w', 'd']);
  t.deepEqual(read.outbounds[1]?.outbounds, ['d', 'n "1"', 'w', 'a']);
  t.deepEqual(
    read.endpoints.map(({ tag }) => tag),
    ['own', 'w'],
  );
});

test('without an entry nothing is sent directly', (t) => {
  const read = write(defaultTemplate(14), []);
  t.deepEqual(tagsOf(read), ['proxy', 'auto', 'direct', 'nothing']);
  t.is(read.outbounds[3]?.type, 'block');
  t.deepEqual(read.outbounds[0]?.outbounds, ['auto', 'nothing']);
  t.deepEqual(read.outbounds[1]?.outbounds, ['nothing']);
  t.deepEqual(read.endpoints, []);
});

test('a name that the template has gets another tag, which nobody has', (t) => {
  const read = write(defaultTemplate(14), ['direct', 'direct-2', 'proxy']);
  t.deepEqual(tagsOf(read), ['proxy', 'auto', 'direct', 'direct-3', 'direct-2', 'proxy-2']);
  t.deepEqual(read.outbounds[1]?.outbounds, ['direct-3', 'direct-2', 'proxy-2']);
});

const group = { type: 'selector', tag: 'a', outbounds: ['{all}'] };
const REFUSED: readonly (readonly [template: unknown, message: RegExp])[] = [
  ['{', /^it is not JSON: /],
  [[], /^it must be a JSON object/],
  [{}, /^outbounds must have a group/],
  [{ outbounds: {} }, /^outbounds must be a list/],
  [{ outbounds: [group, 1] }, /^outbounds\[1\] must be an object/],
  [{ outbounds: [group, { type: 'direct' }] }, /^outbounds\[1\]\.tag must be a text/],
  [{ outbounds: [group, group] }, /^outbounds\[1\]\.tag is "a", as outbounds\[0\]\.tag is/],
  [{ outbounds: [group], endpoints: [{ tag: 'a' }] }, /^endpoints\[0\]\.tag is "a"/],
  [
    { outbounds: [{ ...group, outbounds: ['{all}', 'x'] }] },
    /^outbounds\[0\]\.outbounds\[1\] must be "\{all\}"/,
  ],
  [{ outbounds: [{ ...group, outbounds: [] }] }, /^outbounds must have a group/],
];
for (const [template, message] of REFUSED)
  test(`a template is refused: ${JSON.stringify(template)}`, (t) =>
    void t.throws(() => readTemplate(typeof template === 'string' ? template : JSON.stringify(template)), {
      message,
    }));

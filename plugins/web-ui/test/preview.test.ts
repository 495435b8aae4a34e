// What a subscription contains, as people read it.
import test from 'ava';
import { headerRows, lineChanges, shownBody, wholeText } from '../page/subscription/preview.js';

const encoded = (text: string): string => Buffer.from(text).toString('base64');

test('links that are sent as base64 are shown as links', (t) => {
  const links = 'vless://a@b:1#سارا\ntrojan://c@d:2#x\n';
  t.deepEqual(shownBody(encoded(links)), { text: links, isEncoded: true });
  t.deepEqual(shownBody(`${encoded(links)}\n`), { text: links, isEncoded: true });
});

test('what is no base64 of a text stays as it is', (t) => {
  for (const body of ['', 'abc', 'proxies:\n  - name: x\n', 'AAAAAAAA////', 'not base64!'])
    t.deepEqual(shownBody(body), { text: body, isEncoded: false }, body);
});

test('JSON is shown with lines, and what is not valid as it is', (t) => {
  t.is(shownBody('{"a":[1]}').text, '{\n  "a": [\n    1\n  ]\n}');
  t.is(shownBody('{"a":').text, '{"a":');
});

test('headers say what is in their base64', (t) => {
  t.deepEqual(headerRows({ 'Profile-Title': `base64:${encoded('خانه')}`, Announce: 'base64:%%' }), [
    { name: 'Profile-Title', value: 'خانه' },
    { name: 'Announce', value: 'base64:%%' },
  ]);
});

test('lines that a save has changed are found, wherever they stand', (t) => {
  t.deepEqual(lineChanges('a\nb\nc', 'c\na\nd'), { added: ['d'], removed: ['b'] });
  t.deepEqual(lineChanges('a\na\nb', 'a\nb'), { added: [], removed: ['a'] });
  t.deepEqual(lineChanges('a\nb', 'b\na'), { added: [], removed: [] });
});

test('headers and the status are part of what is compared', (t) => {
  const preview = {
    status: 200,
    format: 'links',
    rule: null,
    headers: { A: '1', ETag: '"x"' },
    body: encoded('vless://x'),
  };
  t.is(wholeText(preview), '200\nA: 1\nvless://x');
});

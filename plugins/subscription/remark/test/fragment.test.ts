import test from 'ava';
import { encodeFragment } from '../fragment.js';
import { compileRemark } from '../template.js';
import { DAY, DEFAULT_TEMPLATE, GB, named, NOW } from './sample.js';

test('G47: the default template, first and second link', (t) => {
  const template = compileRemark(DEFAULT_TEMPLATE, { identityOnAllLinks: false });
  const input = named('DE', 'john@x', { totalGB: 100 * GB, down: 20 * GB, expiryTime: NOW + 10 * DAY });
  t.is(encodeFragment(template.first(input)), 'DE-john%40x%7C%F0%9F%93%8A80.00GB%7C%E2%8F%B310D');
  t.is(encodeFragment(template.later(input)), 'DE');
});

test('G48: beyond ASCII', (t) => {
  t.is(encodeFragment('Сервер 1'), '%D0%A1%D0%B5%D1%80%D0%B2%D0%B5%D1%80%201');
});

test('G49: a description stays literal', (t) => {
  t.is(
    encodeFragment('Server 01?serverDescription=RmFzdCBTZXJ2ZXI='),
    'Server%2001?serverDescription=RmFzdCBTZXJ2ZXI=',
  );
});

test('G50: any other question mark is escaped', (t) => {
  t.is(encodeFragment('Fast? Server'), 'Fast%3F%20Server');
});

test('G51: what is not base64 is no description', (t) => {
  t.is(
    encodeFragment('Node 1?serverDescription=not-base64!!!'),
    'Node%201%3FserverDescription%3Dnot-base64%21%21%21',
  );
});

test('a description: standard alphabet, padded, not empty, at the end', (t) => {
  t.is(encodeFragment('a?serverDescription=+/+/'), 'a?serverDescription=+/+/');
  t.is(encodeFragment('a?serverDescription=QQ=='), 'a?serverDescription=QQ==');
  for (const tail of ['', 'QQ', 'QQ=', 'Q===', '====', 'QQ==x', '-_-_', 'QQ==\n']) {
    const remark = `a?serverDescription=${tail}`;
    t.is(encodeFragment(remark), encodeURIComponent(remark), tail);
  }
  t.is(
    encodeFragment('a?serverDescription=x?serverDescription=QQ=='),
    'a%3FserverDescription%3Dx?serverDescription=QQ==',
  );
});

test('every ASCII character but the unreserved ones is escaped, in upper case', (t) => {
  for (let code = 0; code < 128; code++) {
    const character = String.fromCharCode(code);
    const expected = /[A-Za-z0-9\-_.~]/.test(character)
      ? character
      : `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
    t.is(encodeFragment(character), expected);
    t.is(encodeFragment(`é${character}`), `%C3%A9${expected}`);
  }
  t.is(encodeFragment(''), '');
});

test('half a surrogate pair does not break the list', (t) => {
  t.is(encodeFragment('a\ud83d'), 'a%EF%BF%BD');
  t.is(encodeFragment('\udc00(📊'), '%EF%BF%BD%28%F0%9F%93%8A');
});

// Sealed text in the hands of somebody who can write the database.
import test from 'ava';
import { isSealed, keyIdOf, keyOf, MOST_BYTES, newKey, type Place, seal, unseal } from '../sealed-text.js';

const key = newKey();
const place: Place = { plugin: 'acme', table: 'x_acme_bots', column: 'token', key: '7' };

test('what is sealed opens at its place, and never looks the same twice', (t) => {
  for (const secret of ['', 'a', 'ключ ☃ \0', 'x'.repeat(MOST_BYTES)]) {
    const sealed = seal(key, secret, place);
    t.true(isSealed(sealed));
    t.is(keyIdOf(sealed), key.id);
    t.is(unseal(key, sealed, place), secret);
    t.not(seal(key, secret, place), sealed);
    t.false(secret.length > 3 && sealed.includes(secret));
  }
  t.throws(() => seal(key, 'x'.repeat(MOST_BYTES + 1), place), {
    message: /65536 bytes, this one has 65537/,
  });
});

test('it opens at no other place', (t) => {
  const sealed = seal(key, 'secret', place);
  for (const other of [
    { key: '8' },
    { key: '' },
    { column: 'name' },
    { table: 'x_acme_nodes' },
    { plugin: 'settings' },
    // Parts that are put together without care would be the same text.
    { table: 'x_acme_bots","token', column: '7' },
    { table: 'x_acme_bot', column: 'stoken' },
  ])
    t.is(unseal(key, sealed, { ...place, ...other }), undefined, JSON.stringify(other));
});

test('it opens with no other key, and a text that names another key does not open', (t) => {
  const other = newKey();
  const sealed = seal(key, 'secret', place);
  t.is(unseal(other, sealed, place), undefined);
  const renamed = sealed.replace(key.id, other.id);
  t.is(unseal(other, renamed, place), undefined);
  t.is(unseal(key, renamed, place), undefined);
});

test('no changed byte, no cut and no appended text opens', (t) => {
  const sealed = seal(key, 'secret', place);
  const start = sealed.lastIndexOf(':') + 1;
  const bytes = Buffer.from(sealed.slice(start), 'base64url');
  for (let i = 0; i < bytes.length; i++)
    for (const bit of [1, 128]) {
      const changed = Buffer.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ bit;
      t.is(unseal(key, sealed.slice(0, start) + changed.toString('base64url'), place), undefined, String(i));
    }
  for (let length = 0; length < sealed.length; length++)
    t.is(unseal(key, sealed.slice(0, length), place), undefined, String(length));
  for (const text of [
    `${sealed}A`,
    `${sealed}=`,
    ` ${sealed}`,
    `${sealed}\n`,
    sealed.toUpperCase(),
    '',
    'weir1:',
    '{}',
  ])
    t.is(unseal(key, text, place), undefined, text);
  // The last digit of base64 may have bits to spare: another spelling of the same bytes is another text.
  const spare = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].filter(
    (digit) => unseal(key, sealed.slice(0, -1) + digit, place) !== undefined,
  );
  t.deepEqual(spare, [sealed.slice(-1)]);
});

test('a key is 32 bytes in base64, spelled in one way, and its id does not tell it', (t) => {
  t.is(keyOf(key.text)?.id, key.id);
  t.false(Buffer.from(key.text, 'base64').toString('hex').includes(key.id));
  for (const text of [
    '',
    'A',
    key.text.slice(0, -1),
    `${key.text}=`,
    `${'A'.repeat(42)}B=`,
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    `${'-'.repeat(43)}=`,
  ])
    t.is(keyOf(text), undefined, text);
});

// A note to the user: an entry that client programs show and that connects nowhere.
import test from 'ava';
import type { Contributed } from '../../../kernel/index.js';
import { readerWith } from '../../link-reader/test/reader.js';
import type { ListFormat } from '../../subscription/contract.js';
import plugin from '../index.js';

test('a note is a SOCKS proxy without a login on the own machine of the user, and its name is the text', (t) => {
  const scope = { settings: { read: () => ({ subPath: '/s/', subEncrypt: false }) } };
  const [format] = (
    plugin as unknown as { contributes(scope: object): readonly Pick<Contributed<ListFormat>, 'value'>[] }
  ).contributes(scope);
  const note = format?.value.note?.('Expired 100% (ann)') ?? '';
  t.is(note, 'socks://127.0.0.1:1080#Expired%20100%25%20%28ann%29');
  t.deepEqual(readerWith().read(note), {
    name: 'Expired 100% (ann)',
    server: '127.0.0.1',
    port: 1080,
    account: { protocol: 'mixed', user: '', password: '' },
    transport: { kind: 'tcp' },
    security: { kind: 'none' },
  });
});

// Runs client programs.
// The program's own check of everything that the format claims. Documents of 1.12 and later; older ones are golden files.
import test from 'ava';
import { cannotWrite } from '../outbound.js';
import { MINORS } from '../version.js';
import { documentOf } from './golden.js';
import { FURTHER, MATRIX, type Named } from './matrix.js';
import { check } from './program.js';

const CLAIMED = [...MATRIX, ...FURTHER].filter(({ entry }) => cannotWrite(entry) === undefined);
for (const minor of MINORS.filter((one) => one >= 12))
  test(`sing-box accepts all that the format writes for 1.${minor}`, async (t) => {
    t.is(await check(t, documentOf(minor, CLAIMED)), '');
  });

test('sing-box accepts a document without an entry', async (t) => {
  t.is(await check(t, documentOf(14, [])), '');
});

test('sing-box accepts a tag that the template has too', async (t) => {
  const [first] = CLAIMED as [Named];
  const entries = ['direct', 'auto', 'direct-2'].map((name) => ({ ...first, name }));
  t.is(await check(t, documentOf(14, entries)), '');
});

test('the check would see a wrong document', async (t) => {
  const broken = documentOf(14, CLAIMED.slice(0, 1)).replace('"server_port"', '"port"');
  t.regex(await check(t, broken), /unknown field "port"/);
});

// Documents by version. Those of 1.12 and later are checked by the program too (accepted.full.test.ts); 1.11 and gecko
// are held by these files alone.
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { MINORS } from '../version.js';
import { documentOf } from './golden.js';

const FOLDER = new URL('../../../../plugins/sub-sing-box/test/golden/', import.meta.url);
for (const minor of MINORS)
  test(`the document for 1.${minor}`, async (t) => {
    const golden = await readFile(new URL(`1.${minor}.json`, FOLDER), 'utf8');
    t.deepEqual(JSON.parse(documentOf(minor)), JSON.parse(golden));
  });

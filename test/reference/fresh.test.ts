// What is written from the declarations is as the declarations are now, and says all that they say.
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { makeReference } from '../harness/reference.js';
import { sourceRoot } from '../harness/source-root.js';

test('the reference and the client are fresh, and nothing is left undescribed', async (t) => {
  const { files, complaints } = await makeReference();
  t.deepEqual(
    complaints,
    [],
    'say it with describedAs(…), or teach plugins/api-docs/json-schema.ts to say it',
  );
  const root = await sourceRoot();
  for (const [path, text] of Object.entries(files))
    t.true(
      text === (await readFile(new URL(path, root), 'utf8')),
      `${path} is out of date; run node bin/reference.mjs`,
    );
});

test('it is the same whenever it is made', async (t) => {
  const [one, other] = [await makeReference(), await makeReference()];
  t.deepEqual(one.files, other.files);
});

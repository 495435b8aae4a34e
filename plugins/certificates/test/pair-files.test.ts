// Files of a certificate that change: whatever is wrong with the new ones, the served ones stay.
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { issue as sign, selfSigned, writePair } from '../../../test/harness/self-signed.js';
import { PairProblem, readPair, readPairAgain } from '../pair-files.js';
import { folderFor } from '../../../test/harness/folder-for.js';

test('a pair that cannot be served is refused, and says which file', async (t) => {
  const folder = await folderFor(t);
  const root = sign({ name: 'root', isAuthority: true });
  const leaf = sign({ name: 'leaf', hosts: ['leaf.example'], issuer: root });
  const { certFile, keyFile } = await writePair(folder, leaf);
  const served = await readPair(certFile, keyFile);
  const chain = leaf.cert + root.cert;
  const half = chain.slice(0, leaf.cert.length + 200);
  const end = '-----END CERTIFICATE-----\n';
  for (const [what, cert, key, part, problem] of [
    [
      'the key of another',
      leaf.cert,
      selfSigned().key,
      'key',
      /key\.pem is not a PEM private key that matches/,
    ],
    ['half a key', leaf.cert, leaf.key.slice(0, 60), 'key', /matches the certificate/],
    ['no key', leaf.cert, '', 'key', /key\.pem cannot be read: it is empty/],
    ['a certificate as key', leaf.cert, leaf.cert, 'key', /matches/],
    ['an empty chain', '', leaf.key, 'certificate', /cert\.pem cannot be read: it is empty/],
    ['a chain that is cut off', half, leaf.key, 'certificate', /cert\.pem is not a valid PEM certificate/],
    ...['-----BEGIN CERT', '-----BEGIN CERTIFICATE-----', '---'].map(
      (begun) =>
        [
          `a chain that ends with ${begun}`,
          leaf.cert + begun,
          leaf.key,
          'certificate',
          /is not a valid PEM certificate/,
        ] as const,
    ),
    [
      'a chain with a hole',
      `${half}\n${end}`,
      leaf.key,
      'certificate',
      /cert\.pem is not a valid PEM certificate/,
    ],
    ['a page', '<html>', leaf.key, 'certificate', /cert\.pem is not a valid PEM certificate/],
    ['a bundle', leaf.cert.repeat(33), leaf.key, 'certificate', /holds 33 certificates; at most 32 belong/],
    ['too much', 'x'.repeat(2 ** 16 + 1), leaf.key, 'certificate', /it is larger than 64 KiB/],
  ] as const) {
    await writePair(folder, { cert, key });
    for (const read of [readPair(certFile, keyFile), readPairAgain(served, certFile, keyFile)]) {
      const error = await t.throwsAsync(read, { instanceOf: PairProblem }, what);
      t.is(error.part, part, what);
      t.regex(error.message, problem, what);
    }
  }
  await writePair(folder, { cert: chain, key: leaf.key });
  t.deepEqual(await readPairAgain(served, certFile, keyFile), { cert: chain, key: leaf.key });
  // A key in the same file, and text around it, are usual.
  const all = `# mine -----\n${chain}${leaf.key}`;
  await writePair(folder, { cert: all, key: all });
  t.is((await readPair(certFile, keyFile)).cert, all);
  for (const [path, problem] of [
    ['/dev/zero', /cannot be read: it is no file/],
    [folder, /cannot be read/],
    [join(folder, 'none'), /cannot be read/],
  ] as const)
    await t.throwsAsync(readPair(path, keyFile), { instanceOf: PairProblem, message: problem });
});

test('files that are slow to read for a pattern that tries again and again are read', async (t) => {
  const folder = await folderFor(t);
  const leaf = selfSigned();
  const fill = (text: string) => leaf.cert + text.repeat((2 ** 16 - leaf.cert.length) / text.length);
  for (const [what, cert, problem] of [
    ['many certificates', fill(leaf.cert), /holds \d+ certificates/],
    ['spaces after a dash', `${fill(' ').slice(0, leaf.cert.length)}-${' '.repeat(60_000)}x`],
    ['dashes', fill('-')],
    ['begins', fill('-----BEGIN A'), /holds \d+ certificates/],
  ] as const) {
    const { certFile, keyFile } = await writePair(folder, { cert, key: leaf.key });
    if (problem) await t.throwsAsync(readPair(certFile, keyFile), { message: problem }, what);
    else t.is((await readPair(certFile, keyFile)).cert, cert, what);
  }
});

test('an expired certificate takes the place of none that is better', async (t) => {
  const folder = await folderFor(t);
  const make = (until: number) => sign({ name: 'a', hosts: ['a.example'], from: -90, until });
  const [good, old, older] = [make(30), make(-1), make(-30)];
  const { certFile, keyFile } = await writePair(folder, old);
  const pem = ({ cert, key }: { cert: string; key: string }) => ({ cert, key });
  t.truthy(await readPair(certFile, keyFile), 'better than no HTTPS');
  await t.throwsAsync(readPairAgain(pem(good), certFile, keyFile), {
    message: /cert\.pem expired on \d{4}-/,
  });
  t.deepEqual(await readPairAgain(pem(older), certFile, keyFile), pem(old));
  t.deepEqual(await readPairAgain({ cert: '', key: '' }, certFile, keyFile), pem(old));
  const sooner = make(10);
  await writePair(folder, sooner);
  t.deepEqual(await readPairAgain(pem(good), certFile, keyFile), pem(sooner), 'a new one that ends sooner');
});

test('files that are being written are left for the next time', async (t) => {
  const folder = await folderFor(t);
  const root = sign({ name: 'root', isAuthority: true });
  const [before, leaf] = [selfSigned(), sign({ name: 'leaf', hosts: ['leaf.example'], issuer: root })];
  const { certFile, keyFile } = await writePair(folder, leaf);
  const served = { cert: before.cert, key: before.key };
  // The chain ends after the leaf for a moment, which alone looks whole.
  const reading = readPairAgain(served, certFile, keyFile);
  await new Promise((resolve) => setTimeout(resolve, 30));
  const file = await open(certFile, 'a');
  await file.writeFile(root.cert);
  await file.close();
  t.is(await reading, undefined);
  t.is((await readPairAgain(served, certFile, keyFile))?.cert, leaf.cert + root.cert);
  t.is(await readFile(certFile, 'utf8'), leaf.cert + root.cert);
  await writeFile(keyFile, leaf.key);
});

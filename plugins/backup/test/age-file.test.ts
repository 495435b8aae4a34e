// Runs age. Files are encrypted so that Debian's age opens them, and the other way round.
import { randomBytes } from 'node:crypto';
import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { testUnless } from '../../../test/harness/left-out.js';
import {
  decryptFile,
  encryptFile,
  identityProblem,
  isEncrypted,
  recipientProblem,
} from '../encryption/age-file.js';
import { encryptInThread } from '../encryption/encrypt-in-thread.js';
import { ageObstacle, newIdentity, runAge, runAgeWithPassphrase } from './age-program.js';
import { folderFor } from '../../../test/harness/folder-for.js';

const withAge = testUnless(ageObstacle());
const IDENTITY = 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX';

withAge('age opens what is encrypted for a public key, whatever its size', async (t) => {
  const folder = await folderFor(t);
  const { text, recipient } = newIdentity();
  await writeFile(join(folder, 'id'), text);
  for (const size of [0, 1, 65_535, 65_536, 65_537, 300_000, 5_000_000]) {
    const [plain, sealed] = [join(folder, `${size}`), join(folder, `${size}.age`)];
    const content = randomBytes(size);
    await writeFile(plain, content);
    const written = await encryptInThread(plain, sealed, { recipients: [recipient], passphrase: '' });
    t.is((await stat(sealed)).size, written.bytes);
    t.is((await stat(sealed)).mode & 0o777, 0o600);
    t.true(await isEncrypted(sealed));
    t.false(await isEncrypted(plain));
    const { code, out, err } = runAge('-d', '-i', join(folder, 'id'), sealed);
    t.is(code, 0, err);
    t.true(out.equals(content), `${size}`);
  }
});

withAge('what age encrypts can be decrypted, with the right identity only', async (t) => {
  const folder = await folderFor(t);
  const [mine, other] = [newIdentity(), newIdentity()];
  const path = (name: string) => join(folder, name);
  await writeFile(path('plain'), randomBytes(200_000));
  t.is(runAge('-r', mine.recipient, '-o', path('sealed'), path('plain')).code, 0);
  const open = (identities: string, to: string) =>
    decryptFile(path('sealed'), path(to), { identities: identities.split('\n'), passphrase: '' });
  await open(`${other.text}\n${mine.text}`, 'one');
  t.true((await readFile(path('one'))).equals(await readFile(path('plain'))));
  await t.throwsAsync(open(other.text, 'two'), { message: /encrypted for another/ });
  await t.throwsAsync(open('', 'three'), { message: /an identity or a passphrase is needed/ });
  t.is(runAge('-a', '-r', mine.recipient, '-o', path('armored'), path('plain')).code, 0);
  t.false(await isEncrypted(path('armored')), 'text is refused by name elsewhere');
});

withAge('age opens what is encrypted with a passphrase', async (t) => {
  const folder = await folderFor(t);
  const [plain, sealed, out] = [join(folder, 'plain'), join(folder, 'sealed'), join(folder, 'out')];
  await writeFile(plain, 'content');
  await encryptInThread(plain, sealed, { recipients: [], passphrase: 'a long passphrase' });
  const said = await runAgeWithPassphrase('a long passphrase', `age -d -o ${out} ${sealed}`);
  t.is(await readFile(out, 'utf8').catch(() => said), 'content');
});

test('a passphrase opens its file, and no other does', async (t) => {
  const folder = await folderFor(t);
  const [plain, sealed] = [join(folder, 'plain'), join(folder, 'sealed')];
  await writeFile(plain, randomBytes(70_000));
  await encryptFile(plain, sealed, { recipients: [], passphrase: 'correct horse' });
  await decryptFile(sealed, join(folder, 'out'), { identities: [], passphrase: 'correct horse' });
  t.true((await readFile(join(folder, 'out'))).equals(await readFile(plain)));
  await t.throwsAsync(decryptFile(sealed, join(folder, 'x'), { identities: [], passphrase: 'wrong' }), {
    message: /encrypted for another/,
  });
});

test('damaged, cut and endless files are refused with a sentence', async (t) => {
  const folder = await folderFor(t);
  const [plain, sealed] = [join(folder, 'plain'), join(folder, 'sealed')];
  await writeFile(plain, randomBytes(200_000));
  const { Decrypter: _, identityToRecipient } = await import('age-encryption');
  const { generateIdentity } = await import('age-encryption');
  const identity = await generateIdentity();
  await encryptFile(plain, sealed, { recipients: [await identityToRecipient(identity)], passphrase: '' });
  const whole = await readFile(sealed);
  const open = (n: number) =>
    decryptFile(sealed, join(folder, `out-${n}`), {
      identities: ['# a comment', identity, ''],
      passphrase: '',
    });
  await open(0);
  for (const [n, at] of [whole.length - 1, 100_000, 300, 60].entries()) {
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    await writeFile(sealed, damaged);
    await t.throwsAsync(open(n + 1), { message: /damaged|another/ }, `${at}`);
  }
  for (const [n, length] of [whole.length - 1, whole.length - 65_552, 131_300, 250, 40, 22].entries()) {
    await writeFile(sealed, whole);
    await truncate(sealed, length);
    await t.throwsAsync(open(n + 10), { message: /damaged or incomplete/ }, `${length}`);
  }
  await writeFile(sealed, `age-encryption.org/v1\n${'-> x y\n\n'.repeat(100_000)}`);
  await t.throwsAsync(open(20), { message: /its header has no end/ });
  await writeFile(sealed, 'age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 30\nAA\n--- AAAA\n');
  await t.throwsAsync(decryptFile(sealed, join(folder, 'y'), { identities: [], passphrase: 'x' }), {
    message: /too much work|damaged/,
  });
});

test('keys are checked, and never repeated', async (t) => {
  for (const [key, reason] of [
    ['', /not a public key/],
    ['age1', /not a public key/],
    ['age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq', /not a public key/],
    ['ssh-ed25519 AAAAC3', /SSH/],
    [IDENTITY, /secret key/],
  ] as const) {
    const problem = (await recipientProblem(key)) ?? '';
    t.regex(problem, reason, key);
    t.false(problem.includes('AGE-SECRET-KEY-1G'));
  }
  const { generateIdentity, identityToRecipient, generateHybridIdentity } = await import('age-encryption');
  for (const identity of [await generateIdentity(), await generateHybridIdentity()]) {
    t.is(await recipientProblem(await identityToRecipient(identity)), undefined);
    t.is(await identityProblem(['# created', identity]), undefined);
  }
  t.regex((await identityProblem(['# only', ''])) ?? '', /no line/);
  const wrong = await identityProblem(['AGE-SECRET-KEY-1QQQQ']);
  t.is(wrong, 'its identity number 1 is not valid');
  t.regex((await identityProblem(new Array(101).fill(IDENTITY))) ?? '', /more than 100/);
});

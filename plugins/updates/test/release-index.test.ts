// What an index of releases may be, and what is refused with which reason.
import test from 'ava';
import { readPublicKeys } from '../minisign.js';
import { FORMAT, nextRelease, readIndex, type Release, releasesOf, whyNot } from '../release-index.js';
import { signatureOf, type SigningKey } from '../signing-key.js';
import { compareVersions, isVersion } from '../version.js';
import { newKey, PLATFORM, releaseOf } from './release-server.js';

const key = newKey();
const bytes = Buffer.from('a package');
const NOW = Date.UTC(2026, 0, 1);

interface Given {
  readonly fields?: object;
  readonly content?: Buffer;
  readonly signer?: SigningKey;
  readonly trusted?: SigningKey;
  readonly change?: (signature: string) => string;
}

function read({ fields = {}, content, signer = key, trusted = key, change = (text) => text }: Given) {
  const index = {
    format: FORMAT,
    number: 1,
    createdAt: NOW,
    releases: [releaseOf('0.2.0', bytes)],
    ...fields,
  };
  const whole = content ?? Buffer.from(JSON.stringify(index));
  const signature = change(signatureOf(whole, signer, 'a comment'));
  return readIndex(whole, signature, readPublicKeys(trusted.publicText), NOW);
}

test('reads what is signed', (t) => {
  const index = read({});
  t.is(index.releases[0]?.version, '0.2.0');
  t.regex(index.key, /^[0-9A-F]{16}$/);
});

const line = (text: string, at: number, change: (line: string) => string): string =>
  text
    .split('\n')
    .map((one, i) => (i === at ? change(one) : one))
    .join('\n');
const damaged = (text: string): string =>
  `${text.slice(0, 40)}${text[40] === 'A' ? 'B' : 'A'}${text.slice(41)}`;
const file = (fields: object): object => ({ releases: [{ ...releaseOf('0.2.0', bytes), ...fields }] });
const package_ = (fields: object): object =>
  file({ files: [{ ...releaseOf('0.2.0', bytes).files[0], ...fields }] });

const REFUSED: Readonly<Record<string, readonly [Given, RegExp]>> = {
  'another key': [
    { signer: newKey() },
    /signed with the key [0-9A-F]{16}, and the trusted one is [0-9A-F]{16}/,
  ],
  'another key with the same id': [
    { signer: { ...newKey(), id: key.id } },
    /the signature does not match: it was changed, or not signed with the key/,
  ],
  'a changed signature': [{ change: (text) => line(text, 1, damaged) }, /the signature does not match/],
  'a changed comment': [
    { change: (text) => line(text, 2, () => 'trusted comment: another') },
    /the comment of the signature was changed/,
  ],
  'a comment whose signature is changed': [
    { change: (text) => line(text, 3, damaged) },
    /the comment of the signature was changed/,
  ],
  'a signature without a comment': [
    { change: (text) => text.split('\n').slice(0, 2).join('\n') },
    /not in the format of minisign/,
  ],
  'half a signature': [
    { change: (text) => line(text, 1, (one) => one.slice(0, 50)) },
    /its second line is missing/,
  ],
  'an empty signature': [{ change: () => '' }, /not in the format of minisign/],
  'a page of HTML as signature': [
    { change: () => `<html>${'x'.repeat(5000)}` },
    /too long for one of minisign/,
  ],
  'what is not JSON': [{ content: Buffer.from('{"format":') }, /not valid JSON/],
  'an index of 2 MiB': [{ content: Buffer.alloc(2 * 1024 * 1024, ' ') }, /larger than 1 MiB/],
  'another format': [{ fields: { format: 'weir-releases-9' } }, /format/],
  'an expired index': [{ fields: { expiresAt: NOW - 1 } }, /expired at 2025-12-31T/],
  'no number': [{ fields: { number: undefined } }, /number/],
  'a negative number': [{ fields: { number: -1 } }, /number/],
  'too many releases': [
    { fields: { releases: Array.from({ length: 101 }, (_, i) => releaseOf(`0.2.${i}`, bytes)) } },
    /releases/,
  ],
  'a version that is a path': [{ fields: file({ version: '../../etc' }) }, /version/],
  'another channel': [{ fields: file({ channel: 'nightly' }) }, /channel/],
  'a release without packages': [{ fields: file({ files: [] }) }, /files/],
  'a digest in capitals': [{ fields: package_({ sha256: 'A'.repeat(64) }) }, /sha256/],
  'a package of 2 GiB': [{ fields: package_({ size: 2 * 1024 ** 3 }) }, /size/],
  'a package of no bytes': [{ fields: package_({ size: 0 }) }, /size/],
};
for (const [name, [given, reason]] of Object.entries(REFUSED))
  test(`refuses ${name}`, (t) => {
    t.regex(t.throws(() => read(given)).message, reason);
  });

test('each of several keys counts, and ids are those that minisign shows', (t) => {
  const next = newKey();
  const keys = readPublicKeys(`untrusted comment: one\n${key.publicText}\n, ${next.publicText}`);
  t.is(keys.length, 2);
  const whole = Buffer.from('text');
  const text = signatureOf(whole, next, 'c');
  t.throws(() => readIndex(whole, text, keys, NOW), { message: /not valid JSON/ });
  t.throws(() => readPublicKeys('RWQ'), { message: /not a public key of minisign/ });
  t.throws(() => readPublicKeys(`${key.publicText} `.repeat(9)), { message: /more than 8 keys/ });
});

test('versions have the order of Semantic Versioning', (t) => {
  const order = [
    ...[
      '0.1.0',
      '0.2.0-alpha',
      '0.2.0-alpha.1',
      '0.2.0-alpha.beta',
      '0.2.0-beta',
      '0.2.0-beta.2',
      '0.2.0-beta.11',
    ],
    ...[
      '0.2.0-dev.20261123235959',
      '0.2.0-dev.99999999999999999999',
      '0.2.0-rc.1',
      '0.2.0',
      '0.10.0',
      '1.0.0',
    ],
  ];
  for (const [i, a] of order.entries())
    for (const [j, b] of order.entries())
      t.is(Math.sign(compareVersions(a, b)), Math.sign(i - j), `${a} and ${b}`);
  t.is(compareVersions('1.0.0+linux', '1.0.0'), 0);
  for (const wrong of [
    '1.0',
    'v1.0.0',
    '1.0.0-',
    '1.0.0-a..b',
    '1.0.0/..',
    '1.0.0\n',
    `1.0.0-${'a'.repeat(80)}`,
    '',
  ])
    t.false(isVersion(wrong), wrong);
});

test('offers the newest release that can follow the running one', (t) => {
  const list: Release[] = [
    releaseOf('0.2.0', bytes),
    releaseOf('0.4.0', bytes, { minimum: '0.3.0' }),
    releaseOf('0.3.0', bytes, { minimum: '0.1.0' }),
    releaseOf('0.3.1', bytes, {
      files: [{ ...releaseOf('0.3.1', bytes).files[0], platform: 'linux-riscv' } as never],
    }),
    releaseOf('0.5.0-dev.1', bytes, { channel: 'dev' }),
  ];
  const index = { format: FORMAT, number: 1, createdAt: 0, releases: list, key: '' } as never;
  const next = (current: string, channel: 'stable' | 'dev' = 'stable') =>
    nextRelease(releasesOf(index, channel), current, PLATFORM)?.version;
  t.is(next('0.1.0'), '0.3.0');
  t.is(next('0.3.0'), '0.4.0');
  t.is(next('0.4.0'), undefined);
  t.is(next('0.4.0', 'dev'), '0.5.0-dev.1');
  t.is(next('0.5.0-dev.1'), undefined, 'a stable one that is older');
  const why = (version: string, current: string) =>
    whyNot(list.find((one) => one.version === version) as Release, current, PLATFORM) ?? '';
  t.regex(why('0.4.0', '0.1.0'), /needs 0\.3\.0 or newer before it, and 0\.1\.0 runs/);
  t.regex(why('0.2.0', '0.3.0'), /older than 0\.3\.0, which runs; .*installed by root/);
  t.regex(why('0.2.0', '0.2.0'), /runs already/);
  t.regex(why('0.3.1', '0.3.0'), /has no package for linux-/);
});

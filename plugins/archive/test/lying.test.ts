// Archives that lie are refused by name, and nothing is changed.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { random } from '../../../test/harness/random.js';
import type { TestPanel } from '../../../test/harness/index.js';
import { archiveOf, boot, bring, linesOf, sealed, upload } from './archive-world.js';

let panel: TestPanel;
let whole = '';
test.before(async () => {
  panel = await boot();
  const id = await panel.addInbound();
  for (let i = 0; i < 5; i++) await panel.addClient(`client${i}`, [id], { totalGB: random(3).below(9) });
  whole = await archiveOf(panel);
  await panel.get('/panel/api/clients/bulkDel', { body: { emails: [0, 1, 2].map((i) => `client${i}`) } });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

const lines = (): string[] => whole.trimEnd().split('\n').slice(0, -1);
const nested = (): string => {
  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  return `{"kind":"clients","record":${deep}}`;
};

const cases: Readonly<Record<string, readonly [make: () => string | Uint8Array, says: RegExp]>> = {
  'an empty file': [() => '', /the file is empty/],
  'another file': [() => 'PK\u0003\u0004 not an archive', /line 1 is not JSON/],
  'a list of clients': [() => '[]\n', /line 1: it is not an object/],
  'the export of settings': [() => '{"kind":"weir-settings"}\n', /not an archive of `weir export`/],
  'a later format': [() => whole.replace('"version":1', '"version":2'), /format 2.*Upgrade the panel first/],
  'a later form of a kind': [
    () =>
      sealed(
        lines().map((line, i) =>
          i === 0 ? line.replace('"kind":"clients","version":1', '"kind":"clients","version":7') : line,
        ),
      ),
    /clients in the form 7/,
  ],
  'half a file': [() => whole.slice(0, whole.length / 2), /is not JSON|incomplete/],
  'a file without its last line': [() => `${lines().join('\n')}\n`, /incomplete.*without its last line/],
  'half a compressed file': [() => gzipSync(whole).subarray(0, 900), /cannot be decompressed/],
  'a wrong digest': [() => whole.replace('client4', 'client9'), /its SHA-256 is not/],
  'a wrong count': [
    () =>
      sealed(lines(), (end) => ({
        ...end,
        records: { ...(end['records'] as unknown as object), clients: 4 },
      })),
    /5 records of clients, and its last line says 4/,
  ],
  'a wrong sum': [
    () => sealed(lines(), (end) => ({ ...end, sums: { inbounds: { total: '7' } } })),
    /total of inbounds sums up to 0, and the last line says 7/,
  ],
  'text after the end': [() => `${whole}{"kind":"clients","record":{}}\n`, /comes after the end/],
  'kinds in another order': [
    () => {
      const [header = '', ...rest] = lines();
      return sealed([header, ...rest.toReversed()]);
    },
    /kinds come one after another/,
  ],
  'an unknown kind': [
    () => sealed([...lines(), '{"kind":"../../etc/passwd","record":{}}']),
    /line 1 does not name/,
  ],
  'a line without a record': [() => sealed([...lines(), '{"kind":"clients"}']), /has no record/],
  'a line of 64 MiB': [
    () => `${lines()[0]}\n${'x'.repeat(64 * 1024 * 1024)}`,
    /line 2 has more than 8388608 bytes/,
  ],
  'a compressed line that is a thousand times as long': [
    () => gzipSync(Buffer.concat([Buffer.from(`${lines()[0]}\n`), Buffer.alloc(256 * 1024 * 1024, 32)])),
    /line 2 has more than 8388608 bytes/,
  ],
  'a record that nests deeply': [() => sealed([...lines(), nested()]), /nests deeper/],
  'bytes that are not UTF-8': [
    () => Buffer.concat([Buffer.from(`${lines()[0]}\n`), Buffer.from([0x22, 0xff, 0x22, 0x0a])]),
    /line 2 is not JSON in UTF-8/,
  ],
};

for (const [name, [make, says]] of Object.entries(cases))
  test.serial(`refuses ${name}`, async (t) => {
    const before = linesOf(await archiveOf(panel));
    const { status, body } = await upload(panel, make(), { apply: 'true' });
    t.is(status, 422, body.msg);
    t.is(body.code, 'ARCHIVE_REFUSED');
    t.regex(body.msg, says);
    t.deepEqual(linesOf(await archiveOf(panel)), before);
  });

test.serial('200,000 lines of an unknown kind are counted, and none is taken', async (t) => {
  const header = JSON.parse(lines()[0] as string) as { kinds: object[] };
  header.kinds.push({ kind: 'of-others', version: 1, about: 'x' });
  const digest = createHash('sha256');
  const texts = [`${JSON.stringify(header)}\n`, '{"kind":"of-others","record":{}}\n'.repeat(200_000)];
  for (const text of texts) digest.update(text);
  const end = { records: { 'of-others': 200_000 }, sums: {}, sha256: digest.digest('hex') };
  const report = await bring(panel, `${texts.join('')}${JSON.stringify({ end })}\n`);
  const others = report.kinds.find(({ kind }) => kind === 'of-others');
  t.is(others?.leftCount, 200_000);
  t.is(others?.left.length, 1);
});

test.serial(
  'records of a whole archive that the API would refuse are left, and the others are taken',
  async (t) => {
    const bad = { kind: 'clients', record: { client: { email: 'a b' }, inboundIds: [1], usage: { up: -1 } } };
    const strange = { kind: 'clients', record: { client: 5, inboundIds: 'x' } };
    const report = await bring(panel, sealed([...lines(), JSON.stringify(bad), JSON.stringify(strange)]));
    const clients = report.kinds.find(({ kind }) => kind === 'clients');
    t.is(clients?.taken, 3);
    t.is(clients?.leftCount, 4);
    t.deepEqual(panel.faults, []);
  },
);

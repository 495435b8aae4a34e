// Targets that lie about success, refuse, hang or send junk: a copy counts only when the same bytes come back.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import type { BackupRecord } from '../../backup/archive/record.js';
import { TargetCopies } from '../../backup/targets/copies.js';
import { OutgoingCalls } from '../../outgoing/service.js';
import { S3Target } from '../s3-target.js';
import { LyingServer } from './lying-server.js';

const GUID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const NAME = 'weir_2026-11-23_043000.db';
const MIB = 1024 * 1024;

interface World {
  readonly server: LyingServer;
  readonly copies: TargetCopies;
  readonly target: S3Target;
  readonly settings: Record<string, unknown>;
  readonly folder: string;
  copy(bytes?: number): Promise<void>;
}

async function worldOf(t: ExecutionContext, limits = { wholeMs: 20_000, silenceMs: 1_500 }): Promise<World> {
  const server = await LyingServer.start(t);
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const settings: Record<string, unknown> = {
    backupS3Bucket: 'bucket',
    backupS3Region: 'us-east-1',
    backupS3Endpoint: server.url,
    backupS3Prefix: 'p/',
    backupS3PathStyle: true,
    backupS3AllowPrivate: true,
    backupS3AccessKey: 'access-key',
    backupS3SecretKey: 'the-secret-key',
  };
  const signal = new AbortController().signal;
  const fault = (where: string, error: unknown) => t.log(where, error);
  const outgoing = new OutgoingCalls({
    listeners: { places: () => [] },
    contributions: (() => [{ plugin: 'backup-s3', value: target.access, fault }]) as never,
    clock: new FakeClock(0),
    signal,
    config: { allow: [] },
  });
  const target: S3Target = new S3Target({ settings: { read: () => settings } as never, outgoing });
  const copies = new TargetCopies(
    { plugin: 'backup-s3', value: target, fault } as never,
    GUID,
    signal,
    limits,
  );
  const copy = async (bytes = 10_000): Promise<void> => {
    const path = join(folder, NAME);
    const content = randomBytes(bytes);
    await writeFile(path, content);
    await copies.copy(path, recordOf(content), join(folder, 'record.json'));
  };
  return { server, copies, target, settings, folder, copy };
}

const recordOf = (content: Buffer): BackupRecord => {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return {
    manifest: {
      format: 1,
      name: NAME,
      guid: GUID,
      createdAt: 1,
      release: '0.1.0',
      by: 'schedule',
      encryption: '',
      recipients: [],
      bytes: content.length,
      sha256,
      contentBytes: content.length,
      contentSha256: sha256,
      migrations: [],
      counts: { clients: 0, inbounds: 0, up: 0, down: 0 },
    },
    verification: { state: 'verified', at: 1, method: 'restored', problem: '' },
    copies: {},
  };
};

test('an honest target has the file and then its record, and nothing stays here', async (t) => {
  const { server, copies, copy, folder } = await worldOf(t);
  await copy();
  t.deepEqual([...server.objects.keys()], [`p/${GUID}/${NAME}`, `p/${GUID}/${NAME}.json`]);
  t.deepEqual(await readdir(folder), [NAME]);
  const [listed] = await copies.list();
  t.like(listed, { problem: '', manifest: { name: NAME } });
  await copies.fetch(listed as BackupRecord, join(folder, 'fetched'));
  await copies.remove(NAME);
  t.is(server.objects.size, 0);
});

test('a large file goes in parts, and comes back in slices', async (t) => {
  const { server, copy } = await worldOf(t, { wholeMs: 120_000, silenceMs: 60_000 });
  await copy(70 * MIB);
  t.is(server.objects.get(`p/${GUID}/${NAME}`)?.length, 70 * MIB);
  t.is(server.calls.filter((call) => /partNumber=/.test(call)).length, 9);
  t.is(server.calls.filter((call) => call.startsWith('GET') && call.includes(`${NAME}?`)).length, 2);
});

for (const [title, behaviour, reason] of [
  ['stores nothing and says 200', { put: 'nothing' }, /it does not have the file that it said it has stored/],
  ['truncates', { put: 'truncate' }, /it says that it stored 10000 bytes, and returns 9999/],
  ['stores other bytes', { put: 'other' }, /it returns other bytes than were sent/],
  ['refuses access', { put: 403 }, /it refuses access; the key needs the rights/],
  ['is full', { put: 507 }, /its disk or quota is full/],
  ['redirects', { put: 301 }, /another region or at another address/],
  ['refuses the reading', { get: 403 }, /it refuses access/],
  ['sends another part', { get: 'other range' }, /another part of the file|returns 9999|other bytes/],
  ['sends without end', { get: 'endless' }, /more than the 10000 bytes that were stored/],
  ['hangs when it is read', { get: 'hang' }, /reading it took longer than 2 s/],
] as const)
  test(`a target that ${title} has no complete copy`, async (t) => {
    const { server, copies, copy, folder } = await worldOf(t);
    server.behaviour = behaviour;
    const error = await t.throwsAsync(copy(), { message: reason });
    t.regex(error?.message ?? '', /^the target s3 has no complete copy: /);
    t.notRegex(error?.message ?? '', /hunter2|the-secret-key/);
    // Without its record it is not listed.
    server.behaviour = {};
    t.deepEqual(await copies.list(), []);
    t.deepEqual(await readdir(folder), [NAME], 'the local file stays');
  });

test('an upload in parts that fails is aborted, because its parts stay and cost money', async (t) => {
  const { server, copy } = await worldOf(t);
  server.behaviour = { put: 403 };
  await t.throwsAsync(copy(9 * MIB), { message: /it refuses access/ });
  t.true(server.calls.some((call) => call.includes('partNumber=1')));
  t.is(server.openUploads, 0);
});

test('a reply that is too large to be parsed is given up', async (t) => {
  const { server, copies, copy } = await worldOf(t);
  await copy();
  server.behaviour = { list: 'huge' };
  await t.throwsAsync(copies.list(), { message: /more than 256 KiB of XML/ });
  server.behaviour = { get: 'huge error' };
  await t.throwsAsync(copy(), { message: /no complete copy/ });
  t.true(server.sent < 4 * MIB, `${server.sent} bytes were read`);
});

test('a target that hangs or breaks off while it stores is given up', async (t) => {
  const { server, copy } = await worldOf(t, { wholeMs: 1_000, silenceMs: 500 });
  server.behaviour = { put: 'hang' };
  await t.throwsAsync(copy(), { message: /storing it took longer than 1 s/ });
  server.behaviour = { put: 'cut' };
  await t.throwsAsync(copy(), { message: /127\.0\.0\.1|took longer/ });
});

test('a target that has a problem for a moment is asked again', async (t) => {
  const { server, copy } = await worldOf(t, { wholeMs: 60_000, silenceMs: 30_000 });
  server.behaviour = { put: 503 };
  setTimeout(() => (server.behaviour = {}), 30);
  await copy();
  t.is(server.objects.size, 2);
});

test('a list with junk or without an end shows our backups only', async (t) => {
  const { server, copies, copy } = await worldOf(t, { wholeMs: 60_000, silenceMs: 30_000 });
  await copy();
  server.behaviour = { list: 'endless' };
  t.deepEqual(
    (await copies.list()).map(({ manifest }) => manifest.name),
    [NAME],
  );
  t.true(server.calls.filter((call) => call.includes('list-type=2')).length <= 100);
  t.true(server.calls.every((call) => !call.includes('list-type=2') || call.includes('max-keys=100&')));
  server.behaviour = { list: 'junk' };
  server.objects.set(`p/${GUID}/weir_2026-01-01_000000.db.json`, Buffer.from('{'));
  t.deepEqual(
    (await copies.list()).map(({ manifest }) => manifest.name),
    [NAME],
  );
  server.behaviour = { list: 403 };
  await t.throwsAsync(copies.list(), { message: /cannot be listed, target s3: .*it refuses access/ });
  // A record there that describes another size.
  server.behaviour = {};
  server.objects.set(`p/${GUID}/${NAME}`, Buffer.from('x'));
  const [cut] = await copies.list();
  t.regex(cut?.problem ?? '', /has 1 bytes, and its record says 10000/);
});

test('a record of another panel is not listed, and a fetched file is compared with its record', async (t) => {
  const { server, copies, copy, folder } = await worldOf(t);
  await copy();
  const key = `p/${GUID}/${NAME}`;
  const [listed] = await copies.list();
  server.objects.set(key, Buffer.alloc(10_000));
  await t.throwsAsync(copies.fetch(listed as BackupRecord, join(folder, 'x')), {
    message: /another file than its record describes/,
  });
  t.false((await readdir(folder)).includes('x'));
  const record = JSON.parse(String(server.objects.get(`${key}.json`))) as { manifest: { guid: string } };
  record.manifest.guid = 'other';
  server.objects.set(`${key}.json`, Buffer.from(JSON.stringify(record)));
  t.deepEqual(await copies.list(), []);
});

test('halves that a crash has left are deleted, and nothing else', async (t) => {
  const { server, copies, copy } = await worldOf(t);
  await copy();
  const at = (name: string) => `p/${GUID}/${name}`;
  for (const name of [
    'weir_2026-01-01_000000.db',
    'weir_2026-01-02_000000.db.json',
    'weir_2026-01-03_000000.db',
    'notes.txt',
  ])
    server.objects.set(at(name), Buffer.from('x'));
  server.objects.set('p/other/weir_2026-01-01_000000.db', Buffer.from('x'));
  await copies.removeRests((name) => name === 'weir_2026-01-03_000000.db');
  t.deepEqual(
    [...server.objects.keys()].sort(),
    [
      at('notes.txt'),
      at('weir_2026-01-03_000000.db'),
      at(NAME),
      at(`${NAME}.json`),
      'p/other/weir_2026-01-01_000000.db',
    ].sort(),
  );
});

test('addresses that are not public need a permission, and keys are needed', async (t) => {
  const { settings, copy } = await worldOf(t);
  settings['backupS3AllowPrivate'] = false;
  await t.throwsAsync(copy(), { message: /set backupS3AllowPrivate/ });
  settings['backupS3AllowPrivate'] = true;
  settings['backupS3SecretKey'] = '';
  await t.throwsAsync(copy(), { message: /backupS3AccessKey and backupS3SecretKey are needed/ });
  settings['backupS3SecretKey'] = 'x';
  settings['backupS3Endpoint'] = 'http://127.0.0.1:1';
  await t.throwsAsync(copy(), { message: /127\.0\.0\.1:1/ });
});

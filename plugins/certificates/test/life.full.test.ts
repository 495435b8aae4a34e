// Runs a certificate authority. What happens to certificates besides being issued: lost files, other databases, removal, revocation.
import { X509Certificate } from 'node:crypto';
import { readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FakeClock, FakeEngine, TestPanel, until, weirCommand } from '../../../test/harness/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { selfSigned } from '../../../test/harness/self-signed.js';
import type { CertificateReply } from '../fields.js';
import { LyingAuthority, problem } from './lying-authority.js';
import { OrderingPanel, PATH } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing = testUnless(authorityMissing());
const serialOf = (pem: string): string => new X509Certificate(pem).serialNumber.toLowerCase();

issuing(
  'a new certificate is ordered within a minute, and one that fails again and again later and later',
  async (t) => {
    await using pebble = await Pebble.start();
    await using authority = await LyingAuthority.start(pebble);
    const clock = new FakeClock(Date.now());
    await using world = await OrderingPanel.boot(authority, { clock });
    authority.lie = (step) => (step === 'order' ? problem('serverInternal', 'ill', 500) : undefined);
    const { id } = await world.add({ names: ['a.example.com'] });
    clock.tick(71_000);
    await until(async () => (await world.one(id)).failures === 1, 'it was ordered');
    const orders = () => authority.steps.filter((step) => step === 'order').length;
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      const { renewAt } = await world.one(id);
      const wait = (renewAt ?? 0) - clock.now();
      waits.push(Math.floor(wait / 60_000));
      const before = orders();
      clock.jump(wait - 1000);
      await world.order();
      t.is(orders(), before, 'not before its time');
      clock.jump(2000);
      await world.order();
      t.is(orders(), before + 1);
    }
    for (const [i, least] of [9, 29, 59, 179].entries())
      t.true((waits[i] ?? 0) >= least && (waits[i] ?? 0) <= least * 1.25 + 2, waits.join());
    t.is((await world.one(id)).failures, 5);
    authority.lie = () => undefined;
    const issued = await world.issue(id);
    t.is(issued.failures, 0);
    t.is(issued.lastError, '');
    // By hand as well, no more often than authorities allow.
    for (let i = 0; i < 3; i++) await world.issue(id);
    const { status, body, headers } = await world.panel.call(`${PATH}/${id}/issue`, { body: {} });
    t.is(status, 429);
    t.regex(
      body.msg,
      /4 certificates for these names were issued within a week.*; the next order is possible at \d{4}-/,
    );
    t.true(Number(headers.get('retry-after')) > 6 * 86_400);
    // Nor by adding it again.
    t.is((await world.panel.call(`${PATH}/${id}/del`, { body: {} })).status, 200);
    const again = await world.add({ names: ['A.example.com.'] });
    t.regex(await world.refused(again.id), /^429 /);
    t.deepEqual(world.panel.faults, []);
  },
);

issuing(
  'files that are gone, or are those of another certificate, are taken from the database; without it they are ordered again',
  async (t) => {
    await using pebble = await Pebble.start();
    const world = await OrderingPanel.boot(pebble);
    const { dataDirectory } = world.panel;
    t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
    const [a, b, c] = [
      await world.add({ names: ['a.example.com'] }),
      await world.add({ names: ['b.example.com'] }),
      await world.add({ names: ['c.example.com'] }),
    ];
    const issued = new Map<number, CertificateReply>();
    for (const { id } of [a, b, c]) issued.set(id, await world.issue(id));
    await world.panel.stop();
    const folderOf = (id: number): string => dirname(issued.get(id)?.certificateFile ?? '');
    await rm(dirname(folderOf(a.id)), { recursive: true });
    await writeFile(join(folderOf(b.id), 'privkey.pem'), selfSigned().key);
    // The folder of another certificate, as a wrong restore would leave it.
    await rm(folderOf(c.id));
    await symlink('../../../weir.db', folderOf(c.id));

    const restarted = async (): Promise<OrderingPanel> =>
      new OrderingPanel(await TestPanel.boot({ plugins: [new FakeEngine().plugin], dataDirectory }));
    const restored = await restarted();
    for (const one of await restored.list()) {
      t.is(one.serial, issued.get(one.id)?.serial ?? '');
      t.is(serialOf(await readFile(one.certificateFile ?? '', 'utf8')), one.serial);
    }
    t.is((await stat(issued.get(a.id)?.keyFile ?? '')).mode & 0o777, 0o600);
    await restored.panel.stop();

    for (const id of [a.id, b.id, c.id]) await rm(dirname(folderOf(id)), { recursive: true });
    await editDatabase(dataDirectory, [
      `DELETE FROM certificate_pairs WHERE certificate_id = ${a.id}`,
      `UPDATE certificate_pairs SET private_key = 'weir:v1:broken' WHERE certificate_id = ${b.id}`,
      `UPDATE certificate_pairs SET chain = '' WHERE certificate_id = ${c.id}`,
    ]);
    const again = await restarted();
    t.deepEqual(
      (await again.list()).map(({ state }) => state),
      ['none', 'none', 'none'],
    );
    await again.order();
    await until(
      async () => (await again.list()).every(({ state }) => state === 'valid'),
      'all are ordered again',
    );
    for (const one of await again.list()) t.not(one.serial, issued.get(one.id)?.serial);
    t.deepEqual(again.panel.faults, []);
    const said = await weirCommand(dataDirectory, ['certificates']);
    t.regex(said.said, /1 {2}a\.example\.com {2}valid {2}\d{4}-\d{2}-\d{2}\n2 {2}b\.example\.com/);
    const ordered = await weirCommand(dataDirectory, ['certificates', 'issue', '--id', '2']);
    t.is(ordered.code, 0, ordered.said);
    t.regex(ordered.said, /2 {2}b\.example\.com {2}valid/);
    await again.panel.stop();
  },
);

issuing('a removed certificate leaves nothing behind, and is revoked where that is wanted', async (t) => {
  await using pebble = await Pebble.start();
  await using authority = await LyingAuthority.start(pebble);
  await using world = await OrderingPanel.boot(authority);
  const { dataDirectory } = world.panel;
  const root = join(dataDirectory, 'certificates');
  const { id } = await world.add({ names: ['a.example.com'] });
  const { serial } = await world.issue(id);
  authority.lie = (step) => (step === 'other' ? problem('unauthorized', 'not yours') : undefined);
  const refused = await world.panel.call(`${PATH}/${id}/del`, { body: { revoke: true } });
  t.is(refused.status, 422);
  t.regex(refused.body.msg, /the certificate was not revoked and not removed: .*not yours/);
  t.is((await world.one(id)).state, 'valid');
  authority.lie = () => undefined;
  const revoked = await world.panel.call(`${PATH}/${id}/del`, { body: { revoke: true } });
  t.is(revoked.status, 200, revoked.text);
  t.regex(await pebble.manage(`cert-status-by-serial/${serial}`), /"Status": ?"Revoked"/);
  t.deepEqual(await readdir(root), []);
  const never = await world.add({ names: ['b.example.com'] });
  const { status, body } = await world.panel.call(`${PATH}/${never.id}/del`, { body: { revoke: true } });
  t.is(status, 422);
  t.regex(body.msg, /nothing was issued/);
  t.is((await world.panel.call(`${PATH}/${never.id}/del`, { body: {} })).status, 200);
});

issuing(
  'renewals keep the paths, the previous files for those who read them, and each key type',
  async (t) => {
    await using pebble = await Pebble.start();
    await using world = await OrderingPanel.boot(pebble);
    const sizes: Record<string, RegExp> = {
      'ec-256': /EC|PRIVATE/,
      'ec-384': /PRIVATE/,
      'rsa-2048': /PRIVATE/,
    };
    for (const keyType of Object.keys(sizes)) {
      const { id } = await world.add({ names: [`${keyType}.example.com`], keyType });
      const first = await world.issue(id);
      const folder = dirname(dirname(first.keyFile));
      const order = await readlink(join(folder, 'current'));
      const key = await readFile(first.keyFile, 'utf8');
      const second = await world.issue(id);
      t.is(second.keyFile, first.keyFile);
      t.not(await readFile(second.keyFile, 'utf8'), key, 'a key of its own');
      t.is(await readFile(join(folder, order, 'privkey.pem'), 'utf8'), key);
      t.is((await readdir(folder)).length, 3);
      await world.issue(id);
      t.is((await readdir(folder)).length, 3, 'only one previous');
      t.is((await stat(second.keyFile)).mode & 0o777, 0o600);
    }
  },
);

issuing('the log of changes names certificates and who changed them, and no renewal', async (t) => {
  await using pebble = await Pebble.start();
  await using world = await OrderingPanel.boot(pebble);
  const { id } = await world.add({ names: ['a.example.com'] });
  await world.issue(id);
  await world.panel.get(`${PATH}/${id}/uses`, { body: { uses: { subscription: true } } });
  const list = JSON.stringify(await world.panel.get('/panel/api/x/audit/changes?area=certificate'));
  t.is(list.match(/"area":"certificate"/g)?.length, 2, list);
  t.regex(list, /a\.example\.com/);
  // The key of the account is in the database, and cannot be read there.
  const database = await readFile(join(world.panel.dataDirectory, 'weir.db'), 'latin1').catch(() => '');
  t.false(database.includes('BEGIN PRIVATE KEY'));
});

issuing(
  'an order that the authority has not decided goes on when it can be asked again, and is not placed twice',
  async (t) => {
    await using pebble = await Pebble.start();
    await using authority = await LyingAuthority.start(pebble);
    const clock = new FakeClock(Date.now());
    await using world = await OrderingPanel.boot(authority, { clock });
    const { id } = await world.add({ names: ['a.example.com'] });
    const placed = () => authority.steps.filter((step) => step === 'order').length;
    authority.lie = (step) => (step === 'certificate' ? problem('serverInternal', 'ill', 503) : undefined);
    // Asked twice at the same time, it is one order.
    const [first, second] = await Promise.all([world.refused(id), world.refused(id)]);
    t.regex(first, /^422 .*internal error/);
    t.is(second, first);
    t.is(placed(), 1);
    t.is((await world.one(id)).failures, 1);
    authority.lie = () => undefined;
    const asked = authority.steps.length;
    await world.order();
    t.is(authority.steps.length, asked, 'not at once');
    clock.jump(13 * 60_000);
    await world.order();
    const issued = await world.one(id);
    t.is(issued.state, 'valid');
    t.is(issued.failures, 0);
    t.is(placed(), 1);

    // The disk refuses the chain: the key stays, and so does the order.
    const other = await world.add({ names: ['b.example.com'] });
    let block = '';
    authority.lie = (step) => {
      if (step !== 'certificate' || block !== '') return undefined;
      const folder = readdirSync(join(world.panel.dataDirectory, 'certificates')).find((name) =>
        name.startsWith('b.'),
      );
      const order = readdirSync(join(world.panel.dataDirectory, 'certificates', folder ?? ''))[0] ?? '';
      block = join(world.panel.dataDirectory, 'certificates', folder ?? '', order, 'fullchain.pem');
      mkdirSync(block);
      return undefined;
    };
    t.regex(
      await world.refused(other.id),
      /^422 CERTIFICATES_NOT_ISSUED no certificate was issued: \S*fullchain\.pem cannot be written/,
    );
    rmSync(block, { recursive: true });
    t.is((await world.issue(other.id)).state, 'valid');
    t.is(placed(), 2);
  },
);

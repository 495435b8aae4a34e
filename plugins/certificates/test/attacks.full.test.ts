// Runs a certificate authority. What an attack found: each was a fault once.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FakeClock, FakeEngine } from '../../../test/harness/index.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';
import { LyingAuthority, problem } from './lying-authority.js';
import { OrderingPanel, PATH } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing = testUnless(authorityMissing());

issuing('a chain that cannot be put in use stops no other certificate, and is tried later', async (t) => {
  await using pebble = await Pebble.start();
  const clock = new FakeClock(Date.now());
  await using world = await OrderingPanel.boot(pebble, { clock });
  const { id } = await world.add({ names: ['a.example.com'] });
  const other = await world.add({ names: ['b.example.com'] });
  const root = join(world.panel.dataDirectory, 'certificates');
  const { certificateFile } = await world.issue(id);
  const folder = dirname(dirname(certificateFile));
  // What is there instead of the link cannot be replaced by one.
  await rm(join(folder, 'current'));
  await mkdir(join(folder, 'current'));
  await writeFile(join(folder, 'current', 'x'), '');
  t.regex(await world.refused(id), /^422 CERTIFICATES_NOT_ISSUED .*current cannot be written/);
  t.true((await world.one(id)).ordering, 'the chain is on the disk');
  clock.jump(13 * 60_000);
  await world.order();
  t.is((await world.one(other.id)).state, 'valid');
  t.is((await world.one(id)).failures, 2);
  t.true(((await world.one(id)).renewAt ?? Infinity) > clock.now());
  t.deepEqual(world.panel.faults, []);
  await rm(join(folder, 'current'), { recursive: true });
  t.is((await world.issue(id)).state, 'valid');
  t.is((await readdir(root)).length, 2);
});

issuing('a certificate is revoked although acmeEmail, and with it the account, has changed', async (t) => {
  await using pebble = await Pebble.start();
  await using world = await OrderingPanel.boot(pebble);
  const { id } = await world.add({ names: ['a.example.com'] });
  const { serial } = await world.issue(id);
  await world.panel.get('/panel/api/setting/update', { body: { acmeEmail: 'new@example.com' } });
  const removed = await world.panel.call(`${PATH}/${id}/del`, { body: { revoke: true } });
  t.is(removed.status, 200, removed.text);
  t.regex(await pebble.manage(`cert-status-by-serial/${serial}`), /Revoked/);
});

issuing(
  'an authority that asked to wait is not asked by an admin either while its order is open',
  async (t) => {
    await using pebble = await Pebble.start();
    await using authority = await LyingAuthority.start(pebble);
    await using world = await OrderingPanel.boot(authority);
    const { id } = await world.add({ names: ['a.example.com'] });
    authority.lie = (step) =>
      step === 'finalize' ? problem('serverInternal', 'ill', 503, { 'retry-after': '3600' }) : undefined;
    t.regex(await world.refused(id), /^422 /);
    t.true((await world.one(id)).ordering);
    const asked = authority.steps.length;
    t.regex(await world.refused(id), /^429 CERTIFICATES_TOO_SOON the authority asked to wait/);
    t.is(authority.steps.length, asked);
  },
);

issuing('files that something else names are not removed, however it names them', async (t) => {
  await using pebble = await Pebble.start();
  const engine = new FakeEngine();
  await using world = await OrderingPanel.boot(pebble, { plugins: [engine.plugin] });
  const { id } = await world.add({ names: ['a.example.com'] });
  const { certificateFile, keyFile } = await world.issue(id);
  const odd = (path: string): string => path.replace('/certificates/', '//certificates/./');
  const inbound = await world.panel.addInbound({
    tag: 'odd',
    streamSettings: {
      network: 'tcp',
      security: 'tls',
      tlsSettings: { certificates: [{ certificateFile: odd(certificateFile), keyFile: odd(keyFile) }] },
    },
  });
  const { status, body } = await world.panel.call(`${PATH}/${id}/del`, { body: {} });
  t.is(status, 409);
  t.regex(body.msg, /is used by the inbound odd/);
  await world.panel.get(`/panel/api/inbounds/del/${inbound}`, { body: {} });
  t.is((await world.panel.call(`${PATH}/${id}/del`, { body: {} })).status, 200);
});

issuing('other certificates of an inbound stay', async (t) => {
  await using pebble = await Pebble.start();
  const engine = new FakeEngine();
  await using world = await OrderingPanel.boot(pebble, { plugins: [engine.plugin] });
  const { certFile, keyFile } = await writePair(world.panel.dataDirectory, selfSigned());
  const own = { certificateFile: certFile, keyFile };
  const inbound = await world.panel.addInbound({
    streamSettings: {
      network: 'tcp',
      security: 'tls',
      tlsSettings: {
        certificates: [{ ...own, usage: 'verify' }, { ...own, ocspStapling: 60, oneTimeLoading: true }, own],
      },
    },
  });
  const { id } = await world.add({ names: ['a.example.com'], uses: { inbounds: [inbound] } });
  const { certificateFile, keyFile: issuedKey } = await world.issue(id);
  const { streamSettings } = await world.panel.get<{ streamSettings: { tlsSettings: object } }>(
    `/panel/api/inbounds/get/${inbound}`,
  );
  t.deepEqual(streamSettings.tlsSettings, {
    certificates: [
      { ...own, usage: 'verify' },
      { ocspStapling: 60, certificateFile, keyFile: issuedKey },
      own,
    ],
  });
});

issuing('an authority that answers each call, but slowly, does not hold up everything else', async (t) => {
  await using pebble = await Pebble.start();
  await using authority = await LyingAuthority.start(pebble);
  const clock = new FakeClock(Date.now());
  await using world = await OrderingPanel.boot(authority, { clock });
  const { id } = await world.add({ names: ['a.example.com'] });
  authority.lie = (step) => {
    if (step === 'finalize') clock.jump(16 * 60_000);
    return undefined;
  };
  t.regex(await world.refused(id), /127\.0\.0\.1:\d+ is too slow: it did not finish within 15 minutes/);
  authority.lie = () => undefined;
  await world.panel.login();
  t.true((await world.one(id)).ordering, 'it goes on later');
  t.is((await world.issue(id)).state, 'valid');
  t.is(authority.steps.filter((step) => step === 'order').length, 1);
});

issuing('removal ends an open order, and giving up the panel takes its link away', async (t) => {
  await using pebble = await Pebble.start();
  await using authority = await LyingAuthority.start(pebble);
  await using world = await OrderingPanel.boot(authority);
  const root = join(world.panel.dataDirectory, 'certificates');
  const names = ['a.example.com'];
  const { id } = await world.add({ names, uses: { panel: true } });
  await world.issue(id);
  t.true((await readdir(root)).includes('panel'));
  authority.lie = (step) => (step === 'finalize' ? problem('serverInternal', 'ill', 503) : undefined);
  t.regex(await world.refused(id), /^422 /);
  t.is((await world.panel.call(`${PATH}/${id}/del`, { body: {} })).status, 409);
  await world.panel.get(`${PATH}/${id}/uses`, { body: { uses: {} } });
  t.false((await readdir(root)).includes('panel'), 'the next start serves HTTP');
  t.is((await world.panel.call(`${PATH}/${id}/del`, { body: {} })).status, 200);
  t.deepEqual(await readdir(root), []);
  const again = await world.add({ names });
  t.false((await world.one(again.id)).ordering);
  const orders = await world.panel.get<{ state: string; problem: string; endedAt: number }[]>(
    `${PATH}/${again.id}/orders`,
  );
  t.deepEqual(
    orders.map(({ state, problem: why }) => `${state} ${why}`),
    ['failed the certificate was removed', 'issued '],
  );
  t.true((orders[0]?.endedAt ?? 0) > 0);
});

issuing('keys of accounts lie nowhere in plain text', async (t) => {
  await using pebble = await Pebble.start();
  await using world = await OrderingPanel.boot(pebble);
  const { id } = await world.add({ names: ['a.example.com'] });
  await world.issue(id);
  const { dataDirectory } = world.panel;
  let seen = 0;
  for (const name of await readdir(dataDirectory, { recursive: true })) {
    if (name.startsWith('certificates')) continue;
    const text = await readFile(join(dataDirectory, name), 'latin1').catch(() => '');
    if (text.includes('acme_accounts')) seen++;
    t.false(text.includes('BEGIN PRIVATE KEY'), name);
  }
  t.true(seen > 0 || process.env['WEIR_TEST_DATABASE_SERVER'] !== undefined, 'the database was read');
});

// Runs a certificate authority. Runs on every database in test:full.
// A certificate that one panel orders is on the machines of all of them; an order outlives its panel, and is placed once.
import { access, readFile, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { type Declare, testUnless } from '../../../test/harness/left-out.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { leads, Panels } from '../../cluster/test/two-panels.js';
import type { CertificateReply } from '../fields.js';
import { LyingAuthority } from './lying-authority.js';
import { PATH } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing: Declare = onSqlite ? test.skip : testUnless(authorityMissing());
/** The panels follow by an event, and not only by a job that runs every minute. */
const SOON_MS = 10_000;

const one = async (panel: PanelProcess, id: number): Promise<CertificateReply> => {
  const found = (await panel.get<CertificateReply[]>(PATH)).find((certificate) => certificate.id === id);
  if (!found) throw new Error(`there is no certificate ${id}`);
  return found;
};
const add = (panel: PanelProcess, name: string, more: object = {}): Promise<CertificateReply> =>
  panel.get(PATH, { body: { names: [name], agreeToTerms: true, ...more } });
const issue = (panel: PanelProcess, id: number): Promise<CertificateReply> =>
  panel.get(`${PATH}/${id}/issue`, { body: {} });
const runJob = (panel: PanelProcess, name: string) =>
  panel.call(`/panel/api/system/jobs/certificates/${name}`, { body: {} });
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

issuing('what one panel orders, renews, uses and removes, the others follow', async (t) => {
  await using pebble = await Pebble.start();
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  await a.get('/panel/api/setting/update', { body: pebble.settings });
  const { id } = await add(b, 'vpn.example.com');
  const holds = async (panel: PanelProcess, { serial }: CertificateReply, what: string): Promise<void> =>
    panel.until(async () => (await one(panel, id)).serial === serial, what, SOON_MS);
  const link = (panel: PanelProcess) =>
    readlink(join(panel.dataDirectory, 'certificates', 'panel')).catch(() => '');

  const first = await issue(b, id);
  await holds(a, first, 'the leader has what another panel ordered');
  const atA = await one(a, id);
  t.true(atA.certificateFile.startsWith(a.dataDirectory));
  t.is(await readFile(atA.keyFile, 'utf8'), await readFile(first.keyFile, 'utf8'));

  await b.kill('SIGKILL');
  // Certificates begin at a full second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const second = await issue(a, id);
  t.not(second.serial, first.serial);
  const again = await panels.start('b', {}, { dataDirectory: b.dataDirectory });
  t.is((await one(again, id)).serial, second.serial, 'a panel that was away');
  const c = await panels.start('c');
  t.is((await one(c, id)).serial, second.serial, 'a panel on a new machine');
  const folder = dirname(dirname((await one(c, id)).certificateFile));

  await c.get(`${PATH}/${id}/uses`, { body: { uses: { panel: true } } });
  for (const panel of [a, again, c])
    await panel.until(async () => (await link(panel)).startsWith('vpn.example.com-'), 'all use it', SOON_MS);
  await again.get(`${PATH}/${id}/uses`, { body: { uses: {} } });
  for (const panel of [a, again, c])
    await panel.until(async () => (await link(panel)) === '', 'none uses it any more', SOON_MS);
  await again.get(`${PATH}/${id}/del`, { body: {} });
  await c.until(async () => !(await exists(folder)), 'the files are removed on each machine', SOON_MS);
  await a.until(async () => !(await exists(dirname(dirname(atA.keyFile)))), 'also at the leader', SOON_MS);
  t.deepEqual([...a.faults, ...again.faults, ...c.faults], []);
});

issuing('two panels that are told to order at the same moment place one order', async (t) => {
  await using pebble = await Pebble.start();
  await using authority = await LyingAuthority.start(pebble);
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  await a.get('/panel/api/setting/update', { body: authority.settings });
  for (const name of ['one.example.com', 'two.example.com', 'three.example.com']) {
    const before = authority.steps.filter((step) => step === 'order').length;
    const { id } = await add(b, name);
    await a.until(
      async () => (await a.get<CertificateReply[]>(PATH)).some((known) => known.id === id),
      'both know it',
    );
    const replies = await Promise.all([a, b].map((panel) => panel.call(`${PATH}/${id}/issue`, { body: {} })));
    const refused = replies.filter(({ status }) => status !== 200);
    // They may as well come one after the other.
    t.true(refused.length <= 1, replies.map(({ text }) => text).join());
    for (const { status, body } of refused) {
      t.is(status, 429);
      t.regex(body.msg, /the panel [ab] orders it at this moment/);
    }
    const orders = await a.get<{ state: string }[]>(`${PATH}/${id}/orders`);
    t.true(
      orders.every(({ state }) => state === 'issued'),
      JSON.stringify(orders),
    );
    t.is(orders.length, 2 - refused.length);
    t.is(authority.steps.filter((step) => step === 'order').length - before, orders.length);
    t.is((await one(a, id)).failures, 0);
  }
  t.is((await panels.query('SELECT * FROM acme_accounts')).length, 1);
  t.deepEqual([...a.faults, ...b.faults], []);
});

for (const challenge of ['http-01', 'tls-alpn-01'] as const)
  issuing(
    `an order of a panel that dies is gone on with, and any panel proves the names by ${challenge}`,
    async (t) => {
      await using pebble = await Pebble.start();
      await using authority = await LyingAuthority.start(pebble);
      await using panels = await Panels.open();
      const [a, b] = [await panels.start('a'), await panels.start('b')];
      await a.get('/panel/api/setting/update', { body: authority.settings });
      const { id } = await add(b, 'vpn.example.com', { challenge });
      // The names are being proved, and the authority is slow.
      authority.lie = (step) => (step === 'challenge' ? 'hang' : undefined);
      const lost = b.call(`${PATH}/${id}/issue`, { body: {} }).catch(() => undefined);
      await a.until(() => authority.steps.includes('challenge'), 'the other panel orders');
      const [{ answers = '[]' } = {}] = await panels.query<{ answers: string }>(
        'SELECT answers FROM certificate_pairs',
      );
      const [proof] = JSON.parse(answers) as { token: string; keyAuthorization: string }[];
      t.truthy(proof?.token);
      if (challenge === 'http-01')
        for (const panel of [a, b]) {
          const reply = await fetch(new URL(`/.well-known/acme-challenge/${proof?.token}`, panel.url));
          t.is(await reply.text(), proof?.keyAuthorization ?? '');
        }
      t.false(JSON.stringify(await panels.query('SELECT * FROM cluster_changes')).includes('PRIVATE KEY'));
      // Nobody else begins while this one is at it.
      const refused = await a.call(`${PATH}/${id}/issue`, { body: {} });
      t.is(refused.status, 429, refused.text);
      t.regex(refused.body.msg, /the panel b orders it at this moment/);
      t.is((await runJob(a, 'orders')).status, 200);
      t.is(authority.steps.filter((step) => step === 'order').length, 1);

      await b.kill('SIGKILL');
      await lost;
      authority.lie = () => undefined;
      await a.until(
        async () => {
          await runJob(a, 'orders');
          return (await one(a, id)).state === 'valid';
        },
        'the leader goes on with the order',
        90_000,
      );
      const orders = await a.get<{ state: string }[]>(`${PATH}/${id}/orders`);
      t.deepEqual(
        orders.map(({ state }) => state),
        ['issued'],
      );
      t.is(authority.steps.filter((step) => step === 'order').length, 1);
      if (challenge === 'http-01') {
        const reply = await fetch(new URL(`/.well-known/acme-challenge/${proof?.token}`, a.url));
        t.not(await reply.text(), proof?.keyAuthorization, 'not after the order');
      }
      t.deepEqual(a.faults, []);
    },
  );

issuing('an order that a panel began before it stopped to lead is left to the next leader', async (t) => {
  await using pebble = await Pebble.start();
  await using authority = await LyingAuthority.start(pebble);
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  await a.get('/panel/api/setting/update', { body: authority.settings });
  const { id } = await add(a, 'vpn.example.com');
  authority.lie = (step) => (step === 'finalize' ? 'hang' : undefined);
  void a.call(`${PATH}/${id}/issue`, { body: {} }).catch(() => undefined);
  await b.until(() => authority.steps.includes('finalize'), 'it is ordered');
  await a.kill('SIGKILL');
  await b.until(() => leads(b), 'the other panel leads');
  // It lives again before the next leader has looked, and does not work on its order.
  const again = await panels.start('a', {}, { dataDirectory: a.dataDirectory });
  authority.lie = () => undefined;
  await again.until(async () => (await runJob(again, 'files')).status === 200, 'it leaves the order');
  await b.until(
    async () => {
      await runJob(b, 'orders');
      return (await one(b, id)).state === 'valid';
    },
    'the next leader has issued it',
    60_000,
  );
  await again.until(
    async () => (await one(again, id)).state === 'valid',
    'and the other one follows',
    SOON_MS,
  );
  t.is(authority.steps.filter((step) => step === 'order').length, 1);
  t.deepEqual([...again.faults, ...b.faults], []);
});

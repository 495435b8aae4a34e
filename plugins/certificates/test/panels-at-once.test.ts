// Runs a certificate authority. Runs on every database in test:full.
// Two panels work on certificates at the same moment: none ends, undoes or holds up what the other one does.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { type Declare, testUnless } from '../../../test/harness/left-out.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { Panels } from '../../cluster/test/two-panels.js';
import type { NameProof } from '../certificate-pairs.js';
import type { CertificateReply } from '../fields.js';
import { LyingAuthority } from './lying-authority.js';
import { PATH } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing: Declare = onSqlite ? test.skip : testUnless(authorityMissing());
const SOON_MS = 10_000;

async function two() {
  const pebble = await Pebble.start();
  const authority = await LyingAuthority.start(pebble);
  const panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  await a.get('/panel/api/setting/update', { body: authority.settings });
  const ordered = () => authority.steps.filter((step) => step === 'order').length;
  const end = async (): Promise<void> => {
    await panels[Symbol.asyncDispose]();
    await authority[Symbol.asyncDispose]();
    await pebble[Symbol.asyncDispose]();
  };
  return { authority, panels, a, b, ordered, [Symbol.asyncDispose]: end };
}
const add = (panel: PanelProcess, name: string, more: object = {}): Promise<CertificateReply> =>
  panel.get(PATH, { body: { names: [name], agreeToTerms: true, ...more } });
const issue = (panel: PanelProcess, id: number) => panel.call(`${PATH}/${id}/issue`, { body: {} });
const one = async (panel: PanelProcess, id: number): Promise<CertificateReply | undefined> =>
  (await panel.get<CertificateReply[]>(PATH)).find((certificate) => certificate.id === id);
const foldersOf = async ({ dataDirectory }: PanelProcess, name: string): Promise<string[]> =>
  (await readdir(join(dataDirectory, 'certificates')).catch(() => [])).filter((folder) =>
    folder.startsWith(name),
  );

issuing('a certificate that two panels order at once is ordered by one of them', async (t) => {
  await using world = await two();
  const { a, b, ordered } = world;
  for (const name of ['a.example.com', 'b.example.com', 'c.example.com']) {
    const { id } = await add(a, name);
    await b.until(async () => (await one(b, id)) !== undefined, 'the other panel knows it', SOON_MS);
    const before = ordered();
    const replies = await Promise.all([issue(a, id), issue(b, id)]);
    const said = replies.map(({ status, body }) => `${status} ${body.msg}`).sort();
    t.regex(String(said[0]), /^200 /);
    t.regex(String(said[1]), /^(?:200 |429 .*another panel|429 .*the panel [ab] orders)/);
    const orders = await a.get<{ state: string }[]>(`${PATH}/${id}/orders`);
    t.true(
      orders.every(({ state }) => state === 'issued'),
      JSON.stringify(orders),
    );
    t.is(ordered() - before, orders.length);
    for (const panel of [a, b]) {
      await panel.until(async () => (await one(panel, id))?.state === 'valid', 'all have it', SOON_MS);
      const { failures, lastError, ordering } = (await one(panel, id)) ?? {};
      t.deepEqual({ failures, lastError, ordering }, { failures: 0, lastError: '', ordering: false });
    }
  }
  t.deepEqual([...a.faults, ...b.faults], []);
});

for (const step of ['order', 'certificate'] as const)
  issuing(`removed while another panel waits for the reply to ${step}, nothing stays of it`, async (t) => {
    await using world = await two();
    const { authority, a, b } = world;
    const { id } = await add(b, 'gone.example.com');
    authority.lie = (now) => {
      if (now === step) b.signal('SIGSTOP');
      return undefined;
    };
    const asked = issue(b, id);
    await a.until(() => authority.steps.includes(step), 'it is ordered', 30_000);
    await a.get(`${PATH}/${id}/del`, { body: {} });
    authority.lie = () => undefined;
    b.signal('SIGCONT');
    const { status, body } = await asked;
    t.is(status, 404, body.msg);
    await b.until(
      async () => (await foldersOf(b, 'gone.')).length === 0,
      'its key is not left behind',
      SOON_MS,
    );
    // The database may give its id to another one, for all that memory knows.
    t.deepEqual(await world.panels.query('SELECT id FROM certificate_pairs'), []);
    t.is(b.said('no certificate was issued'), undefined);
    t.deepEqual([...a.faults, ...b.faults], []);
  });

issuing('a panel that waits for its own order proves names for another panel', async (t) => {
  await using world = await two();
  const { authority, panels, a, b } = world;
  authority.lie = (step) => (step === 'challenge' ? 'hang' : undefined);
  const proofs = async () =>
    (await panels.query<{ answers: string }>('SELECT answers FROM certificate_pairs')).flatMap(
      ({ answers }) => JSON.parse(answers) as NameProof[],
    );
  // The panels of a test have one machine: each order has a port of its own.
  const { id: first } = await add(b, 'b.example.com', { challenge: 'tls-alpn-01' });
  const { id: second } = await add(a, 'a.example.com');
  const asked = [issue(b, first).catch(() => undefined)];
  await a.until(async () => (await proofs()).length === 1, 'one panel orders', SOON_MS);
  asked.push(issue(a, second).catch(() => undefined));
  await a.until(async () => (await proofs()).length === 2, 'so does the other one', 15_000);
  const { token, keyAuthorization } = (await proofs()).find(({ challenge }) => challenge === 'http-01') ?? {};
  await b.until(
    async () => {
      const reply = await fetch(new URL(`/.well-known/acme-challenge/${token}`, b.url));
      return (await reply.text()) === keyAuthorization;
    },
    'it answers for the other one',
    5_000,
  );
  t.true((await one(b, first))?.ordering);
  await Promise.all(asked);
  t.deepEqual([...a.faults, ...b.faults], []);
});

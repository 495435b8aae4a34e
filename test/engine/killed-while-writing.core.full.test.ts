// Runs on every database in test:full.
// The panel is killed at random moments, in the middle of bulk creates, bulk deletes, renewals and polls, while a client
// program moves bytes: afterwards database, memory and core agree, and nothing that was acknowledged is missing.
import test from 'ava';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { random } from '../harness/random.js';
import { PanelProcess } from '../harness/panel-process.js';
import { weirCommand } from '../harness/weir-command.js';
import { editDatabase } from '../harness/edit-database.js';
import { agrees } from './agrees.js';
import { connect, engineBinary, MIB, openServer, poll, usageOf } from './user.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const KILLS = Number(process.env['WEIR_TEST_KILLS'] ?? 5);
const PER_CALL = 60;
const API = '/panel/api';
const DAY = 86_400_000;

test('after kill -9 in the middle of writes and polls, database, memory and core agree', async (t) => {
  t.log(`WEIR_TEST_SEED=${SEED}`);
  const { below } = random(SEED);
  const env = { WEIR_ENGINE_BIN: engineBinary(), WEIR_ENGINE_PRIVATE: 'allow' };
  let panel = await PanelProcess.start({ env });
  const { dataDirectory } = panel;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => panel.dispose());
  const server = await openServer(t);
  const inboundIds = [
    await panel.addInbound(),
    await panel.addInbound({ protocol: 'trojan' }),
    await panel.addInbound({ protocol: 'vmess' }),
  ];
  await panel.addClient('mover', [inboundIds[0] as number]);

  /** What replies have acknowledged: by email, whether the client exists. */
  const known = new Map<string, boolean>();
  /** Under way at a kill: either outcome is right. */
  const open = new Set<string>();
  let calls = 0;
  const bulkCreate = async () => {
    const emails = Array.from({ length: PER_CALL }, (_, i) => `k${calls}-${i}`);
    calls += 1;
    for (const email of emails) open.add(email);
    const { created } = await panel.get<{ created: number }>(`${API}/clients/bulkCreate`, {
      body: emails.map((email) => ({ client: { email }, inboundIds })),
    });
    t.is(created, PER_CALL);
    for (const email of emails) {
      open.delete(email);
      known.set(email, true);
    }
  };
  const bulkDelete = async () => {
    const emails = [...known].filter(([email, exists]) => exists && !open.has(email)).map(([email]) => email);
    const some = emails.slice(0, Math.floor(PER_CALL / 2));
    for (const email of some) open.add(email);
    await panel.get(`${API}/clients/bulkDel`, { body: { emails: some } });
    for (const email of some) {
      open.delete(email);
      known.set(email, false);
    }
  };
  /** Clients that come due with the next poll, which renews them. */
  let renewing = 0;
  const renewal = async () => {
    const emails = Array.from({ length: 10 }, (_, i) => `r${renewing}-${i}`);
    renewing += 1;
    for (const email of emails) open.add(email);
    await panel.get(`${API}/clients/bulkCreate`, {
      body: emails.map((email) => ({
        client: { email, expiryTime: Date.now() + 50, reset: 30 },
        inboundIds,
      })),
    });
    for (const email of emails) {
      open.delete(email);
      known.set(email, true);
    }
    await poll(panel);
  };
  const polling = () => poll(panel);

  const mover = await connect(t, panel, 'mover', server);
  t.true((await mover.served()) || (await mover.served()));
  const transfer = mover.start(24 * MIB, 2 * MIB);
  for (let kill = 1; kill <= KILLS; kill++) {
    let alive = true;
    const repeat = async (work: () => Promise<unknown>) => {
      while (alive) await work();
    };
    const working = Promise.allSettled([
      repeat(bulkCreate),
      repeat(bulkDelete),
      repeat(renewal),
      repeat(polling),
    ]);
    const wait = 300 + below(1200);
    await sleep(wait);
    alive = false;
    await panel.kill('SIGKILL');
    for (const outcome of await working)
      if (outcome.status === 'rejected')
        t.regex(String(outcome.reason), /fetch failed|terminated|ECONN|socket/i);
    panel = await PanelProcess.start({ env, dataDirectory });
    const emails = new Set(
      (await panel.get<{ email: string }[]>(`${API}/clients/list`)).map(({ email }) => email),
    );
    for (const [email, exists] of known)
      if (!open.has(email)) t.is(emails.has(email), exists, `kill ${kill} after ${wait} ms: ${email}`);
    t.log(
      `kill ${kill} after ${wait} ms: ${known.size} clients known, ${open.size} under way, ${emails.size} there`,
    );
    // Whatever became of them is what they are now.
    for (const email of open) known.set(email, emails.has(email));
    open.clear();
    await agrees(t, { dataDirectory }, { when: `kill ${kill} after ${wait} ms`, env });
  }
  const bytes = await transfer.ended;
  await poll(panel);
  const { up, down } = await usageOf(panel, 'mover');
  t.true(up + down >= bytes, `${up + down} of ${bytes} bytes were counted`);
  t.true(up + down < bytes * 1.1 + MIB, `${up + down} of ${bytes} bytes were counted: some twice`);
  const renewed = await panel.get<{ email: string; expiryTime: number; enable: boolean }[]>(
    `${API}/clients/list`,
  );
  for (const { email, expiryTime, enable } of renewed)
    if (email.startsWith('r') && known.get(email)) {
      t.true(enable, `${email} is renewed`);
      // Renewed once by 30 days, however often the panel died meanwhile.
      t.true(expiryTime < Date.now() + 31 * DAY, `${email} is renewed once`);
    }

  // The same checks find what a hand has changed.
  await editDatabase(dataDirectory, [`UPDATE clients SET comment = 'by hand' WHERE email = 'mover'`]);
  const { code, said, complained } = await weirCommand(dataDirectory, ['invariants'], env);
  t.is(code, 1);
  t.regex(
    said,
    /clients in memory are those of the database: 1 disagree[\s\S]*by hand[\s\S]*the way out: restart the panel/,
  );
  t.regex(complained, /1 of \d+ checks found something/);
});

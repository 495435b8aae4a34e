// Runs on every database.
// The panel is killed at random moments while a central sends changes and a client program moves bytes: afterwards all is
// as the central wants it, and what it was told is what was counted.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { connect, engineBinary, MIB, openServer, poll } from '../../../test/engine/user.js';
import { freePort } from '../../../test/harness/index.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { random } from '../../../test/harness/random.js';
import { client, type Epoch, inbound, wire } from './world.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const KILLS = Number(process.env['WEIR_TEST_KILLS'] ?? 5);

/** As a central keeps it: totals by epoch. */
class Books {
  readonly #epochs = new Map<string, { seq: number; readonly totals: Map<number, number> }>();
  #current = '';

  async pull(usage: (epoch: string, after: number) => Promise<readonly Epoch[]>): Promise<void> {
    const after = this.#epochs.get(this.#current)?.seq ?? 0;
    for (const { epoch, seq, users, isCurrent } of await usage(this.#current, after)) {
      const known = this.#epochs.get(epoch) ?? { seq: 0, totals: new Map<number, number>() };
      this.#epochs.set(epoch, known);
      for (const { clientId, down } of users)
        known.totals.set(clientId, Math.max(known.totals.get(clientId) ?? 0, down));
      known.seq = Math.max(known.seq, seq);
      if (isCurrent) this.#current = epoch;
    }
  }
  down(clientId: number): number {
    return [...this.#epochs.values()].reduce((sum, { totals }) => sum + (totals.get(clientId) ?? 0), 0);
  }
  get count(): number {
    return this.#epochs.size;
  }
}

test('after kill -9 in the middle of changes and pulls, state and usage are those of the central', async (t) => {
  t.timeout(300_000);
  t.log(`WEIR_TEST_SEED=${SEED}`);
  const { below } = random(SEED);
  const env = { WEIR_ENGINE_BIN: engineBinary(), WEIR_ENGINE_PRIVATE: 'allow' };
  let panel = await PanelProcess.start({ env });
  const { dataDirectory } = panel;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => panel.dispose());
  const server = await openServer(t);
  const wanted = inbound(7, 1, { port: await freePort() });
  const fixed = [wanted, client(1, 1), client(2, 1)];
  t.true((await wire(panel).apply(...fixed)).every(({ ok }) => ok));
  const users = await Promise.all(['c1', 'c2'].map((email) => connect(t, panel, email, server)));
  const books = new Books();
  let version = 1;
  let latest: object[] = [];

  for (let kill = 0; kill < KILLS; kill++) {
    await Promise.all(users.map((user) => user.download(MIB * (1 + below(3)))));
    const work = (async () => {
      for (;;) {
        version++;
        // Some are there, some not, some renamed.
        latest = Array.from({ length: 40 }, (_x, i) =>
          client(
            100 + i,
            version,
            (i + version) % 3 === 0 ? null : { email: `${version % 5}-${i}`, subId: undefined },
          ),
        );
        await wire(panel).apply(...latest);
        await books.pull(wire(panel).usage);
        if (below(3) === 0) await poll(panel);
      }
    })().catch(() => undefined);
    await sleep(50 + below(900));
    await panel.kill('SIGKILL');
    await work;
    panel = await PanelProcess.start({ env, dataDirectory });
  }
  const { apply, usage, records } = wire(panel);
  t.true((await apply(...fixed, ...latest)).every(({ ok }) => ok));
  t.true((await apply(...latest)).every(({ ok }) => ok));
  t.true((await records()).every(({ state }) => state === 'ok'));
  const emails = (await panel.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email);
  const expected = (latest as { value: { email: string } | null }[]).flatMap(
    ({ value }) => value?.email ?? [],
  );
  t.deepEqual(emails.toSorted(), ['c1', 'c2', ...expected].toSorted());

  await poll(panel);
  await books.pull(usage);
  t.is(books.count, 1, 'a restart goes on with the epoch');
  let all = 0;
  for (const id of [1, 2]) {
    const { down } = await panel.get<{ down: number }>(`/panel/api/clients/traffic/c${id}`);
    t.is(books.down(id), down, `c${id}`);
    all += down;
  }
  t.true(all >= KILLS * 2 * MIB, `${all} bytes`);
});

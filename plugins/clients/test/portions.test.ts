// Runs on every database in test:full.
// Calls about all clients write a thousand at a time: other writes come in between, and a call again goes on where one
// ended.
import { Socket } from 'node:net';
import test from 'ava';
import { definePlugin, PanelError, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { afterClientSave, beforeClientDelete } from '../contract.js';

const API = '/panel/api/clients';
const COUNT = 2500;

class Listener {
  /** the writes, as `kind count` */
  written: string[] = [];
  /** refuses deletions from this one on, counted from 1 */
  refusesFrom = Infinity;
  #deletions = 0;

  readonly plugin = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: 1,
    about: 'Notes writes.',
    taps: () => [
      tap(afterClientSave, ({ changes }) => {
        this.written.push(`${changes[0]?.kind} ${changes.length}`);
      }),
      tap(beforeClientDelete, () => {
        if (++this.#deletions >= this.refusesFrom) throw new PanelError('LISTENER_NO', 409, 'not now');
      }),
    ],
  });
  take(): string[] {
    const taken = this.written;
    this.written = [];
    return taken;
  }
}

async function start(): Promise<{ panel: TestPanel; heard: Listener; inboundId: number }> {
  const heard = new Listener();
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, heard.plugin],
    clock: new FakeClock(),
  });
  const inboundId = await panel.addInbound();
  const items = Array.from({ length: COUNT }, (_, n) => ({
    client: { email: `c${n}` },
    inboundIds: [inboundId],
    traffic: { up: 1, down: 2 },
  }));
  await panel.get(`${API}/import`, { body: { data: JSON.stringify(items) } });
  heard.take();
  return { panel, heard, inboundId };
}
const post = <T>(panel: TestPanel, path: string) => panel.get<T>(path, { method: 'POST' });

test.serial(
  'a reset of all is written in portions; those that are asked for together find nothing left',
  async (t) => {
    const { panel, heard } = await start();
    await using _ = panel;
    await Promise.all(Array.from({ length: 5 }, () => post(panel, `${API}/resetAllTraffics`)));
    t.deepEqual(heard.take(), ['updated 1000', 'updated 1000', 'updated 500']);
    t.like(await panel.get(`${API}/traffic/c2499`), { up: 0, down: 0 });
  },
);

/** How often a connection's time to answer began again while this ran. */
async function restarted(work: () => Promise<unknown>): Promise<number> {
  const { setTimeout: original } = Socket.prototype;
  let count = 0;
  Socket.prototype.setTimeout = function (this: Socket, ...given: Parameters<typeof original>) {
    if (new Error().stack?.includes('progressed')) count++;
    return original.apply(this, given);
  };
  try {
    await work();
  } finally {
    Socket.prototype.setTimeout = original;
  }
  return count;
}

test.serial(
  'a call is not cut while portions are written, its own or those of a call before it',
  async (t) => {
    const { panel, inboundId } = await start();
    await using _ = panel;
    const reset = () => post(panel, `${API}/resetAllTraffics`);
    t.is(await restarted(() => Promise.all([reset(), reset()])), 6);
    const remove = () => post(panel, `/panel/api/inbounds/${inboundId}/delAllClients`);
    t.is(await restarted(remove), 3);
    t.is(await restarted(() => post(panel, `${API}/delDepleted`)), 0);
  },
);

test.serial('other edits come in between the portions of a deletion', async (t) => {
  const { panel, heard, inboundId } = await start();
  await using _ = panel;
  const deletion = post<{ deleted: number }>(panel, `/panel/api/inbounds/${inboundId}/delAllClients`);
  while (heard.written.length === 0) await new Promise(setImmediate);
  await panel.get(`${API}/groups/bulkAdd`, { body: { emails: ['c2499'], group: 'late' } });
  t.is((await deletion).deleted, COUNT);
  t.deepEqual(heard.take().toSorted(), ['deleted 1000', 'deleted 1000', 'deleted 500', 'updated 1']);
  t.is((await panel.get<{ total: number }>(`${API}/list/paged`)).total, 0);
});

test.serial('a refusal leaves the portions before it, and the same call again goes on', async (t) => {
  const { panel, heard, inboundId } = await start();
  await using _ = panel;
  heard.refusesFrom = 2;
  const path = `/panel/api/inbounds/${inboundId}/delAllClients`;
  t.is((await panel.call(path, { method: 'POST' })).status, 409);
  t.deepEqual(heard.take(), ['deleted 1000']);
  heard.refusesFrom = Infinity;
  t.is((await post<{ deleted: number }>(panel, path)).deleted, 1500);
});

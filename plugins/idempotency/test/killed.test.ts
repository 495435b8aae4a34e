// Runs on every database.
// A panel that is killed while callers wait: what was acknowledged is replayed, and the rest is done once or said to be unknown.
import test from 'ava';
import { rm } from 'node:fs/promises';
import { PanelProcess } from '../../../test/harness/panel-process.js';

const DAY = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const CALLS = 40;
const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray' };

test('after kill -9 a key is answered as it was, or honestly', async (t) => {
  const first = await PanelProcess.start({ env: NO_CORE });
  const { dataDirectory } = first;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => first.dispose());
  const inbound = await first.addInbound();
  await first.addClient('ada', [inbound], { expiryTime: START });
  /** Each adds a day: who counts the days knows how often it was done. */
  const add = (panel: PanelProcess, i: number) =>
    panel.call('/panel/api/clients/bulkAdjust', {
      body: { emails: ['ada'], addDays: 1 },
      headers: { 'Idempotency-Key': `call ${i}`.replace(' ', '-') },
    });
  const acknowledged = new Map<number, string>();
  let next = 0;
  const caller = async () => {
    while (next < CALLS) {
      const i = next++;
      const { status, text } = await add(first, i);
      if (status === 200) acknowledged.set(i, text);
      if (acknowledged.size === CALLS / 2) void first.kill('SIGKILL');
    }
  };
  await Promise.allSettled([caller(), caller(), caller(), caller()]);
  t.true(acknowledged.size >= CALLS / 2, 'it was killed in the midst of it');

  const second = await PanelProcess.start({ env: NO_CORE, dataDirectory });
  t.teardown(() => second.dispose());
  let done = acknowledged.size;
  let unknown = 0;
  for (let i = 0; i < CALLS; i++) {
    const { status, text, headers, body } = await add(second, i);
    const was = acknowledged.get(i);
    if (was !== undefined)
      t.deepEqual([status, text, headers.get('idempotency-replayed')], [200, was, 'true']);
    else if (status === 200) done += 1;
    else {
      t.deepEqual([status, body.code], [409, 'IDEMPOTENCY_UNKNOWN']);
      unknown += 1;
    }
  }
  const { expiryTime } = await second.get<{ expiryTime: number }>('/panel/api/clients/get/ada');
  const days = (expiryTime - START) / DAY;
  t.log(`${acknowledged.size} acknowledged, ${done} done, ${unknown} unknown, ${days} days`);
  t.true(unknown <= 4, 'at most those that were under way');
  t.true(
    days >= done && days <= done + unknown,
    `${days} days of ${done} calls, and ${unknown} with an unknown result`,
  );
});

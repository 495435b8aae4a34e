// Runs on every database.
// A panel that is killed right after many devices fetched: the limit holds before and after, and what was listed is stored.
import { rm } from 'node:fs/promises';
import test from 'ava';
import { PanelProcess } from '../../../test/harness/panel-process.js';

const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray' };
const LIMIT = 5;
const DEVICES = 50;

test('after kill -9 no more devices than the limit are admitted', async (t) => {
  const first = await PanelProcess.start({ env: NO_CORE });
  const { dataDirectory } = first;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => first.dispose());
  const inbound = await first.addInbound();
  for (const name of ['ann', 'bob'])
    await first.addClient(name, [inbound], { subId: `sub-${name}`, limitHwid: LIMIT });
  await first.get('/panel/api/setting/update', { body: { subPath: '/s/' } });
  const admitted = async (panel: PanelProcess, name: string): Promise<number[]> => {
    const port = (panel.said('ready') as { subUrl?: string } | undefined)?.subUrl;
    const base = new URL(port ?? 'http://none').origin;
    const answers = await Promise.all(
      Array.from({ length: DEVICES }, (_, i) =>
        fetch(`${base}/s/sub-${name}`, { headers: { 'X-HWID': `device-number-${i}` } }),
      ),
    );
    return answers.flatMap(({ status }, i) => (status === 200 ? [i] : []));
  };
  const listed = async (panel: PanelProcess, name: string) =>
    (await panel.get<{ fingerprint: string }[]>(`/panel/api/clients/hwids/${name}`, { method: 'POST' }))
      .map(({ fingerprint }) => fingerprint)
      .sort();
  const ann = await admitted(first, 'ann');
  t.is(ann.length, LIMIT);
  const stored = await listed(first, 'ann');
  t.is((await admitted(first, 'bob')).length, LIMIT);
  await first.kill('SIGKILL');

  const second = await PanelProcess.start({ env: NO_CORE, dataDirectory });
  t.teardown(() => second.dispose());
  t.deepEqual(await listed(second, 'ann'), stored, 'what was written is there');
  t.deepEqual(await admitted(second, 'ann'), ann);
  const kept = await listed(second, 'bob');
  t.log(`${kept.length} of ${LIMIT} devices of the last seconds were stored`);
  t.true(kept.length <= LIMIT);
  t.is((await admitted(second, 'bob')).length, LIMIT);
  t.is((await listed(second, 'bob')).length, LIMIT);
});

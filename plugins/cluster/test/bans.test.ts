// Runs on every database in test:full.
// A ban of one panel holds on the machines of all of them.
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { folderOf, thirdParty, writeFiles } from '../../../test/outside/third-party.js';
import { Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test;
/** The panels follow by an event, and not only by a job that runs every thirty seconds. */
const SOON_MS = 10_000;
const API = '/panel/api/x/ban-guard';
/** A driver that bans by a list in the data folder of each panel. */
const DRIVER = 'acme-banlist';
const SOURCE = new URL(`../../../examples/${DRIVER}/index.js`, import.meta.url);

const listed = async ({ dataDirectory }: PanelProcess): Promise<string[]> => {
  const text = await readFile(join(dataDirectory, `${DRIVER}.txt`), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => line.split(' ')[0] || []);
};

onServer('what one panel bans is banned on each machine, until it ends', async (t) => {
  await using panels = await Panels.open();
  const reference = await thirdParty(await folderOf(t), DRIVER, await readFile(SOURCE, 'utf8'));
  const start = async (name: string, known?: string) => {
    const dataDirectory = known ?? (await mkdtemp(join(tmpdir(), 'weir-test-')));
    await writeFiles(dataDirectory, { 'weir.json': { plugins: { [reference]: true } } });
    return panels.start(name, {}, { dataDirectory });
  };
  const [a, b] = [await start('a'), await start('b')];
  const areListed = async (all: readonly PanelProcess[], addresses: readonly string[], what: string) => {
    for (const panel of all)
      await panel.until(async () => `${(await listed(panel)).sort()}` === `${addresses}`, what, SOON_MS);
  };
  const ban = (panel: PanelProcess, address: string) => panel.get(`${API}/ban`, { body: { address } });

  await b.get('/panel/api/setting/update', { body: { banGuardDriver: DRIVER } });
  for (const panel of [a, b])
    await panel.until(
      async () => {
        const status = await panel.get<{ driver: string; problem: string }>(`${API}/status`);
        return status.driver === DRIVER && status.problem === '';
      },
      'each panel uses the driver',
      SOON_MS,
    );
  await ban(a, '198.51.100.7');
  await areListed([a, b], ['198.51.100.7'], 'a ban of the leader');
  await ban(b, '198.51.100.8');
  await areListed([a, b], ['198.51.100.7', '198.51.100.8'], 'a ban of the other panel');
  await b.get(`${API}/unban`, { body: { address: '198.51.100.7' } });
  await areListed([a, b], ['198.51.100.8'], 'the end of a ban');

  await b.kill('SIGKILL');
  await ban(a, '198.51.100.9');
  const again = await start('b', b.dataDirectory);
  await areListed([a, again], ['198.51.100.8', '198.51.100.9'], 'a ban while a panel was away');
  t.deepEqual([...a.faults, ...again.faults], []);

  await again.kill('SIGKILL');
  await a.get('/panel/api/setting/update', { body: { banGuardDriver: '' } });
  await areListed([a], [], 'the driver is switched off');
  const last = await start('b', b.dataDirectory);
  await areListed([last], [], 'also where the panel was away');
  t.deepEqual([...a.faults, ...last.faults], []);
});

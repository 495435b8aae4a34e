// Runs on every database in test:full.
// The core runs beside the leader; what another panel changes reaches it, and it follows the lead.
import { join } from 'node:path';
import test from 'ava';
import { userOf } from '../../engine/contract.js';
import { CoreApi } from '../../engine/xray/api.js';
import { eachMessage } from '../../engine/xray/each-message.js';
import { decode } from '../../engine/xray/messages.js';
import { onSqlite } from '../../../test/harness/database.js';
import { Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test;

/** Ids of the clients that an inbound of the core has; none while there is no such inbound. */
async function clientsOfCore(dataDirectory: string, tag: string): Promise<number[]> {
  const api = new CoreApi(join(dataDirectory, 'engine', 'api.sock'));
  const ids: number[] = [];
  try {
    await eachMessage(await api.inboundUsers(tag), 1, (bytes) => {
      const [name = ''] = decode('xray.common.protocol.User', bytes).email.split('~');
      ids.push(userOf(name)?.clientId ?? 0);
    });
  } catch {
    return [];
  } finally {
    api.close();
  }
  return ids;
}

onServer(
  'a client that another panel adds or deletes is in the core, or not; a new leader has a core',
  async (t) => {
    await using panels = await Panels.open();
    const core = { WEIR_PRESET: 'minimal', WEIR_ENGINE_BIN: process.env['WEIR_ENGINE_BIN'] ?? '' };
    const [a, b] = [await panels.start('a', core), await panels.start('b', core)];
    await a.until(async () => (await a.corePid()) !== undefined, 'the leader has a core');
    t.is(await b.corePid(), undefined);
    const inbound = await b.addInbound({ remark: 'shared' });
    const ada = await b.addClient('ada', [inbound]);
    const [{ tag = '' } = {}] = await b.get<{ tag: string }[]>('/panel/api/inbounds/list');
    const inCore = async (folder: string) => (await clientsOfCore(folder, tag)).includes(ada.id);
    await a.until(() => inCore(a.dataDirectory), 'the core of the leader has the client');
    await b.get('/panel/api/clients/del/ada', { body: {} });
    await a.until(async () => !(await inCore(a.dataDirectory)), 'and not after its deletion');
    const eve = await b.addClient('eve', [inbound]);
    const before = await a.corePid();
    await a.kill('SIGKILL');
    await b.until(
      async () => (await clientsOfCore(b.dataDirectory, tag)).includes(eve.id),
      'the core of the new leader has the clients',
      60_000,
    );
    t.is(await a.corePid(), before, 'the core outlives its panel');
    const back = await panels.start('a', core, { dataDirectory: a.dataDirectory });
    await back.until(async () => (await back.corePid()) === undefined, 'but not beside the one of another');
    await b.kill('SIGTERM');
    await back.until(
      async () => (await clientsOfCore(back.dataDirectory, tag)).includes(eve.id),
      'and its panel has a core again when it leads',
      60_000,
    );
  },
);

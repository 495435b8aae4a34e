// Runs sidecar programs.
// The real core and the real mtg-multi: traffic leaves through the core, and a killed panel finds the proxy again.
import test, { type ExecutionContext } from 'ava';
import { rm } from 'node:fs/promises';
import { freePort } from '../../../test/harness/index.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import type { SidecarStatus } from '../../sidecars/contract.js';
import { processesBelow } from '../../processes/test/world.js';
import { DataCentre } from './data-centre.js';
import { TelegramClient } from './telegram-client.js';
import { mtgMulti } from './world.js';
import { join } from 'node:path';

const env = () => ({ WEIR_MTG_BIN: mtgMulti() });
const upOf = async (panel: PanelProcess): Promise<number> =>
  (await panel.get<{ up: number }>('/panel/api/clients/traffic/ann')).up;
const status = async (panel: PanelProcess): Promise<SidecarStatus | undefined> =>
  (await panel.get<SidecarStatus[]>('/panel/api/x/sidecars'))[0];

async function opened(t: ExecutionContext) {
  const centre = await DataCentre.listen(await freePort());
  const panel = await PanelProcess.start({ env: env() });
  t.teardown(async () => {
    for (const pid of await processesBelow(join(panel.dataDirectory, 'processes')))
      process.kill(pid, 'SIGKILL');
    await rm(panel.dataDirectory, { recursive: true, force: true });
    await centre[Symbol.asyncDispose]();
  });
  return { centre, panel };
}

test('traffic leaves by the outbound that is named, and is counted once over kill -9 of the panel', async (t) => {
  const { centre, panel: first } = await opened(t);
  const template = await first.get<{ outbounds: object[] }>('/panel/api/engine/getDefaultJsonConfig');
  const servers = [{ address: '127.0.0.1', port: centre.port }];
  const engineSetting = JSON.stringify({
    ...template,
    outbounds: [...template.outbounds, { tag: 'telegram', protocol: 'socks', settings: { servers } }],
  });
  await first.get('/panel/api/engine/update', { body: { engineSetting } });
  const port = await freePort();
  const inboundId = await first.addInbound({
    protocol: 'mtproto',
    port,
    settings: { fakeTlsDomain: 'site.example', routeThroughEngine: true, outboundTag: 'telegram' },
  });
  await first.addClient('ann', [inboundId]);
  const [link = ''] = await first.get<string[]>('/panel/api/clients/links/ann');
  const [, secret = ''] = /secret=([0-9a-f]+)/.exec(link) ?? [];
  let client: TelegramClient | undefined;
  await first.until(async () => {
    client = await TelegramClient.connect(port, secret).catch(() => undefined);
    return client !== undefined;
  }, 'the client is let in');
  await client?.echo(100_000);
  t.is(centre.asked.length, 1, 'through the core');
  await first.until(async () => (await upOf(first)) >= 100_000, 'it is counted');
  await client?.echo(100_000);
  const { pid } = (await status(first)) ?? {};
  await first.kill('SIGKILL');
  await client?.echo(100_000);
  const second = await PanelProcess.start({ dataDirectory: first.dataDirectory, env: env() });
  t.teardown(() => second.kill('SIGTERM'));
  await second.until(async () => (await status(second))?.state === 'running', 'it is adopted');
  t.is((await status(second))?.pid, pid, 'the same process');
  await client?.echo(100_000);
  await second.until(async () => (await upOf(second)) >= 400_000, 'all is counted');
  await new Promise((resolve) => setTimeout(resolve, 6000));
  const up = await upOf(second);
  t.true(up < 410_000, `nothing twice: ${up}`);
  t.true(client?.isOpen);
  await second.kill('SIGTERM');
  t.deepEqual(await processesBelow(join(first.dataDirectory, 'processes')), []);
});

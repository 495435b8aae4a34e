// Somebody changes the running core behind the panel's back; the panel reads back what runs, and fixes it.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { connect, engineBinary, openPanel, openServer } from './user.js';

test('an inbound, an outbound and rules that are gone come back, and a download goes on', async (t) => {
  const panel = await openPanel(t);
  const server = await openServer(t);
  const inbound = await panel.addInbound();
  await panel.addClient('a', [inbound]);
  const [{ tag } = { tag: '' }] = await panel.get<{ tag: string }[]>('/panel/api/inbounds/list');
  const user = await connect(t, panel, 'a', server);
  const core = await panel.corePid();
  const look = () => panel.call('/panel/api/system/jobs/engine/drift', { method: 'POST' });
  await look();
  t.is(panel.said('the core does not run what it should; fixing that'), undefined);
  const transfer = user.start(4_000_000, 1_000_000);
  await panel.until(() => transfer.soFar > 0, 'the transfer has begun');

  const api = join(panel.dataDirectory, 'engine', 'api.sock');
  const change = (...args: string[]) =>
    promisify(execFile)(engineBinary(), ['api', args[0] ?? '', `--server=unix:${api}`, ...args.slice(1)]);
  await change('rmi', tag);
  await change('rmo', 'direct');
  const { routing } = await panel.get<{ routing: { rules: { ruleTag: string }[] } }>(
    '/panel/api/server/getConfigJson',
  );
  await change('rmrules', routing.rules.at(-1)?.ruleTag ?? '');
  t.false(await user.served());

  await look();
  t.true(await user.served(), JSON.stringify(panel.log.slice(-8)));
  const line = panel.said('the core does not run what it should; fixing that');
  for (const part of [
    `the inbound ${tag} is missing`,
    'the outbound direct is missing',
    'the rules are others',
  ])
    t.true(String(line?.['found']).includes(part), `${part}: ${String(line?.['found'])}`);
  t.is(await transfer.ended, 4_000_000);
  t.is(await panel.corePid(), core);
  const said = panel.log.filter(({ msg }) => msg.startsWith('the core does not run what')).length;
  await look();
  t.is(panel.log.filter(({ msg }) => msg.startsWith('the core does not run what')).length, said);
});

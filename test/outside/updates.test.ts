// Third-party plugins that are added, updated and taken out while the panel runs: the list says what runs and what waits.
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { check } from '../../panel/check.js';
import { PanelProcess } from '../harness/panel-process.js';
import { ProgramPanel } from '../harness/program-panel.js';
import { weirCommand, weirWithCheck } from '../harness/weir-command.js';
import { folderOf, source, thirdParty, writeFiles } from './third-party.js';

interface Listed {
  readonly name: string;
  readonly version: string;
  readonly waiting: string;
  readonly state: string;
  readonly reason: string;
}

const answering = (text: string): string =>
  source(
    'tide',
    `routes: () => [route({ method: 'GET', path: '/panel/api/x/tide/says', doc: 'Says it.', reply: message(), handle: () => '${text}' })]`,
    'message, route',
  );

const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray', WEIR_ENGINE_INSTALL: 'off', WEIR_PRESET: 'minimal' };

async function open(t: ExecutionContext, dataDirectory: string): Promise<PanelProcess> {
  const panel = await PanelProcess.start({
    dataDirectory,
    env: NO_CORE,
  });
  t.teardown(() => panel.kill('SIGKILL'));
  return panel;
}

test.serial(
  'an update waits for another process, and the list says which version runs until then',
  async (t) => {
    const folder = await folderOf(t);
    const reference = await thirdParty(folder, 'tide', answering('one'));
    await writeFiles(folder, { 'weir.json': { plugins: { [reference]: true } } });
    const panel = await open(t, folder);
    const tide = async () =>
      (await panel.get<Listed[]>('/panel/api/system/plugins')).find(({ name }) => name === 'tide');
    const says = async () => (await panel.call('/panel/api/x/tide/says')).body.msg;
    t.like(await tide(), { version: '1.2.3', waiting: '', state: 'running', reason: '' });

    await thirdParty(folder, 'tide', answering('two'), { version: '2.0.0' });
    const waiting = {
      version: '1.2.3',
      waiting: '2.0.0',
      state: 'running',
      reason:
        'version 2.0.0 is installed, but version 1.2.3 is loaded; restart the process of the panel to run the new one',
    };
    t.like(await tide(), waiting);
    t.regex(
      (await weirCommand(folder, ['plugins'])).said,
      /^tide +1\.2\.3 +running +version 2\.0\.0 is installed/m,
    );

    // The panel restarts in its process, which has read the code already.
    t.is((await panel.call('/panel/api/setting/restartPanel', { method: 'POST' })).status, 202);
    await panel.until(() => panel.starts === 2, 'the panel is back');
    t.is(await says(), 'one');
    t.like(await tide(), waiting);

    await panel.kill('SIGTERM');
    const next = await open(t, folder);
    t.is((await next.call('/panel/api/x/tide/says')).body.msg, 'two');
    t.like(
      (await next.get<Listed[]>('/panel/api/system/plugins')).find(({ name }) => name === 'tide'),
      { version: '2.0.0', waiting: '', reason: '' },
    );
  },
);

test.serial('what was added or taken out since the start is listed as such', async (t) => {
  const folder = await folderOf(t);
  const tide = await thirdParty(folder, 'tide', answering('one'));
  await writeFiles(folder, { 'weir.json': { plugins: { [tide]: true } } });
  const panel = await ProgramPanel.start({ dataDirectory: folder, env: NO_CORE });
  t.teardown(() => panel.stop());
  const plugin = (...argv: string[]) => weirWithCheck(folder, ['plugin', ...argv], {}, check);
  const added = await plugin('add', `path:${join(folder, 'moon')}`);
  t.is(added.code, 1, 'it is not there yet');
  await thirdParty(folder, 'moon');
  t.is((await plugin('add', join(folder, 'moon'))).code, 0);
  t.is((await plugin('remove', 'tide')).code, 0);
  const listed = await panel.get<Listed[]>('/panel/api/system/plugins');
  t.like(
    listed.find(({ name }) => name === 'moon'),
    {
      version: '',
      waiting: '1.2.3',
      state: 'waiting',
      reason: 'it was added and runs after the next restart',
    },
  );
  t.like(
    listed.find(({ name }) => name === 'tide'),
    {
      version: '1.2.3',
      waiting: '',
      state: 'running',
      reason: 'it was removed from the config file and runs until the next restart',
    },
  );
  t.regex((await weirCommand(folder, ['plugins'])).said, /^moon +waiting +it was added/m);
});

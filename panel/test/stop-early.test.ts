// A stop that is requested before the panel has started.
import test from 'ava';
import { environmentOf } from '../../test/harness/api.js';
import { until } from '../../test/harness/until.js';
import { folderOf, source, thirdParty, writeFiles } from '../../test/outside/third-party.js';
import { createLog } from '../log.js';
import { Program } from '../program.js';

const SLOW = source(
  'slow',
  `taps: ({ log }) => [
    tap(afterKernelOpen, () => (log.info('opening'), new Promise((resolve) => setTimeout(resolve, 500)))),
    tap(beforeKernelStop, () => log.info('closing')),
  ]`,
  'afterKernelOpen, beforeKernelStop, tap',
);

test('waits for the start, so that what it has started is stopped', async (t) => {
  const folder = await folderOf(t);
  const slow = await thirdParty(folder, 'slow', SLOW);
  await writeFiles(folder, { 'weir.json': { preset: 'minimal', plugins: { [slow]: true } } });
  const log: string[] = [];
  const write = (line: string) => void log.push((JSON.parse(line) as { msg: string }).msg);
  const program = new Program({
    env: { ...environmentOf(folder), WEIR_ENGINE_BIN: '/nowhere/xray', WEIR_ENGINE_INSTALL: 'off' },
    log: createLog({ level: 'info', readable: false, write }),
    write,
    readable: false,
    early: 60_000,
    lost: (error) => t.fail(String(error)),
  });
  const started = program.start();
  await until(() => log.includes('opening'), 'the plugins are called');
  await program.stop('SIGTERM');
  await started;
  const order = ['opening', 'stopping as soon as the panel has started', 'ready', 'closing', 'stopped'];
  t.deepEqual(
    log.filter((line) => order.includes(line)),
    order,
  );
});

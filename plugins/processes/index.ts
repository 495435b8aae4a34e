import {
  afterKernelOpen,
  beforeKernelStop,
  command,
  contribute,
  definePlugin,
  everywhere,
  job,
  kernelReady,
  provide,
  singleton,
  tap,
} from '../../kernel/index.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { Processes, processStateChanged } from './contract.js';
import { failedProcess } from './notified.js';
import { ProcessTable } from './processes.js';

export default definePlugin({
  name: 'processes',
  version: '0.1.0',
  api: 1,
  // The engine runs the core with it.
  essential: true,
  about: 'Runs other programs beside the panel: keeps them running, adopts those of a previous panel.',
  hooks: [processStateChanged],
  services: { table: singleton(ProcessTable) },
  contributes: () => [contribute(NotifiedEvents, failedProcess)],
  provides: ({ table }) => [provide(Processes, table)],
  taps: ({ table }) => [
    tap(afterKernelOpen, () => table.open()),
    // All plugins have started or failed by now.
    tap(kernelReady, ({ plugins }) => table.endUnwanted(plugins)),
    tap(beforeKernelStop, ({ again }) => table.expectEnd(again)),
  ],
  commands: ({ table }) => [
    command({
      name: 'processes',
      about:
        'Lists the programs that plugins run beside the panel, and why one does not run. The core is not among them.',
      options: {},
      example: 'weir processes',
      run: ({ say }) => table.describe().forEach((line) => void say(line)),
    }),
  ],
  jobs: ({ table }) => [everywhere(job('cut-logs', '1s', () => table.cutLogs()))],
  stop: ({ table }) => table.close(),
});

import {
  afterKernelOpen,
  beforeKernelStop,
  Commands,
  definePlugin,
  maybe,
  Plugins,
  singleton,
  stage,
  tap,
} from '../../kernel/index.js';
import { PanelProgram } from '../system/contract.js';
import { CommandServer } from './command-server.js';
import { pluginsCommand } from './plugins.js';

export default definePlugin({
  name: 'command-line',
  version: '0.1.0',
  api: 1,
  about: 'Lets the command line run commands in the running panel.',
  uses: { commands: Commands, plugins: Plugins, program: maybe(PanelProgram) },
  services: { server: singleton(CommandServer) },
  taps: ({ server }) => [
    // Before slow work, such as a first start of the core: a locked-out admin must not wait for it.
    tap(afterKernelOpen, () => server.open(), { stage: stage.FIRST }),
    tap(beforeKernelStop, () => server.close()),
  ],
  commands: ({ plugins, program }) => [pluginsCommand(plugins, program)],
});

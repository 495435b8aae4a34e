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
import { Door } from './door.js';
import { pluginsCommand } from './plugins.js';

export default definePlugin({
  name: 'command-line',
  version: '0.1.0',
  api: 1,
  about: 'Lets the command line run commands in the panel while it runs.',
  uses: { commands: Commands, plugins: Plugins, program: maybe(PanelProgram) },
  services: { door: singleton(Door) },
  taps: ({ door }) => [
    // Before what takes long, such as a first start of the core: who is locked out shall not wait for it.
    tap(afterKernelOpen, () => door.open(), { stage: stage.FIRST }),
    tap(beforeKernelStop, () => door.close()),
  ],
  commands: ({ plugins, program }) => [pluginsCommand(plugins, program)],
});

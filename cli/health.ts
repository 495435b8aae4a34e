// `weir health`: does the panel work? For containers and for an upgrade.
import { setTimeout as sleep } from 'node:timers/promises';
import { askPanel } from '../plugins/command-line/channel.js';
import { programCommand } from './program-command.js';

/** More than the panel takes to ask itself; one that hangs never answers. */
const LIMIT_MS = 12_000;

export const healthCommand = programCommand({
  name: 'health',
  about:
    'Asks the panel that runs whether it works, as its `healthz` does, and lists the plugins that do not run. Fails where no panel runs; starts none.',
  options: {},
  example: 'weir health',
  act: async ({ directory, say, complain }) => {
    const exit = await Promise.race([
      askPanel(directory, ['system', 'health'], { say, complain }),
      sleep(LIMIT_MS, 'silent' as const, { ref: false }),
    ]);
    if (exit === 'silent') {
      complain(`the panel in ${directory} does not answer within ${LIMIT_MS / 1000} s`);
      return 1;
    }
    if (exit !== undefined) return exit;
    complain(`no panel runs in ${directory}; if its data folder is another one, name it in WEIR_DATA_DIR`);
    return 1;
  },
});

// `weir health`: does the panel work? For containers and for an upgrade.
import { askPanel } from '../plugins/command-line/channel.js';
import { programCommand } from './program-command.js';

export const healthCommand = programCommand({
  name: 'health',
  about:
    'Asks the panel that runs whether it works, as its `healthz` does, and lists the plugins that do not run. Fails where no panel runs; starts none.',
  options: {},
  example: 'weir health',
  act: async ({ directory, say, complain }) => {
    const exit = await askPanel(directory, ['system', 'health'], { say, complain });
    if (exit !== undefined) return exit;
    complain(`no panel runs in ${directory}`);
    return 1;
  },
});

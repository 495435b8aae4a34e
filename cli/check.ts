// `weir check`: would the panel start?
import type { Report } from '../panel/check.js';
import { own } from './own.js';

/** `access 0.1.0, …`, those from outside by name, of the others only how many. */
function whoRuns({ plugins }: Report): string {
  const outside = plugins.filter((plugin) => plugin.outside).map(({ name, version }) => `${name} ${version}`);
  return `${plugins.length - outside.length} of this tree; from outside: ${outside.join(', ') || 'none'}`;
}

export const checkCommand = own({
  name: 'check',
  about:
    'Tells whether the panel would start: environment, config file, plugins, database. Changes nothing, and leaves one that runs alone.',
  options: {},
  example: 'WEIR_DATA_DIR=/var/lib/weir weir check',
  act: async ({ env, check, say, complain }) => {
    const report = await check({ env });
    const { problems, failed, notes, configFile, database, core } = report;
    const refused = core?.refused ?? [];
    say(`config file  ${configFile || 'none'}`);
    if (report.plugins.length > 0) say(`plugins      ${whoRuns(report)}`);
    if (database) say(`database     ${database}`);
    if (core)
      say(
        `core         ${core.core || `none was asked: ${core.missing}; what plugins add to its config is untried`}`,
      );
    for (const note of notes) say(`note         ${note}`);
    if (problems.length > 0)
      complain(`the panel would not start:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    if (failed.length > 0)
      complain(`it would run without these:\n${failed.map(({ reason }) => `  - ${reason}`).join('\n')}`);
    if (refused.length > 0)
      complain(
        `the core would run without what these add to its config:\n${refused.map(({ plugin, reason }) => `  - ${plugin}: ${reason}`).join('\n')}`,
      );
    if (problems.length > 0 || failed.length > 0 || refused.length > 0) return 1;
    say('all is well: the panel would start');
    return 0;
  },
});

// `weir check`: would the panel start?
import { bool, optional } from '../schema/shape.js';
import type { Report } from '../panel/check.js';
import { tryOnCopy } from '../panel/try-on-copy.js';
import { programCommand } from './program-command.js';

/** `… built in; third-party: tally 0.1.0, …`: names third-party plugins and counts the others. */
function whoRuns({ plugins }: Report): string {
  const outside = plugins.filter((plugin) => plugin.outside).map(({ name, version }) => `${name} ${version}`);
  return `${plugins.length - outside.length} built in; third-party: ${outside.join(', ') || 'none'}`;
}

export const checkCommand = programCommand({
  name: 'check',
  about:
    'Checks whether the panel would start: environment, config file, plugins, database. Changes nothing and does not disturb a running panel.',
  options: {
    deep: optional(
      bool().description(
        'compare database, memory and core as well, in the panel that runs; without one, what the database alone shows',
      ),
    ),
    copy: optional(
      bool().description(
        'start the panel on a copy of the database as well, with the migrations that a start would run; SQLite only',
      ),
    ),
  },
  example: 'WEIR_DATA_DIR=/var/lib/weir weir check',
  act: async ({ options: { deep, copy }, env, check, run, say, complain }) => {
    const report = await check({ env });
    const { problems, failed, notes, configFile, database, core } = report;
    const refused = core?.refused ?? [];
    say(`config file  ${configFile || 'none'}`);
    if (report.plugins.length > 0) say(`plugins      ${whoRuns(report)}`);
    if (database) say(`database     ${database}`);
    if (core)
      say(
        `core         ${core.core || `not available: ${core.missing}; what plugins add to its config is untested`}`,
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
    const wrong = copy && problems.length === 0 ? await tryOnCopy(env) : undefined;
    if (wrong !== undefined) complain(`the panel does not start on a copy of the database: ${wrong}`);
    if (wrong !== undefined || problems.length > 0 || failed.length > 0 || refused.length > 0) return 1;
    const code = deep ? await run(['invariants']) : 0;
    if (code === 0) say('no problems: the panel would start');
    return code;
  },
});

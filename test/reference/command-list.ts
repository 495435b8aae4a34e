// docs/reference/commands.md: the help of every command, as the command line says it.
import { ownCommands } from '../../cli/commands.js';
import { declaredCommands } from '../../cli/declared-commands.js';
import { readPreset } from '../../panel/choose-plugins.js';
import { findPlugins } from '../../panel/find-plugins.js';
import { helpOn, type Typed } from '../../plugins/command-line/help.js';

/** Those of the program, and those of the plugins of this tree with whom they belong to. */
export async function everyCommand(): Promise<
  { readonly command: Typed; readonly owner: string | undefined }[]
> {
  const ofPlugins = declaredCommands(await findPlugins(await readPreset('full')));
  return [
    ...ownCommands.map((command) => ({ command, owner: undefined })),
    ...ofPlugins.map((command) => ({ command, owner: command.owner.name })),
  ].sort((a, b) => (a.command.name < b.command.name ? -1 : 1));
}

export async function commandList(): Promise<string> {
  const sections = (await everyCommand()).map(({ command, owner }) => {
    const from = owner === undefined ? '' : `\nOf the plugin [${owner}](../../plugins/${owner}/README.md).\n`;
    return `## weir ${command.name}\n${from}\n\`\`\`text\n${helpOn(command)}\n\`\`\`\n`;
  });
  return `# Commands

Written by \`node bin/reference.mjs\`; this is what \`weir <command> --help\` says. In a checkout \`weir\` is \`node bin/weir.mjs\`. How to run it as a service's user is in [operate.md](../operate.md#commands).

Exit codes: 0 done; 1 not done, with the reason on standard error; 2 nobody understood what was typed.

${sections.join('\n')}`;
}

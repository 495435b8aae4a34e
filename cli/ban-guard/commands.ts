// `weir ban-guard install`, `remove`, `show`: the files of fail2ban. A program command, because writing them takes root and
// the panel may run as somebody else. The texts are made here: what a panel says is ports, and nothing that root would run.
import type { ProgramCommand } from '../program-command.js';
import { programCommand } from '../program-command.js';
import { askPanel } from '../../plugins/command-line/channel.js';
import { type BanPorts, FAIL2BAN_JAILS, fail2banFiles } from '../../plugins/ban-guard/contract.js';
import { runCommand } from '../../plugins/processes/contract.js';
import { inspect } from '../../schema/inspect.js';
import { bool, list, optional, port, shape } from '../../schema/shape.js';
import { changes, Fail2ban, plan, type PlannedFile } from './fail2ban-files.js';

const Ports = shape({ open: list(port()).max(256), panel: list(port()).max(64) });
const NO_PORTS: BanPorts = { open: [], panel: [] };

async function portsOf(directory: string): Promise<BanPorts> {
  let [said, complained] = ['', ''];
  const exit = await askPanel(directory, ['ban-guard', 'ports'], {
    say: (line) => (said += line),
    complain: (line) => (complained += line),
  });
  if (exit === undefined)
    throw new Error(
      `no panel runs in ${directory}; start it first: the files name the ports that bans must not close`,
    );
  if (exit !== 0) throw new Error(complained || 'the panel does not say its ports');
  const read = inspect(Ports, JSON.parse(said));
  if (!('value' in read)) throw new Error('the panel that runs is of another version');
  return read.value;
}

const folderOf = (env: Readonly<Record<string, string | undefined>>): string =>
  env['WEIR_FAIL2BAN'] || '/etc/fail2ban';

function describe({ path, before, after }: PlannedFile): string {
  if (before === after) return before === undefined ? `not there: ${path}` : `unchanged: ${path}`;
  if (after === undefined) return `removed: ${path}`;
  return `${before === undefined ? 'new' : 'changed'}: ${path}\n${after.replace(/^/gm, '    ').trimEnd()}`;
}

const yes = optional(bool().description('do it; without it, only show what would be written'));

const showCommand = programCommand({
  name: 'ban-guard show',
  about: 'Shows the filters, actions and jails of fail2ban for this panel, and which of them are in place.',
  options: {},
  example: 'weir ban-guard show',
  act: async ({ env, directory, say }) => {
    const files = await plan(folderOf(env), fail2banFiles(directory, await portsOf(directory)), true);
    for (const file of files) say(describe(file));
    return 0;
  },
});

const installCommand = programCommand({
  name: 'ban-guard install',
  about:
    'Adds filters, actions and jails for this panel to fail2ban, checks them and loads them; if one fails, all are taken back. Without --yes, only shows them.',
  options: { yes },
  example: 'weir ban-guard install --yes',
  act: async ({ env, directory, options: { yes: isMeant = false }, say, complain }) => {
    const folder = folderOf(env);
    const fail2ban = new Fail2ban(folder, runCommand);
    await fail2ban.require();
    const files = await plan(folder, fail2banFiles(directory, await portsOf(directory)), true);
    for (const file of files) say(describe(file));
    if (!isMeant) {
      complain('nothing was written; weir ban-guard install --yes writes it and reloads fail2ban');
      return 1;
    }
    const isRunning = await fail2ban.apply(changes(files), FAIL2BAN_JAILS);
    say(
      isRunning
        ? 'fail2ban has the jails; set banGuardDriver to fail2ban'
        : 'the files are in place and valid; start fail2ban, then set banGuardDriver to fail2ban',
    );
    return 0;
  },
});

const removeCommand = programCommand({
  name: 'ban-guard remove',
  about:
    'Removes the filters, actions and jails of this panel from fail2ban, with their bans. Without --yes, only lists them.',
  options: { yes },
  example: 'weir ban-guard remove --yes',
  act: async ({ env, directory, options: { yes: isMeant = false }, say, complain }) => {
    const folder = folderOf(env);
    const files = changes(await plan(folder, fail2banFiles(directory, NO_PORTS), false));
    if (files.length === 0) {
      say(`${folder} has none of them`);
      return 0;
    }
    for (const file of files) say(describe(file));
    if (!isMeant) {
      complain('nothing was removed; weir ban-guard remove --yes removes it and reloads fail2ban');
      return 1;
    }
    await new Fail2ban(folder, runCommand).apply(files, []);
    say('removed; if banGuardDriver is fail2ban, nobody is banned any more');
    return 0;
  },
});

export const banGuardCommands: readonly ProgramCommand[] = [showCommand, installCommand, removeCommand];

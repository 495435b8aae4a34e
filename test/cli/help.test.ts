// What the command line says of itself, to who asks and to who mistypes.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { ownCommands } from '../../cli/commands.js';
import { weir } from '../../cli/weir.js';
import { describe } from '../../plugins/command-line/help.js';
import { PROGRAM_COMMANDS, parseCommandLine } from '../../plugins/command-line/parse-command-line.js';
import { folderOf, source, thirdParty, writeFiles } from '../outside/third-party.js';
import { everyCommand } from '../reference/command-list.js';

async function typed(folder: string, ...argv: string[]) {
  const said: string[] = [];
  const complained: string[] = [];
  const terminal = {
    say: (line: string) => said.push(line),
    complain: (line: string) => complained.push(line),
  };
  return {
    code: await weir(argv, { WEIR_DATA_DIR: folder }, terminal),
    said: said.join('\n'),
    complained: complained.join('\n'),
  };
}

test('every command has an example that can be typed, and says what each option is for', async (t) => {
  const all = await everyCommand();
  t.true(all.length >= 7, 'hardly a command was found');
  const commands = all.map(({ command }) => command);
  for (const { name, example = 'none', options } of commands) {
    const [, line = ''] = /^(?:[A-Z_]+=\S+ )*weir (.*)$/.exec(example) ?? [];
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word);
    const understood = parseCommandLine(commands, words);
    t.is('command' in understood ? understood.command.name : understood.text, name, example);
    for (const [key, schema] of Object.entries(options))
      t.not(describe(schema).description, '', `${name} --${key}`);
  }
});

test('the commands of the program are known where words are understood', (t) => {
  t.deepEqual(ownCommands.map(({ name }) => name).sort(), [...PROGRAM_COMMANDS].sort());
});

test('help lists the commands of the program, of plugins of this tree and of others, and leaves no trace', async (t) => {
  const folder = await folderOf(t);
  await thirdParty(
    folder,
    'well',
    source(
      'well',
      "commands: () => [command({ name: 'well dig', about: 'Digs.', run: () => undefined })]",
      'command',
    ),
  );
  await writeFiles(folder, { 'weir.json': { plugins: { 'path:well': true } } });
  for (const argv of [['--help'], ['help'], ['-h'], []]) {
    const { code, said, complained } = await typed(folder, ...argv);
    t.deepEqual([code, complained], [0, ''], argv.join());
    for (const line of [
      'admin reset',
      'check',
      'plugin add <plugin>',
      'plugin remove <plugin>',
      'plugins',
      'purge <plugin>',
      'quickstart',
      'well dig',
    ])
      t.regex(said, new RegExp(`^  ${line} `, 'm'), argv.join());
  }
  const group = await typed(folder, 'plugin', '--help');
  t.is(group.code, 0);
  t.deepEqual(
    [...group.said.matchAll(/^ {2}(plugin \w+)/gm)].map(([, name]) => name),
    ['plugin add', 'plugin remove'],
  );
  t.is(
    (await typed(folder, 'help', 'plugin', 'add')).said,
    (await typed(folder, 'plugin', 'add', '--help')).said,
  );
  t.deepEqual((await readdir(folder)).sort(), ['weir.json', 'well']);

  await writeFiles(folder, { 'weir.json': '{' });
  const broken = await typed(folder, '--help');
  t.is(broken.code, 0);
  t.regex(broken.said, /^ {2}check /m);
});

test('who mistypes is told what was meant, with code 2', async (t) => {
  const folder = await folderOf(t);
  for (const [argv, sentence] of [
    [['chekc'], /^there is no command "chekc"; did you mean weir check\?$/],
    [['plugin'], /^there is no command "plugin"; did you mean weir plugin add, weir plugin remove\?$/],
    [['plugin', 'ad', 'x'], /^there is no command "plugin ad x"; did you mean weir plugin add/],
    [['plugin', 'add'], /^<plugin> is required; weir plugin add --help lists the options$/],
    [['purge', 'x', 'y'], /^unexpected argument "y"; /],
    [['purge', 'x', '--yess'], /^there is no option --yess; did you mean --yes\?; /],
    [['check', 'it'], /^unexpected argument "it"; /],
    [['admin', 'rest'], /^there is no command "admin rest"; did you mean weir admin reset\?$/],
    [['frobnicate'], /^there is no command "frobnicate"; weir --help lists all commands$/],
  ] as const) {
    const { code, said, complained } = await typed(join(folder, 'data'), ...argv);
    t.deepEqual([code, said], [2, ''], argv.join(' '));
    t.regex(complained, sentence);
  }
  t.deepEqual(await readdir(folder), []);
});

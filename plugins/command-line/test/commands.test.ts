// Commands of plugins: how they are found, what is said to what somebody typed, and the way into a panel that runs.
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { weir } from '../../../cli/weir.js';
import {
  bool,
  command,
  defineErrors,
  definePlugin,
  int,
  list,
  optional,
  type Plugin,
  text as textOf,
  withDefault,
  word,
} from '../../../kernel/index.js';
import { declaredCommands } from '../../../cli/declared-commands.js';
import { lockFolder } from '../../../file/lock.js';
import { bootPanel } from '../../../panel/boot.js';
import { findPlugins } from '../../../panel/find-plugins.js';
import { until } from '../../../test/harness/until.js';
import { askPanel } from '../channel.js';
import commandLine from '../index.js';
import { parseCommandLine } from '../parse-command-line.js';

const errors = defineErrors('shop', { SOLD_OUT: [409, 'nothing is left; come again'] });

interface Seen {
  readonly plugin: Plugin;
  readonly ran: unknown[];
  aborted: boolean;
}
/** A third-party plugin with commands of every kind. */
function shop(): Seen {
  const seen: Seen = {
    ran: [],
    aborted: false,
    plugin: definePlugin({
      name: 'shop',
      version: '1.0.0',
      api: 1,
      about: 'For a test.',
      commands: ({ clock, dataDirectory, log }) => [
        command({
          name: 'shop sell',
          about: 'Sells.',
          options: {
            amount: int().min(1).max(9).description('how many'),
            toWhom: optional(word().description('who buys')),
            giftWrap: withDefault(bool(), false),
            tag: optional(list(word())),
          },
          example: 'weir shop sell --amount 3 --gift-wrap',
          run: ({ options, say }) => {
            seen.ran.push({ ...options, at: clock.now() > 0 });
            say(`sold ${options.amount} in ${dataDirectory}`);
          },
        }),
        command({ name: 'shop', about: 'Tells how it goes.', run: ({ say }) => say('well') }),
        command({
          name: 'shop close',
          about: 'Fails in so many words.',
          run: () => Promise.reject(errors.SOLD_OUT()),
        }),
        command({
          name: 'shop burn',
          about: 'Breaks.',
          run: () => {
            throw new TypeError('no water');
          },
        }),
        command({
          name: 'shop open',
          about: 'Works on a fresh folder.',
          fresh: true,
          run: ({ say }) => say('open'),
        }),
        command({
          name: 'shop wait',
          about: 'Waits for its end.',
          run: async ({ signal, say }) => {
            say('waiting');
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
            log.info('given up', {});
            seen.aborted = true;
          },
        }),
      ],
    }),
  };
  return seen;
}
const commands = declaredCommands([shop().plugin]);

function terminal() {
  const said: string[] = [];
  const complained: string[] = [];
  return {
    said,
    complained,
    say: (line: string) => void said.push(line),
    complain: (line: string) => void complained.push(line),
  };
}
const folder = async (t: ExecutionContext, name = ''): Promise<string> => {
  const made = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(made, { recursive: true, force: true }));
  const path = join(made, name);
  await mkdir(path, { recursive: true });
  return path;
};
async function panel(t: ExecutionContext, plugins: readonly Plugin[], dataDirectory?: string) {
  const log: string[] = [];
  const directory = dataDirectory ?? (await folder(t));
  const kernel = await bootPanel({
    plugins,
    env: { WEIR_DATA_DIR: directory, WEIR_PANEL_PORT: '0' },
    write: (line) => void log.push(line),
    selfChecks: true,
  });
  t.teardown(() => kernel.stop('end of test'));
  return { kernel, directory, log };
}

test('uses the longest matching name, and reads options by their schemas', (t) => {
  const options = (...argv: string[]) => {
    const understood = parseCommandLine(commands, argv);
    return 'command' in understood ? [understood.command.name, understood.options] : understood;
  };
  t.deepEqual(options('shop'), ['shop', {}]);
  t.deepEqual(options('shop', 'sell', '--amount', '3'), ['shop sell', { amount: 3, giftWrap: false }]);
  t.deepEqual(
    options('shop', 'sell', '--amount=3', '--to-whom', 'Ada', '--gift-wrap', '--tag', 'a', '--tag', 'b'),
    ['shop sell', { amount: 3, toWhom: 'Ada', giftWrap: true, tag: ['a', 'b'] }],
  );
});

test('names an unexpected argument and exits with code 2', (t) => {
  for (const [argv, sentence] of [
    [['frobnicate', 'it'], 'there is no command "frobnicate it"; weir --help lists all commands'],
    [['--frobnicate'], 'there is no command "--frobnicate"; weir --help lists all commands'],
    [['shop', 'sell'], '--amount is required; weir shop sell --help lists the options'],
    [
      ['shop', 'sell', '--amount', 'ten'],
      '--amount must be a number; weir shop sell --help lists the options',
    ],
    [
      ['shop', 'sell', '--amount', '10'],
      '--amount must be less than or equal to 9; weir shop sell --help lists the options',
    ],
    [
      ['shop', 'sell', '--amount', '1', '--to-whom', ''],
      '--to-whom is not allowed to be empty; weir shop sell --help lists the options',
    ],
    [
      ['shop', 'sell', '--amount', '1', '--towhom', 'x'],
      'there is no option --towhom; did you mean --to-whom?; weir shop sell --help lists the options',
    ],
    [
      ['shop', 'sell', '--amount', '1', '--frobnicate', 'x'],
      'there is no option --frobnicate; weir shop sell --help lists the options',
    ],
    [
      ['shop', 'sell', '--amount', '1', 'x'],
      'unexpected argument "x"; weir shop sell --help lists the options',
    ],
    [['shop', 'sel'], 'unexpected argument "sel"; weir shop --help lists the options'],
    [['shop', '__proto__'], 'unexpected argument "__proto__"; weir shop --help lists the options'],
    [
      ['shp', 'sell', '--amount', '1'],
      'there is no command "shp sell"; did you mean weir shop sell or weir shop?',
    ],
    [['plugn', 'add', './mine'], 'there is no command "plugn add ./mine"; did you mean weir plugin add?'],
    [['plugin'], 'there is no command "plugin"; did you mean weir plugin add, weir plugin remove?'],
    [['chek'], 'there is no command "chek"; did you mean weir check?'],
  ] as const)
    t.deepEqual(parseCommandLine(commands, argv), { text: sentence, exit: 2 }, argv.join(' '));
  const others = commands.filter(({ name }) => name === 'shop sell' || name === 'shop close');
  t.deepEqual(parseCommandLine(others, ['shop']), {
    text: 'there is no command "shop"; did you mean weir shop sell, weir shop close?',
    exit: 2,
  });
});

test('help lists every command, or one and its options', (t) => {
  const text = (...argv: string[]) => {
    const understood = parseCommandLine(commands, argv);
    if (!('text' in understood) || understood.exit !== 0) return t.fail(argv.join(' '));
    return understood.text;
  };
  for (const { about } of commands) t.true(text('--help')?.includes(about), about);
  t.true(text('--help')?.includes('  shop sell --amount <…> [options]  Sells.\n'), text('--help'));
  t.is(text(), text('-h'));
  t.is(text('shop', 'sell', '--help'), text('help', 'shop', 'sell'));
  t.is(
    text('shop', 'sell', '--help'),
    [
      'weir shop sell --amount <…> [options]\nSells.\n',
      '  --amount <…>   how many (required)\n  --to-whom <…>  who buys\n  --gift-wrap\n  --tag <…>\n',
      'Example: weir shop sell --amount 3 --gift-wrap',
    ].join('\n'),
  );
  t.is(text('shop', '--help'), 'weir shop\nTells how it goes.\n\nExample: weir shop');
});

test('one option needs no dashes, and some need no value', (t) => {
  const own = [
    {
      ...command({
        name: 'look',
        about: 'Looks.',
        options: { at: word().description('what'), closely: optional(textOf()) },
        run: () => undefined,
      }),
      operand: 'at',
    },
  ];
  const options = (...argv: string[]) => {
    const understood = parseCommandLine(own, argv);
    return 'command' in understood ? understood.options : understood.text;
  };
  t.deepEqual(options('look', './x'), { at: './x' });
  t.deepEqual(options('look', '--at', 'x', '--closely'), { at: 'x', closely: '' });
  t.deepEqual(options('look', '--closely', 'very', 'x'), { at: 'x', closely: 'very' });
  t.is(options('look'), '<at> is required; weir look --help lists the options');
  t.is(options('look', 'x', 'y'), 'unexpected argument "y"; weir look --help lists the options');
  t.is(
    options('look', '--help'),
    'weir look <at> [options]\nLooks.\n\n  <at>             what\n  --closely [<…>]\n\nExample: weir look <at>',
  );
});

test('names plugins with invalid, duplicate or oddly named commands', (t) => {
  const declares = (name: string, listed: NonNullable<Parameters<typeof definePlugin>[0]['commands']>) =>
    definePlugin({ name, version: '1.0.0', api: 1, about: 'For a test.', commands: listed });
  const called = (name: string) => () => [command({ name, about: 'Does.', run: () => undefined })];
  t.throws(() => declaredCommands([declares('a', called('x')), declares('b', called('x'))]), {
    message: 'the command x is declared by a and by b',
  });
  t.throws(() => declaredCommands([declares('a', called('--x'))]), {
    message: /plugin a declares a command "--x"/,
  });
  t.throws(
    () =>
      declaredCommands([
        declares('a', ({ contributions }) =>
          [...contributions({} as never)].map(() => called('x')()[0] as never),
        ),
      ]),
    {
      message: /^plugin a cannot list its commands before it is built/,
    },
  );
});

test('in a running panel, streams the output, then the exit code', async (t) => {
  const seen = shop();
  const { directory, log } = await panel(t, [commandLine, seen.plugin]);
  const out = terminal();
  t.is(await askPanel(directory, ['shop', 'sell', '--amount', '2'], out), 0);
  t.deepEqual([out.said, out.complained], [[`sold 2 in ${directory}`], []]);
  t.deepEqual(seen.ran, [{ amount: 2, giftWrap: false, at: true }]);
  t.is(await askPanel(directory, ['shop', 'sell'], out), 2);
  t.is(await askPanel(directory, ['shop', 'close'], out), 1);
  t.is(await askPanel(directory, ['shop', 'burn'], out), 1);
  t.deepEqual(out.complained.slice(1), ['nothing is left; come again', 'no water']);
  t.deepEqual(
    log.filter((line) => line.includes('plugin fault')).map((line) => line.includes('no water')),
    [true],
    'a refusal is no fault, a bug is one',
  );
});

test('commands run concurrently', async (t) => {
  const { directory } = await panel(t, [commandLine, shop().plugin]);
  const codes = await Promise.all(
    Array.from({ length: 20 }, () => askPanel(directory, ['shop'], terminal())),
  );
  t.deepEqual([...new Set(codes)], [0]);
});

test('aborts a command whose caller disconnects; a stop does not wait for endless commands', async (t) => {
  const seen = shop();
  const { kernel, directory } = await panel(t, [commandLine, seen.plugin]);
  const caller = connect(join(directory, 'panel.sock'));
  const secret = await readFile(join(directory, 'panel.secret'), 'utf8');
  caller.write(`${JSON.stringify({ secret, argv: ['shop', 'wait'] })}\n`);
  await new Promise((resolve) => caller.once('data', resolve));
  caller.destroy();
  await until(() => seen.aborted, 'the command heard that nobody waits');
  const out = terminal();
  const waiting = askPanel(directory, ['shop', 'wait'], out);
  await until(() => out.said.length > 0, 'the command runs');
  await kernel.stop('end of test');
  await t.throwsAsync(waiting, { message: 'the panel exited before the command was done; its log says why' });
});

test('closes invalid requests and requests without the secret; the panel keeps running', async (t) => {
  const seen = shop();
  const { directory } = await panel(t, [commandLine, seen.plugin]);
  t.is((await stat(join(directory, 'panel.secret'))).mode & 0o777, 0o600);
  const secret = await readFile(join(directory, 'panel.secret'), 'utf8');
  t.regex(secret, /^[0-9a-f]{64}$/);
  const sell = ['shop', 'sell', '--amount', '1'];
  for (const sent of [
    ...[undefined, '', 'x', secret.slice(1), `${secret}0`, [secret], null].map(
      (guess) => `${JSON.stringify({ secret: guess, argv: sell })}\n`,
    ),
    `${JSON.stringify({ secret, argv: 'shop' })}\n`,
    '\n',
    'GET / HTTP/1.1\r\n\r\n',
    '{"argv":"shop"}\n',
    '{"argv":[1]}\n',
    'null\n',
    'x'.repeat(100_000),
  ]) {
    const caller = connect(join(directory, 'panel.sock'));
    let heard = '';
    caller.on('data', (chunk) => (heard += String(chunk))).on('error', () => undefined);
    caller.write(sent);
    await new Promise((resolve) => caller.once('close', resolve));
    t.is(heard, '', sent.slice(0, 20));
  }
  t.deepEqual(seen.ran, []);
  t.is(await askPanel(directory, ['shop'], terminal()), 0);
});

test('names an unreadable secret; each start makes a new one', async (t) => {
  const first = await panel(t, [commandLine, shop().plugin]);
  const path = join(first.directory, 'panel.secret');
  const previous = await readFile(path, 'utf8');
  await rm(path);
  await t.throwsAsync(askPanel(first.directory, ['shop'], terminal()), {
    message: `${path} cannot be read; restart the panel to write it again`,
  });
  await first.kernel.stop('restart');
  const second = await panel(t, [commandLine, shop().plugin], first.directory);
  const next = await readFile(path, 'utf8');
  t.not(next, previous);
  await second.kernel.stop('restart');
  const elsewhere = join(first.directory, 'elsewhere');
  await rename(path, elsewhere);
  await symlink(elsewhere, path);
  await panel(t, [commandLine, shop().plugin], first.directory);
  t.is(await askPanel(first.directory, ['shop'], terminal()), 0);
  t.true((await lstat(path)).isFile());
  t.is(await readFile(elsewhere, 'utf8'), next, 'a link is replaced, and not followed');
});

test('works in a folder with a long name', async (t) => {
  const directory = await folder(t, join('d'.repeat(60), 'd'.repeat(60)));
  const first = await panel(t, [commandLine, shop().plugin], directory);
  t.is((await stat(join(directory, 'panel.sock'))).mode & 0o777, 0o600);
  t.is(await askPanel(directory, ['shop'], terminal()), 0);
  await first.kernel.stop('restart');
  t.false((await readdir(directory)).includes('panel.sock'));
  t.is(await askPanel(directory, ['shop'], terminal()), undefined);
});

test('if the socket cannot be created, the panel runs without a command line and logs it', async (t) => {
  const directory = await folder(t);
  await mkdir(join(directory, 'panel.sock'));
  const { log } = await panel(t, [commandLine, shop().plugin], directory);
  t.true(log.some((line) => line.includes('the command line cannot reach this panel')));
});

test('waits for a panel that starts or stops', async (t) => {
  const directory = await folder(t);
  const first = await panel(t, await findPlugins(['secrets', 'settings', 'access']), directory);
  await first.kernel.stop('restart');
  // It holds the folder and has no way in.
  const { release } = await lockFolder(directory);
  const out = terminal();
  let looks = 0;
  const env = {
    WEIR_DATA_DIR: directory,
    WEIR_PRESET: 'minimal',
    get WEIR_CONFIG() {
      looks++;
      return undefined;
    },
  };
  const ended = weir(['admin', 'reset'], env, out);
  // Two for each try: more tell that the first has failed.
  await until(() => looks > 2, 'a second try');
  await release();
  t.is(await ended, 0, out.complained.join());
  t.regex(out.said.join('\n'), /password {3}\S{20}/);
});

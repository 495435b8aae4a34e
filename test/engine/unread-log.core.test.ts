// Nobody reads the log, or it cannot be written: the panel serves, stores its edits, and stops its core when it is stopped.
import test, { type ExecutionContext } from 'ava';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, openSync, readlinkSync, writeSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askPanel } from '../../plugins/command-line/channel.js';
import { environmentOf, freePort, PanelApi } from '../harness/api.js';
import { withDatabase } from '../harness/edit-database.js';
import { Fifo } from '../harness/fifo.js';
import type { LogLine } from '../harness/logged-panel.js';
import { until } from '../harness/until.js';
import { agrees } from './agrees.js';
import { engineBinary, spawnPanel } from './user.js';

const MAIN = fileURLToPath(new URL('../../panel/main.js', import.meta.url));
const RUN_MAIN = `import(${JSON.stringify(MAIN)}).then(({ main }) => main())`;
/** At SIGPWR a plugin is talkative: twice what is kept while nobody reads. */
const TALKATIVE =
  "process.on('SIGPWR', () => { for (let i = 0; i < 20000; i++) console.log('x'.repeat(99)); })";

/** A panel with fewer plugins starts faster. */
const MINIMAL = { WEIR_PRESET: 'minimal' };

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** A command is logged; then an edit. */
async function use(
  t: ExecutionContext,
  panel: PanelApi & { readonly dataDirectory: string },
  email: string,
): Promise<void> {
  const silent = { say: () => undefined, complain: () => undefined };
  t.is(await askPanel(panel.dataDirectory, ['plugins'], silent), 0);
  await panel.addClient(email, [await panel.addInbound()]);
  await agrees(t, panel);
}

/** What was edited is in the database. */
async function isSaved(t: ExecutionContext, dataDirectory: string, email: string): Promise<void> {
  const [found] = await withDatabase(dataDirectory, (sequelize) =>
    sequelize.query('SELECT email FROM clients WHERE email = ?', { replacements: [email] }),
  );
  t.deepEqual(found, [{ email }]);
}

test('nobody empties a full pipe: what is dropped is counted, whoever wrote it; then the reader goes away', async (t) => {
  const fifo = Fifo.make(t);
  const reader = fifo.reader();
  const env = {
    ...MINIMAL,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TALKATIVE)}`,
  };
  const panel = await spawnPanel(t, { output: { fd: fifo.fd, lines: reader }, env });
  const core = (await panel.corePid()) ?? 0;
  reader.destroy();
  fifo.fill();
  panel.signal('SIGPWR');
  await use(t, panel, 'ann');
  let text = '';
  const report = () =>
    text
      .split('\n')
      .filter((line) => line.includes('log lines were dropped'))
      .map((line) => JSON.parse(line) as LogLine);
  await until(() => {
    text += fifo.take();
    return report().length > 0;
  }, 'the panel reports the lines that it dropped');
  const lines = Number(report()[0]?.['lines']);
  t.true(lines > 0 && lines < 20_000, `${lines}`);
  t.is(report()[0]?.['reason'], 'EAGAIN');
  t.is(report()[0]?.['output'], 'standard output');

  fifo.fill();
  await use(t, panel, 'bob');
  fifo.closeReaders();
  await use(t, panel, 'carol');
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
  t.false(isAlive(core));
  for (const email of ['ann', 'bob', 'carol']) await isSaved(t, panel.dataDirectory, email);
});

/** A panel without a readable log, which would say where it listens. */
class SilentPanel extends PanelApi {
  readonly url: string;
  readonly dataDirectory: string;
  readonly child: ChildProcess;

  private constructor(port: number, dataDirectory: string, child: ChildProcess) {
    super();
    this.url = `http://127.0.0.1:${port}`;
    this.dataDirectory = dataDirectory;
    this.child = child;
  }

  /** @param command is run with the panel's environment and must become or contain the panel */
  static async start(
    t: ExecutionContext,
    [program = '', ...args]: readonly string[],
    output: number | 'ignore',
  ): Promise<SilentPanel> {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const port = await freePort();
    const child = spawn(program, args, {
      stdio: ['pipe', output, output],
      env: {
        PATH: process.env['PATH'],
        SHELL: '/bin/sh',
        ...environmentOf(dataDirectory),
        WEIR_PANEL_PORT: String(port),
        ...MINIMAL,
        WEIR_ENGINE_BIN: engineBinary(),
      },
    });
    const panel = new SilentPanel(port, dataDirectory, child);
    t.teardown(async () => {
      child.kill('SIGKILL');
      for (const pid of [await panel.pid(), await panel.corePid()])
        if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGKILL');
      await rm(dataDirectory, { recursive: true, force: true });
    });
    await until(() => panel.corePid().then((pid) => pid > 0), 'the core runs');
    await until(
      () =>
        panel
          .call('/healthz')
          .then(({ status }) => status === 200)
          .catch(() => false),
      'the panel serves',
    );
    await panel.login();
    return panel;
  }

  protected override told(): readonly [] {
    return [];
  }

  pid(): Promise<number> {
    return readFile(join(this.dataDirectory, 'panel.pid'), 'utf8').then(Number, () => 0);
  }

  corePid(): Promise<number> {
    return readFile(join(this.dataDirectory, 'engine', 'core.json'), 'utf8').then(
      (text) => (JSON.parse(text) as { identity: { pid: number } }).identity.pid,
      () => 0,
    );
  }
}

test('a device that is full from the start', async (t) => {
  const command = [process.execPath, '--input-type=module', '--eval', RUN_MAIN];
  const panel = await SilentPanel.start(t, command, openSync('/dev/full', 'w'));
  const core = await panel.corePid();
  await use(t, panel, 'ann');
  panel.child.kill('SIGTERM');
  t.deepEqual(await once(panel.child, 'exit'), [0, null]);
  t.false(isAlive(core));
  await isSaved(t, panel.dataDirectory, 'ann');
});

/** `script` of util-linux makes a terminal and ends when it is killed; the terminal is closed then. */
const inTerminal = (before: string): string[] => [
  'script',
  '--quiet',
  '--flush',
  '--command',
  `exec ${before} ${process.execPath} --input-type=module --eval '${RUN_MAIN}'`,
  '/dev/null',
];

test('a terminal that stops reading, and then is closed', async (t) => {
  // In a session of its own the panel gets no SIGHUP.
  const panel = await SilentPanel.start(t, inTerminal('setsid --wait'), 'ignore');
  const [pid, core] = [await panel.pid(), await panel.corePid()];
  panel.child.kill('SIGSTOP');
  fill(readlinkSync(`/proc/${pid}/fd/1`));
  await use(t, panel, 'ann');
  panel.child.kill('SIGKILL');
  await once(panel.child, 'close');
  await use(t, panel, 'bob');
  process.kill(pid, 'SIGTERM');
  await until(() => !isAlive(pid), 'the panel ends');
  t.false(isAlive(core));
  await isSaved(t, panel.dataDirectory, 'bob');
});

test('closing the terminal stops panel and core', async (t) => {
  const panel = await SilentPanel.start(t, inTerminal(''), 'ignore');
  const [pid, core] = [await panel.pid(), await panel.corePid()];
  await use(t, panel, 'ann');
  panel.child.kill('SIGKILL');
  await until(() => !isAlive(pid), 'the panel ends');
  t.false(isAlive(core));
  await isSaved(t, panel.dataDirectory, 'ann');
});

/** A terminal takes no more after this. */
function fill(terminal: string): void {
  const fd = openSync(terminal, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    for (;;) writeSync(fd, 'x');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
}

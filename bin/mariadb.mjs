// A private MariaDB for the tests: in a temporary folder, on a loopback port, with a user for this run only.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnWithUs } from './setup.mjs';
import { installPackage, pathOf } from './system-package.mjs';

const START_LIMIT_MS = 60_000;
const OLDEST = [10, 6];
const PACKAGE = 'mariadb-server-core';
const COMMON = ['--skip-log-bin', '--performance-schema=off', '--max-connections=400'];
// Durability takes most of a server's time, and the databases of tests live for a minute.
const HASTE = [
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-doublewrite=0',
  '--innodb-buffer-pool-size=64M',
  '--innodb-log-file-size=32M',
  '--sync-frm=0',
  '--innodb-file-per-table=0',
  '--innodb-stats-persistent=0',
  '--innodb-stats-auto-recalc=0',
];

const isRoot = () => process.getuid?.() === 0;

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
      .once('error', reject)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        server.close(() => resolve(port));
      });
  });
}
const answers = (port) =>
  new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    socket
      .once('data', () => {
        socket.destroy();
        resolve(true);
      })
      .once('error', () => resolve(false))
      .once('close', () => resolve(false));
  });

/** Creates the server's own tables. mariadb-install-db takes ten times as long, and needs programs of other packages. */
async function makeSystemTables(daemon, options) {
  const share = join(dirname(dirname(realpathSync(daemon))), 'share');
  const folders = ['mysql', 'mariadb', '.'].map((name) => join(share, name));
  const read = (name) => {
    const path = folders
      .flatMap((folder) => [join(folder, `mysql_${name}`), join(folder, `mariadb_${name}`)])
      .find(existsSync);
    if (path === undefined)
      throw new Error(`the server's own tables (mysql_${name}) are not in ${folders.join(', ')}`);
    return readFile(path, 'utf8');
  };
  const input = [
    'CREATE DATABASE mysql;\nUSE mysql;',
    await read('system_tables.sql'),
    await read('system_tables_data.sql'),
  ].join('\n');
  const { status, stderr } = spawnSync(daemon, [...options, '--bootstrap'], { input, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`mariadbd could not create its own tables: ${stderr.split('\n').slice(-8).join('\n')}`);
}

/** Resolves with `{ server, version, stop }`, or with `{ missing }`, a sentence that says why there is none. `durable` for what is measured: as a server is by itself. */
export async function mariadb({ durable = false } = {}) {
  if (pathOf('mariadbd') === undefined) {
    const missing = await installPackage({
      what: 'MariaDB',
      wanted: `MariaDB ${OLDEST.join('.')} or newer`,
      program: 'mariadbd',
      // It has only the programs, and starts no service.
      name: PACKAGE,
    });
    if (missing) return { missing };
  }
  const daemon = pathOf('mariadbd');
  const version = /\b(\d+)\.(\d+)\.\d+/.exec(spawnSync(daemon, ['--version'], { encoding: 'utf8' }).stdout);
  if (
    !version ||
    Number(version[1]) < OLDEST[0] ||
    (Number(version[1]) === OLDEST[0] && Number(version[2]) < OLDEST[1])
  )
    return {
      missing: `${daemon} is ${version?.[0] ?? 'of an unknown version'}; the tests need MariaDB ${OLDEST.join('.')} or newer`,
    };
  const folder = await mkdtemp(join(tmpdir(), 'weir-mariadb-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.on('exit', remove);
  const [port, password, data, words] = [
    await freePort(),
    randomBytes(12).toString('hex'),
    join(folder, 'data'),
    join(folder, 'words.log'),
  ];
  try {
    const base = ['--no-defaults', `--datadir=${data}`, ...(isRoot() ? ['--user=root'] : [])];
    await mkdir(data);
    await makeSystemTables(daemon, base);
    const begin = join(folder, 'begin.sql');
    await writeFile(
      begin,
      `CREATE USER weir@'127.0.0.1' IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO weir@'127.0.0.1' WITH GRANT OPTION;\nDELETE FROM mysql.global_priv WHERE User NOT IN ('weir', 'mariadb.sys');\nFLUSH PRIVILEGES;\n`,
      { mode: 0o600 },
    );
    const options = [
      ...base,
      `--socket=${join(folder, 's')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      `--init-file=${begin}`,
      `--log-error=${words}`,
      ...COMMON,
      ...(durable ? [] : HASTE),
    ];
    // Killed, because its data is thrown away. A graceful stop writes a file after the folder is deleted.
    const child = spawnWithUs(daemon, options, { stdio: 'ignore', killedBy: 'SIGKILL' });
    const ended = new Promise((resolve) => child.once('error', resolve).once('close', resolve));
    const stop = async () => {
      child.kill('SIGKILL');
      await ended;
      remove();
    };
    // Kills the server however the run stops.
    process.on('exit', () => child.kill('SIGKILL'));
    for (const deadline = Date.now() + START_LIMIT_MS; !(await answers(port)); await sleep(50)) {
      if (child.exitCode === null && child.signalCode === null && Date.now() < deadline) continue;
      const last = (await readFile(words, 'utf8').catch(() => '')).split('\n').slice(-15).join('\n');
      await stop();
      return { missing: `mariadbd did not start: ${last}` };
    }
    return { server: `mysql://weir:${password}@127.0.0.1:${port}`, version: version[0], stop };
  } catch (error) {
    remove();
    return { missing: `MariaDB could not be set up: ${error.message}` };
  }
}

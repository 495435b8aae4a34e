// Three MariaDB servers that are one cluster (Galera), each on its machine, as examples/cluster/galera.cnf says.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { searchPath } from '../../plugins/processes/contract.js';
import { example } from './example.js';
import type { Machine, Program } from './machine.js';

const SYNCED_LIMIT_MS = 90_000;
/** The run that recovers says where it is within a second. Now and then it never ends then, and takes 20 MB more each second (MariaDB 10.11.19): its end waits for a purge that goes round for ever. */
const RECOVERED_LIMIT_MS = 20_000;
const POSITION = /Recovered position:\s*([0-9a-f-]+:-?\d+)/;
const DATABASE = 'weir';
/** The proof kills one server at a time, and the machine has two cores for all of them: what is in two memories is kept. */
const HASTE = [
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-buffer-pool-size=64M',
  '--innodb-log-file-size=48M',
  '--performance-schema=off',
  '--skip-name-resolve',
  '--skip-log-bin',
  '--max-connections=300',
];
/** Of the package. The program that copies a server's files does not run as root. */
const USER = 'mysql';
/** Names of programs that it needs, beside those of the balancers. */
const PROVIDER = '/usr/lib/galera/libgalera_smm.so';

/** What is missing for it; empty where nothing is. */
export function whyNoGalera(): string {
  const programs = ['mariadbd', 'mariadb-install-db', 'wsrep_sst_rsync', 'rsync', 'haproxy'];
  const folders = searchPath().split(':');
  const missing = programs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
  if (!existsSync(PROVIDER)) missing.push(PROVIDER);
  return missing.length === 0 ? '' : `it needs ${missing.join(', ')}`;
}

export class DatabaseServer {
  readonly machine: Machine;
  readonly #galera: Galera;
  readonly #number: number;
  #program: Program | undefined;

  constructor(galera: Galera, machine: Machine, number: number) {
    this.#galera = galera;
    this.machine = machine;
    this.#number = number;
  }

  get data(): string {
    return join(this.machine.folder, 'data');
  }
  get isRunning(): boolean {
    return this.#program?.isRunning === true;
  }
  get url(): string {
    return `mysql://weir:${this.#galera.password}@${this.machine.host}:3306/${DATABASE}`;
  }

  async #options(): Promise<string[]> {
    const { machine } = this;
    const config = (await example('galera.cnf', this.#galera.machines))
      .replace(/^wsrep_node_name = .*$/m, `wsrep_node_name = ${machine.name}`)
      .replace(/^wsrep_node_address = .*$/m, `wsrep_node_address = ${machine.host}`);
    const path = await machine.write('galera.cnf', config);
    await machine.run('chown', USER, path);
    return [
      `--defaults-file=${path}`,
      `--user=${USER}`,
      `--datadir=${this.data}`,
      `--socket=${join(machine.folder, 's')}`,
      `--pid-file=${join(machine.folder, 'pid')}`,
      `--log-error=${join(machine.folder, 'words.log')}`,
      `--server-id=${this.#number}`,
      ...HASTE,
    ];
  }

  /** The number of the last transaction that a server has which did not stop in good order; so it needs no copy of all. */
  async #recovered(options: readonly string[]): Promise<string[]> {
    const state = await readFile(join(this.data, 'grastate.dat'), 'utf8').catch(() => '');
    if (!/seqno:\s+-1/.test(state)) return [];
    const words = join(this.machine.folder, 'recovery.log');
    await writeFile(words, '');
    await this.machine.run('chown', USER, words);
    const recover = [...options.filter((one) => !one.startsWith('--log-error')), `--log-error=${words}`];
    const recovery = this.machine.start('mariadbd', [...recover, '--wsrep-recover']);
    let position: string | undefined;
    for (const deadline = Date.now() + RECOVERED_LIMIT_MS; recovery.isRunning; await sleep(100)) {
      position ??= POSITION.exec(await readFile(words, 'utf8'))?.[1];
      if (Date.now() > deadline) await recovery.kill();
    }
    position ??= POSITION.exec(await readFile(words, 'utf8'))?.[1];
    return position === undefined ? [] : [`--wsrep-start-position=${position}`];
  }

  async start({ first = false, more = [] as readonly string[] } = {}): Promise<void> {
    const options = await this.#options();
    this.#program = this.machine.start('mariadbd', [
      ...options,
      ...(first ? ['--wsrep-new-cluster'] : await this.#recovered(options)),
      ...more,
    ]);
    await this.synced();
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#program?.kill(signal);
  }
  signal(signal: NodeJS.Signals): void {
    this.#program?.signal(signal);
  }

  /** Resolves when it is a part of the cluster. */
  async synced(): Promise<void> {
    for (const deadline = Date.now() + SYNCED_LIMIT_MS; ; await sleep(100)) {
      const [state] = await this.query<{ Value: string }>("SHOW STATUS LIKE 'wsrep_local_state'").catch(
        () => [],
      );
      if (state?.Value === '4') return;
      if (this.isRunning && Date.now() < deadline) continue;
      const words = await readFile(join(this.machine.folder, 'words.log'), 'utf8').catch(() => '');
      throw new Error(
        `${this.machine.name} is not a part of the cluster: ${words.split('\n').slice(-15).join('\n')}`,
      );
    }
  }

  async query<R>(sql: string, url: string = this.url): Promise<R[]> {
    const connection = await createConnection({ uri: url, connectTimeout: 3_000 });
    try {
      return (await connection.query(sql))[0] as R[];
    } finally {
      connection.destroy();
    }
  }
}

export class Galera {
  readonly machines: readonly Machine[];
  readonly servers: readonly DatabaseServer[];
  readonly password = randomBytes(12).toString('hex');

  private constructor(machines: readonly Machine[]) {
    this.machines = machines;
    this.servers = machines.map((machine, i) => new DatabaseServer(this, machine, i + 1));
  }

  static async start(machines: readonly Machine[]): Promise<Galera> {
    const galera = new Galera(machines);
    const [first, ...others] = galera.servers;
    if (!first) throw new Error('a cluster has at least one server');
    for (const { folder } of machines) {
      await chmod(dirname(folder), 0o755);
      await first.machine.run('chown', USER, folder);
    }
    await promisify(execFile)(
      'mariadb-install-db',
      [
        '--no-defaults',
        `--datadir=${first.data}`,
        `--user=${USER}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ],
      { env: { ...process.env, PATH: searchPath() }, maxBuffer: 1 << 24 },
    );
    const begin = await first.machine.write(
      'begin.sql',
      [
        `CREATE DATABASE ${DATABASE};`,
        `CREATE USER weir@'%' IDENTIFIED BY '${galera.password}';`,
        "GRANT ALL ON *.* TO weir@'%' WITH GRANT OPTION;",
        "CREATE USER haproxy@'%';",
      ].join('\n'),
    );
    await first.machine.run('chown', USER, begin);
    await first.start({ first: true, more: [`--init-file=${begin}`] });
    // It stops in good order, so that the others begin with a copy of its files.
    await first.kill('SIGTERM');
    for (const other of others) await first.machine.run('cp', '-a', first.data, other.data);
    await first.start({ first: true });
    for (const other of others) await other.start();
    return galera;
  }

  /** What of the tables differs between the servers, each as a sentence; nobody writes meanwhile. */
  async differences(): Promise<string[]> {
    const sums = new Map<string, string[]>();
    for (const server of this.servers) {
      const connection = await createConnection({ uri: server.url, connectTimeout: 3_000 });
      try {
        await connection.query('SET SESSION wsrep_sync_wait = 15');
        const [tables] = (await connection.query(
          "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1",
        )) as unknown as [{ name: string }[]];
        for (const { name } of tables) {
          const [[sum]] = (await connection.query(`CHECKSUM TABLE \`${name}\``)) as unknown as [
            [{ Checksum: number }],
          ];
          sums.set(name, [...(sums.get(name) ?? []), String(sum.Checksum)]);
        }
      } finally {
        connection.destroy();
      }
    }
    return [...sums].flatMap(([name, all]) =>
      all.length === this.servers.length && new Set(all).size === 1 ? [] : [`${name}: ${all.join(', ')}`],
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
  }
}

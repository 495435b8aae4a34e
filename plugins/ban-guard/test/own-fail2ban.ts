// fail2ban as Debian packs it, with a configuration of the test, in a network of the test. `npm run test:full` installs it
// for files that say "Runs fail2ban".
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { until } from '../../../test/harness/index.js';
import { searchPath } from '../../processes/contract.js';
import { OwnNetwork, whyNoNetworks } from './own-network.js';

const PACKAGED = '/etc/fail2ban';

/** Why it cannot run here; blank if it can. For `testUnless`. */
export async function fail2banObstacle(): Promise<string> {
  if (process.env['WEIR_TEST_FAIL2BAN_MISSING']) return process.env['WEIR_TEST_FAIL2BAN_MISSING'];
  const env = { ...process.env, PATH: searchPath() };
  if (spawnSync('fail2ban-client', ['--version'], { env }).status !== 0)
    return 'the program fail2ban-client is missing; install the package fail2ban';
  return whyNoNetworks();
}

export class OwnFail2ban {
  readonly folder: string;
  readonly network: OwnNetwork;
  readonly #log: string;

  private constructor(base: string, network: OwnNetwork) {
    this.folder = join(base, 'etc');
    this.#log = join(base, 'fail2ban.log');
    this.network = network;
  }

  static async make(t: Pick<ExecutionContext, 'teardown'>): Promise<OwnFail2ban> {
    const base = await mkdtemp(join(tmpdir(), 'weir-fail2ban-'));
    const own = new OwnFail2ban(base, await OwnNetwork.make(t));
    await cp(PACKAGED, own.folder, { recursive: true });
    for (const name of await readdir(join(own.folder, 'jail.d'))) await rm(join(own.folder, 'jail.d', name));
    const path = join(own.folder, 'fail2ban.conf');
    const places = {
      socket: join(base, 'f2b.sock'),
      pidfile: join(base, 'f2b.pid'),
      logtarget: own.#log,
      dbfile: join(base, 'f2b.sqlite3'),
    };
    let text = await readFile(path, 'utf8');
    for (const [name, place] of Object.entries(places))
      text = text.replace(new RegExp(`^${name}\\b.*$`, 'm'), `${name} = ${place}`);
    await writeFile(path, text);
    t.teardown(async () => {
      await own.client('stop').catch(() => undefined);
      await rm(base, { recursive: true, force: true, maxRetries: 5 });
    });
    return own;
  }

  client(...args: readonly string[]): Promise<string> {
    return this.network.exec('fail2ban-client', '-c', this.folder, ...args);
  }
  async start(): Promise<void> {
    await this.client('start');
    await until(
      () =>
        this.client('ping').then(
          () => true,
          () => false,
        ),
      'fail2ban answers',
    );
  }
  rules(): Promise<string> {
    return this.network.exec('nft', 'list', 'ruleset');
  }
  log(): Promise<string> {
    return readFile(this.#log, 'utf8');
  }
}

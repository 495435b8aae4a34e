// Where the panels of a soak are: all on loopback, or each in a network namespace of its own, joined by veth and a bridge.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { searchPath } from '../../plugins/processes/contract.js';

const run = promisify(execFile);
const env = { ...process.env, PATH: searchPath() };
const command = async (name: string, ...args: readonly string[]): Promise<string> =>
  (await run(name, args, { env })).stdout;
const LOOPBACK = '127.0.0.1';

export interface Place {
  /** address of the machine */
  readonly host: string;
  /** a command that becomes a program there */
  readonly within: readonly string[];
}

export interface Places {
  readonly kind: 'loopback' | 'namespaces';
  /** of the users and of what they fetch */
  readonly home: string;
  add(): Promise<Place>;
  /** So many packets in a hundred are lost between the two, in both directions; 100 is a partition. */
  lose(one: Place, other: Place, percent: number): Promise<void>;
  close(): Promise<void>;
}

/** Why there are no namespaces here; empty where there are. */
export async function whyNoNamespaces(): Promise<string> {
  if (process.getuid?.() !== 0) return 'it makes network namespaces, which takes root';
  const probe = 'add table inet probe; add chain inet probe c { type filter hook input priority 0; }';
  const rule = 'add rule inet probe c numgen random mod 100 < 30 drop';
  try {
    await command('unshare', '--net', 'nft', `${probe}; ${rule}`);
    return '';
  } catch (error) {
    return `it makes network namespaces with nftables that lose packets at random, and cannot: ${(error as Error).message.split('\n')[1]}`;
  }
}

export class Loopback implements Places {
  readonly kind = 'loopback';
  readonly home = LOOPBACK;

  async add(): Promise<Place> {
    return { host: LOOPBACK, within: [] };
  }
  /** Nothing to tell apart here: the relay closes the way. */
  async lose(): Promise<void> {}
  async close(): Promise<void> {}
}

export class Namespaces implements Places {
  readonly kind = 'namespaces';
  readonly #name = `wp${process.pid}`;
  readonly #net = `10.231.${process.pid % 250}`;
  readonly #spaces: string[] = [];

  private constructor() {}

  /** The bridge and its end here have the address `home`. */
  static async make(): Promise<Namespaces> {
    const made = new Namespaces();
    await command('ip', 'link', 'add', made.#name, 'type', 'bridge');
    await command('ip', 'address', 'add', `${made.home}/24`, 'dev', made.#name);
    await command('ip', 'link', 'set', made.#name, 'up');
    return made;
  }

  get home(): string {
    return `${this.#net}.1`;
  }

  async add(): Promise<Place> {
    const number = this.#spaces.length;
    const space = `${this.#name}n${number}`;
    const link = `${this.#name}v${number}`;
    const host = `${this.#net}.${number + 2}`;
    this.#spaces.push(space);
    await command('ip', 'netns', 'add', space);
    const inside = (...args: readonly string[]) => command('ip', '-n', space, ...args);
    await command('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'out', 'netns', space);
    await command('ip', 'link', 'set', link, 'master', this.#name, 'up');
    await inside('link', 'set', 'lo', 'up');
    await inside('address', 'add', `${host}/24`, 'dev', 'out');
    await inside('link', 'set', 'out', 'up');
    const within = ['ip', 'netns', 'exec', space];
    // A table of its own: panels may have others.
    await command('ip', 'netns', 'exec', space, 'nft', 'add table inet soak');
    return { host, within };
  }

  /** In the namespace of `other`; the last call for a pair counts. */
  async lose(one: Place, other: Place, percent: number): Promise<void> {
    const [first = '', ...rest] = other.within;
    const drop = percent >= 100 ? 'drop' : `numgen random mod 100 < ${percent} drop`;
    const name = `p${one.host.split('.').at(-1)}`;
    const rules =
      percent === 0
        ? ''
        : `; add rule inet soak ${name}come ip saddr ${one.host} ${drop}; add rule inet soak ${name}go ip daddr ${one.host} ${drop}`;
    const chain = (way: string, hook: string) =>
      `add chain inet soak ${name}${way} { type filter hook ${hook} priority -10; }; flush chain inet soak ${name}${way}`;
    await command(first, ...rest, 'nft', `${chain('come', 'input')}; ${chain('go', 'output')}${rules}`);
  }

  async close(): Promise<void> {
    for (const space of this.#spaces) {
      // The core of a panel outlives it.
      const pids = await command('ip', 'netns', 'pids', space).catch(() => '');
      for (const pid of pids.split('\n').filter(Boolean))
        try {
          process.kill(Number(pid), 'SIGKILL');
        } catch {
          // It has ended meanwhile.
        }
      await command('ip', 'netns', 'del', space).catch(() => undefined);
    }
    await command('ip', 'link', 'del', this.#name).catch(() => undefined);
  }
}

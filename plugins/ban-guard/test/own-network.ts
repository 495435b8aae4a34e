// A network namespace of a test, with nftables of its own.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { type RunCommand, runCommand, searchPath } from '../../processes/contract.js';

const run = promisify(execFile);
const env = { ...process.env, PATH: searchPath() };
export const command = async (name: string, ...args: readonly string[]): Promise<string> =>
  (await run(name, args, { env, maxBuffer: 16 * 1024 * 1024 })).stdout;

/** Why there are none here; empty where there are. For `testUnless`. */
export async function whyNoNetworks(): Promise<string> {
  if (process.getuid?.() !== 0) return 'it makes network namespaces, which takes root';
  try {
    await command('unshare', '--net', 'nft', 'add', 'table', 'inet', 'probe');
    return '';
  } catch (error) {
    return `it makes network namespaces with tables of nftables, and cannot: ${(error as Error).message.split('\n')[1]}`;
  }
}

let networks = 0;
export class OwnNetwork {
  readonly name: string;

  private constructor(name: string) {
    this.name = name;
  }

  static async make(t: Pick<ExecutionContext, 'teardown'>): Promise<OwnNetwork> {
    const network = new OwnNetwork(`bg${process.pid}x${networks++}`);
    await command('ip', 'netns', 'add', network.name);
    t.teardown(async () => {
      const pids = await command('ip', 'netns', 'pids', network.name);
      for (const pid of pids.split('\n').filter(Boolean))
        try {
          process.kill(Number(pid), 'SIGKILL');
        } catch {
          // It has ended meanwhile.
        }
      await command('ip', 'netns', 'del', network.name);
    });
    await network.exec('ip', 'link', 'set', 'lo', 'up');
    return network;
  }

  exec(name: string, ...args: readonly string[]): Promise<string> {
    return command('ip', 'netns', 'exec', this.name, name, ...args);
  }
  /** As `runCommand`, within the namespace. */
  readonly run: RunCommand = (name, args, ...rest) =>
    runCommand('ip', ['netns', 'exec', this.name, name, ...args], ...rest);
}

// A ban driver that bans in memory and remembers its calls.
import { contribute, definePlugin, type Plugin } from '../../../kernel/index.js';
import { type BanDriver, BanDrivers, type BanPorts, type BanTarget, type DriverBan } from '../contract.js';
import { keyOf } from '../target.js';

export class RecordingDriver implements BanDriver {
  readonly name: string;
  problem = '';
  /** the next call of `ban` fails with it */
  failure = '';
  ports: BanPorts | undefined;
  cleared = 0;
  readonly calls: string[] = [];
  readonly bans = new Map<string, BanTarget & { seconds: number }>();

  constructor(name = 'recording') {
    this.name = name;
  }

  async state() {
    return { installed: true, problem: this.problem };
  }
  async prepare(ports: BanPorts): Promise<void> {
    this.ports = ports;
  }
  async ban(bans: readonly DriverBan[]): Promise<void> {
    if (this.failure !== '') throw new Error(this.failure);
    for (const ban of bans) {
      this.calls.push(`ban ${keyOf(ban)} ${ban.reason} ${ban.email} ${ban.seconds}`);
      this.bans.set(keyOf(ban), ban);
    }
  }
  async unban(targets: readonly BanTarget[]): Promise<void> {
    for (const target of targets) {
      this.calls.push(`unban ${keyOf(target)}`);
      this.bans.delete(keyOf(target));
    }
  }
  async banned() {
    return [...this.bans.values()];
  }
  async clear(): Promise<void> {
    this.cleared++;
    this.bans.clear();
  }

  get plugin(): Plugin {
    return definePlugin({
      name: `${this.name}-driver`,
      version: '0.0.0',
      api: 1,
      about: 'Bans in memory.',
      contributes: () => [contribute(BanDrivers, this)],
    });
  }
}

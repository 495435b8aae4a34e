// Bans by nftables alone.
import { messageOf } from '../../../kernel/index.js';
import { type RunCommand, runCommand } from '../../processes/contract.js';
import type { BanDriver, BanPorts, BanScope, BanTarget, DriverBan, DriverState } from '../contract.js';
import { banAddress, SCOPES } from '../target.js';
import { banText, noTableText, setsOf, tableOf, tableText, unbanText } from './table-text.js';

/** 10,000 bans are a megabyte of text. */
const LIMIT_MS = 60_000;
const MOST_OUTPUT = 8 * 1024 * 1024;
const MISSING = /is missing$/;
const NO_RIGHT = /operation not permitted|permission denied|you must be root/i;

interface ListedSet {
  readonly name?: string;
  readonly elem?: readonly (
    | string
    | { readonly elem?: { readonly val?: unknown; readonly expires?: unknown } }
  )[];
}

export class NftablesDriver implements BanDriver {
  readonly name = 'nftables';
  readonly #table: string;
  readonly #run: RunCommand;

  constructor(
    { dataDirectory }: { readonly dataDirectory: string },
    /** another one in tests */
    run: RunCommand = runCommand,
  ) {
    this.#table = tableOf(dataDirectory);
    this.#run = run;
  }

  async state(): Promise<DriverState> {
    if (process.platform !== 'linux')
      return { installed: false, problem: `nftables is part of Linux, and this is ${process.platform}` };
    try {
      await this.#nft(`table inet ${this.#table}_probe\ndelete table inet ${this.#table}_probe\n`);
      return { installed: true, problem: '' };
    } catch (error) {
      const why = messageOf(error);
      if (MISSING.test(why))
        return { installed: false, problem: 'the program nft is missing; install the package nftables' };
      return {
        installed: true,
        problem: NO_RIGHT.test(why)
          ? 'the panel lacks the right CAP_NET_ADMIN; run it as root, or give its service AmbientCapabilities=CAP_NET_ADMIN (a container: --cap-add NET_ADMIN)'
          : `nftables does not work here: ${why}`,
      };
    }
  }

  async prepare(ports: BanPorts): Promise<void> {
    await this.#nft(tableText(this.#table, ports));
  }
  async ban(bans: readonly DriverBan[]): Promise<void> {
    if (bans.length > 0) await this.#nft(banText(this.#table, bans));
  }
  async unban(targets: readonly BanTarget[]): Promise<void> {
    if (targets.length > 0) await this.#nft(unbanText(this.#table, targets));
  }
  async banned(): Promise<readonly (BanTarget & { seconds?: number })[]> {
    const text = await this.#run(
      'nft',
      ['-j', 'list', 'table', 'inet', this.#table],
      '',
      LIMIT_MS,
      MOST_OUTPUT,
    );
    const { nftables = [] } = JSON.parse(text) as { nftables?: readonly { readonly set?: ListedSet }[] };
    const scopes = new Map(SCOPES.flatMap((scope) => setsOf(scope).map((set) => [set, scope] as const)));
    return nftables.flatMap(({ set }) => {
      const scope = scopes.get(set?.name ?? '');
      return scope === undefined ? [] : (set?.elem ?? []).flatMap((one) => listed(one, scope));
    });
  }
  async clear(): Promise<void> {
    await this.#nft(noTableText(this.#table));
  }

  async #nft(text: string): Promise<void> {
    await this.#run('nft', ['-f', '-'], text, LIMIT_MS);
  }
}

function listed(
  one: NonNullable<ListedSet['elem']>[number],
  scope: BanScope,
): (BanTarget & { seconds?: number })[] {
  const { val, expires } = typeof one === 'string' ? { val: one, expires: undefined } : (one.elem ?? {});
  const address = typeof val === 'string' ? banAddress(val) : undefined;
  if (address === undefined) return [];
  return [{ address, scope, ...(typeof expires === 'number' && { seconds: expires }) }];
}

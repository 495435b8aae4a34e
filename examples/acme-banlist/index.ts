import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contribute, definePlugin } from '@weir-panel/weir/kernel';
import { type BanDriver, BanDrivers, type BanTarget } from '@weir-panel/weir/plugins/ban-guard';

interface Listed extends BanTarget {
  /** Unix ms */
  readonly until: number;
}
const isSame = (a: BanTarget, b: BanTarget) => a.address === b.address && a.scope === b.scope;

/** Bans by a file, one ban a line, for a firewall that reads such lists: `198.51.100.7 proxy 1790000000000`. */
class BanList implements BanDriver {
  readonly name = 'acme-banlist';
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  state = async () => ({ installed: true, problem: '' });
  banned = async () =>
    (await this.#read()).map((one) => ({ ...one, seconds: Math.ceil((one.until - Date.now()) / 1000) }));
  clear = () => rm(this.#path, { force: true });

  async ban(bans: Parameters<BanDriver['ban']>[0]): Promise<void> {
    const added = bans.map((ban) => ({ ...ban, until: Date.now() + ban.seconds * 1000 }));
    const others = (await this.#read()).filter((one) => !added.some((ban) => isSame(ban, one)));
    await this.#write([...others, ...added]);
  }
  async unban(targets: readonly BanTarget[]): Promise<void> {
    await this.#write((await this.#read()).filter((one) => !targets.some((target) => isSame(target, one))));
  }

  async #read(): Promise<Listed[]> {
    const text = await readFile(this.#path, 'utf8').catch(() => '');
    const lines = text.split('\n').map((line) => line.split(' ')) as [string, Listed['scope'], string][];
    return lines
      .map(([address, scope, until]) => ({ address, scope, until: Number(until) }))
      .filter(({ until }) => until > Date.now());
  }
  async #write(bans: readonly Listed[]): Promise<void> {
    const lines = bans.map(({ address, scope, until }) => `${address} ${scope} ${until}\n`);
    await writeFile(`${this.#path}.new`, lines.join(''));
    await rename(`${this.#path}.new`, this.#path);
  }
}

export default definePlugin({
  name: 'acme-banlist',
  version: '1.0.0',
  api: 1,
  about: 'Bans addresses by a list in the data folder.',
  contributes: ({ dataDirectory }) => [
    contribute(BanDrivers, new BanList(join(dataDirectory, 'acme-banlist.txt'))),
  ],
});

// Which release an update installs, and why none.
import type { Clock } from '../../kernel/index.js';
import { errors } from './errors.js';
import type { IndexSource, SignedIndex } from './index-source.js';
import {
  type Channel,
  nextRelease,
  platformHere,
  type Release,
  releasesOf,
  whyNot,
} from './release-index.js';
import type { ThisInstallation } from './this-installation.js';

/** A backup and a migration of a large database take long. */
export const INSTALL_MS = 2 * 60 * 60_000;

export interface Wish {
  readonly channel: Channel;
  /** the newest that can be installed without it */
  readonly version?: string | undefined;
}
interface Needs {
  readonly source: IndexSource;
  readonly installation: ThisInstallation;
  readonly clock: Clock;
}

export class UpdateChoice {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Rejects with an error of the plugin where nothing can be installed. */
  async make(
    { channel, version }: Wish,
    from: string,
  ): Promise<{ readonly signed: SignedIndex; readonly release: Release }> {
    await this.#refuseUnfitPlace();
    const signed = await this.#needs.source.ask();
    const release = choose(releasesOf(signed.index, channel), channel, version, from);
    await this.#refuseForeignKey(signed);
    return { signed, release };
  }

  async #refuseUnfitPlace(): Promise<void> {
    const { installation, source, clock } = this.#needs;
    const elsewhere = await installation.whyNot();
    if (elsewhere !== undefined) throw errors.NOT_INSTALLED(elsewhere);
    const missing = await source.whyNotSetUp();
    if (missing !== undefined) throw errors.NOT_SET_UP(missing);
    // An update that root began for a panel before, whose record is lost.
    const outcome = await installation.outcome();
    if (outcome?.state === 'running' && clock.now() - outcome.at < INSTALL_MS)
      throw errors.BUSY(`an update to ${outcome.version} is being installed`);
  }

  /** Root does not believe a setting: whoever has the password of an admin would be root. */
  async #refuseForeignKey({ index }: SignedIndex): Promise<void> {
    const trusted = (await this.#needs.installation.machineKeys()).map(({ id }) => id);
    if (!trusted.includes(index.key))
      throw errors.NOT_SET_UP(
        `the index is signed with the key ${index.key}, and root trusts ${trusted.join(', ') || 'no key'}: write WEIR_UPDATE_KEY=<public key> into /etc/weir.env as root, and restart the panel`,
      );
  }
}

function choose(
  releases: readonly Release[],
  channel: Channel,
  version: string | undefined,
  from: string,
): Release {
  const platform = platformHere();
  if (version === undefined) {
    const next = nextRelease(releases, from, platform);
    if (next) return next;
    const [newest] = releases;
    throw errors.UNFIT(
      (newest && whyNot(newest, from, platform)) ?? `there is no release in the channel ${channel}`,
    );
  }
  const release = releases.find((one) => one.version === version);
  if (!release)
    throw errors.UNKNOWN(`there is no release ${version} in the channel ${channel}`, { path: 'version' });
  const reason = whyNot(release, from, platform);
  if (reason !== undefined) throw errors.UNFIT(reason);
  return release;
}

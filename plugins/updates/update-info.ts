// What an admin sees before an update.
import { bool, int, type LiveSettings, oneOf, shape, type Static, text } from '../../kernel/index.js';
import type { IndexSource } from './index-source.js';
import { CHANNELS, fileFor, nextRelease, platformHere, releasesOf, whyNot } from './release-index.js';
import type { updateSettings } from './settings.js';
import type { ThisInstallation } from './this-installation.js';

/** Of a commit, for display. */
const SHOWN = 8;

export const InfoReply = shape({
  channel: oneOf(...CHANNELS),
  currentVersion: text(),
  latestVersion: text().description('the newest release of the channel; blank where nothing says it'),
  currentCommit: text().description('blank where it is unknown'),
  latestCommit: text(),
  updateAvailable: bool().description('whether `updatePanel` has something newer to install'),
  updateVersion: text().description(
    'what `updatePanel` installs; older than `latestVersion` where that one needs a release between them; blank without one',
  ),
  notes: text().description('of `updateVersion`, as its publisher wrote them'),
  size: int().description('bytes of its package; 0 without one'),
  canInstall: bool().description('whether this panel can update itself'),
  problem: text().description(
    'one sentence: why nothing is known, why the newest release cannot be installed, or what to do instead of `updatePanel`; may be blank',
  ),
});
type Info = Static<typeof InfoReply>;

interface Needs {
  readonly settings: LiveSettings<typeof updateSettings>;
  readonly source: IndexSource;
  readonly installation: ThisInstallation;
}

export class UpdateInfo {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Rejects where the source cannot be read. */
  async read(): Promise<Info> {
    const { settings, source, installation } = this.#needs;
    const channel = settings.read().devChannelEnable ? 'dev' : 'stable';
    const current = await installation.version();
    const elsewhere = await installation.whyNot();
    const known = {
      channel,
      currentVersion: current,
      latestVersion: '',
      currentCommit: (await installation.commit()).slice(0, SHOWN),
      latestCommit: '',
      updateAvailable: false,
      updateVersion: '',
      notes: '',
      size: 0,
      canInstall: elsewhere === undefined,
    } as const;
    const missing = await source.whyNotSetUp();
    if (missing !== undefined) return { ...known, problem: elsewhere ? `${elsewhere}; ${missing}` : missing };
    const { index } = await source.recent();
    const platform = platformHere();
    const releases = releasesOf(index, channel);
    const [newest] = releases;
    if (!newest) return { ...known, problem: elsewhere ?? `there is no release in the channel ${channel}` };
    const next = nextRelease(releases, current, platform);
    const blocked = newest.version === current ? undefined : whyNot(newest, current, platform);
    return {
      ...known,
      latestVersion: newest.version,
      latestCommit: newest.commit?.slice(0, SHOWN) ?? '',
      updateAvailable: next !== undefined,
      updateVersion: next?.version ?? '',
      notes: next?.notes ?? '',
      size: (next && fileFor(next, platform)?.size) ?? 0,
      problem: elsewhere ?? blocked ?? '',
    };
  }
}

// Updates of the panel: events for others, and what the command that installs a release checks again as root.
import { event } from '../../kernel/index.js';
import type { Channel } from './release-index.js';

export {
  FILES,
  FOLDER,
  MOST_EXCHANGED,
  OUTCOME,
  PACKAGE_KEY,
  readOutcome,
  readRequest,
  REQUEST_LIFE_MS,
  type UpdateOutcome,
  type UpdateRequest,
} from './exchange-files.js';
export { MOST_SIGNATURE, type PublicKey, readPublicKeys } from './minisign.js';
export {
  fileFor,
  MOST_INDEX,
  platformHere,
  type ReleaseFile,
  type ReleaseIndex,
  readIndex,
  whyNot,
} from './release-index.js';

/** A release that can be installed here was found by the periodic check. Once for each version. */
export const updateFound = event<{
  readonly version: string;
  readonly current: string;
  readonly channel: Channel;
  /** as the publisher wrote them; may be blank */
  readonly notes: string;
}>('updates/updateFound');

/** An update ended, or failed. The panel that runs afterwards emits it. */
export const updateEnded = event<{
  readonly runId: string;
  readonly from: string;
  readonly version: string;
  readonly isDone: boolean;
  /** why it failed; blank when it is done */
  readonly reason: string;
}>('updates/updateEnded');

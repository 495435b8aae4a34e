// What other plugins learn of passkeys.
import { event } from '../../kernel/index.js';

/** Reports a login that was refused because the counter of the passkey went back: somebody may have a copy of it. */
export const passkeyCopied = event<{
  readonly username: string;
  /** of the passkey */
  readonly name: string;
  readonly ip: string;
}>('passkeys/passkeyCopied');

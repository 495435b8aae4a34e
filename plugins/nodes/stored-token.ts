// The stored token of a node is for the panel where a full admin has put it. Who may write nodes cannot read it, and must not
// have it sent to a server of his own: it may give all rights there.
import { errors } from './errors.js';
import type { NodeFields } from './model.js';

const PLACE = [
  ...(['scheme', 'address', 'port', 'basePath', 'allowPrivateAddress'] as const),
  ...(['outboundTag', 'tlsVerifyMode', 'pinnedCertSha256'] as const),
] as const;

/** Refuses another place with the stored token. `sent` is the token of the body. */
export function requireSamePlace(before: NodeFields, after: NodeFields, sent: string | undefined): void {
  if (before.apiToken === '' || after.apiToken === '' || (sent ?? '').trim() !== '') return;
  const moved = PLACE.find((name) => before[name] !== after[name]);
  if (moved !== undefined)
    throw errors.TOKEN_STAYS(
      `${moved}: only a full admin sends the stored token to another place; send the apiToken of that panel as well`,
      { path: moved },
    );
}

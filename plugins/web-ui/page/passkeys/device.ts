// Asks the device for a passkey. Its library is loaded when somebody does.
import { PanelFailure } from '../../../../sdk/failure.js';
import type { MessageKey } from '../language/message-key.js';

/** Why there can be no passkeys here; undefined where there can be. */
export function impossibleHere({
  hostname,
  isSecureContext,
}: Pick<Location, 'hostname'> & Pick<Window, 'isSecureContext'>): MessageKey | undefined {
  const isAddress = /^[\d.]+$/.test(hostname) || hostname.startsWith('[');
  if (isAddress || !isSecureContext) return 'passkeys.needsName';
  return typeof PublicKeyCredential === 'function' ? undefined : 'passkeys.unsupported';
}
export const impossible = (): MessageKey | undefined =>
  impossibleHere({ hostname: location.hostname, isSecureContext });

/** Options and answers are those of WebAuthn in JSON, and go from the panel to the device and back as they are. */
type Json = Record<string, unknown>;

export async function answerLogin(options: Json): Promise<Json> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  return (await startAuthentication({ optionsJSON: options as never })) as unknown as Json;
}

export async function makePasskey(options: Json): Promise<Json> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  return (await startRegistration({ optionsJSON: options as never })) as unknown as Json;
}

const OF_PANEL: Readonly<Record<string, MessageKey>> = {
  PASSKEYS_NEEDS_NAME: 'passkeys.needsName',
  PASSKEYS_NEEDS_HTTPS: 'passkeys.needsName',
  PASSKEYS_REFUSED: 'passkeys.refused',
  PASSKEYS_OTHER_ADDRESS: 'passkeys.otherAddress',
  PASSKEYS_COUNTER: 'passkeys.copied',
  PASSKEYS_STALE: 'passkeys.cancelled',
  PASSKEYS_TAKEN: 'passkeys.taken',
  ACCESS_LOGIN_REFUSED: 'passkeys.refused',
};
/** Names of the exceptions of WebAuthn: https://www.w3.org/TR/webauthn-3/#sctn-create-request-exceptions */
const OF_DEVICE: Readonly<Record<string, MessageKey>> = {
  NotAllowedError: 'passkeys.cancelled',
  AbortError: 'passkeys.cancelled',
  InvalidStateError: 'passkeys.taken',
  SecurityError: 'passkeys.needsName',
};

/** What happened and what to do; undefined for what has no words of its own. */
export function deviceTroubleOf(error: unknown): MessageKey | undefined {
  if (error instanceof PanelFailure) return OF_PANEL[error.code];
  return error instanceof Error ? OF_DEVICE[error.name] : undefined;
}

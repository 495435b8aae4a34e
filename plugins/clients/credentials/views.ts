// Credentials in replies, in exports and among the clients of an inbound.
import type { Credential, Credentials, CredentialValue } from '../../inbounds/contract.js';
import { type FlatField, flatFields } from './sent.js';

type CredentialEntry = { readonly inboundId: number } & Credential;

/** All of them, by inbound. */
export const credentialList = (credentials: Credentials): CredentialEntry[] =>
  [...credentials].map(([inboundId, credential]) => ({ inboundId, ...credential }) as CredentialEntry);

/** Each field as the first inbound has it that has the field. */
function flatOf(credentials: Credentials): Partial<Record<FlatField, CredentialValue>> {
  const shown: Partial<Record<FlatField, CredentialValue>> = {};
  for (const credential of credentials.values())
    for (const name of flatFields) {
      const value = credential[name];
      if (value !== undefined) shown[name] ??= value;
    }
  return shown;
}

/** Beside the fields of a client, lists as one text with commas: programs read them so. */
export const shownCredentials = (credentials: Credentials): Record<string, CredentialValue> =>
  Object.fromEntries(
    Object.entries(flatOf(credentials)).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(',') : (value as CredentialValue),
    ]),
  );

/** As an import and an update take them, of all inbounds. */
export const sendableCredentials = (credentials: Credentials) => ({
  ...flatOf(credentials),
  credentials: credentialList(credentials),
});

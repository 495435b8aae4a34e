// What a browser sends of a passkey, as WebAuthn writes it in JSON: https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON
import {
  echoing,
  list,
  nullable,
  oneOf,
  openObject,
  optional,
  shape,
  text,
  word,
} from '../../kernel/index.js';

/** A credential id has at most 1,023 bytes. */
const LONGEST_ID = 1364;
/** An answer to a login fits into a body without a login, of 16 KiB. */
const LONGEST_PART = 8192;
const base64url = (longest: number) =>
  word()
    .max(longest)
    .pattern(/^[\w-]+$/, 'base64url');

const credential = {
  id: base64url(LONGEST_ID),
  rawId: base64url(LONGEST_ID),
  type: oneOf('public-key'),
  clientExtensionResults: optional(openObject()),
  authenticatorAttachment: optional(nullable(text().max(32))),
};

/** Of `navigator.credentials.get`. */
export const LoginAnswer = shape({
  ...credential,
  response: shape({
    clientDataJSON: base64url(LONGEST_PART),
    authenticatorData: base64url(LONGEST_PART),
    signature: base64url(LONGEST_PART),
    userHandle: optional(nullable(base64url(128))),
  }),
});
export interface LoginAnswer {
  readonly id: string;
  readonly rawId: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null | undefined;
  };
}

/** Of `navigator.credentials.create`. */
export const RegisterAnswer = shape({
  ...credential,
  // What browsers send besides is in the attestation object as well.
  response: echoing(
    shape({
      clientDataJSON: base64url(LONGEST_PART),
      attestationObject: base64url(LONGEST_PART),
      transports: optional(list(word().max(32)).max(8)),
    }),
    ['authenticatorData', 'publicKey', 'publicKeyAlgorithm'],
  ),
});
export interface RegisterAnswer {
  readonly id: string;
  readonly rawId: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | undefined;
  };
}

// The rules of WebAuthn, by the library @simplewebauthn/server. It is loaded when the first passkey is used: with it come
// parsers for certificates, which no panel without passkeys needs.
import type { LoginAnswer, RegisterAnswer } from './answers.js';
import type { Passkey } from './keys.js';
import type { Place } from './place.js';

type Bytes = Uint8Array<ArrayBuffer>;
type Library = typeof import('@simplewebauthn/server');
const library = (): Promise<Library> => import('@simplewebauthn/server');

/** Ed25519, P-256 and RSA with SHA-256, the numbers of COSE: https://www.iana.org/assignments/cose */
const ALGORITHMS = [-8, -7, -257];
const TIMEOUT_MS = 5 * 60_000;
const bytesOf = (base64url: string): Bytes => new Uint8Array(Buffer.from(base64url, 'base64url'));

/** For `navigator.credentials.create`: a key that the authenticator finds without a user name, after it has checked who is there. */
export async function registrationOptions(wish: {
  readonly place: Place;
  readonly challenge: string;
  readonly handle: Buffer;
  readonly username: string;
  readonly known: readonly Pick<Passkey, 'credentialId' | 'transports'>[];
}) {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: 'Weir',
    rpID: wish.place.rpId,
    userID: new Uint8Array(wish.handle),
    userName: wish.username,
    userDisplayName: wish.username,
    challenge: bytesOf(wish.challenge),
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: wish.known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: [...transports] as never,
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** For `navigator.credentials.get`, without the names of any keys. */
export async function loginOptions(place: Place, challenge: string) {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: place.rpId,
    challenge: bytesOf(challenge),
    timeout: TIMEOUT_MS,
    userVerification: 'required',
  });
}

/** Returns the new key. Rejects with an Error that says what is wrong with the answer. */
export async function verifyRegistration(
  answer: RegisterAnswer,
  { place, challenge }: { readonly place: Place; readonly challenge: string },
): Promise<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'>> {
  refuseFrames(answer.response.clientDataJSON);
  await refuseCertificates(answer.response.attestationObject);
  const { verifyRegistrationResponse } = await library();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...answer, type: 'public-key', clientExtensionResults: {} } as never,
    expectedChallenge: challenge,
    expectedOrigin: place.origin,
    expectedRPID: place.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  });
  if (!verified) throw new Error('the attestation is not valid');
  const { id, publicKey, counter } = registrationInfo.credential;
  return {
    credentialId: id,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports: answer.response.transports ?? [],
  };
}

/** Returns the counter of the authenticator, whose signature is valid; the caller compares it. Rejects with an Error that says what is wrong. */
export async function verifyLogin(
  answer: LoginAnswer,
  { key, challenge }: { readonly key: Passkey; readonly challenge: string },
): Promise<number> {
  refuseFrames(answer.response.clientDataJSON);
  const { verifyAuthenticationResponse } = await library();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...answer, type: 'public-key', clientExtensionResults: {} } as never,
    expectedChallenge: challenge,
    expectedOrigin: key.origin,
    expectedRPID: key.rpId,
    // The library would compare the counter before the signature: then anybody could report a copy.
    credential: { id: key.credentialId, publicKey: bytesOf(key.publicKey), counter: 0 },
    requireUserVerification: true,
  });
  if (!verified) throw new Error('the signature is not valid');
  return authenticationInfo.newCounter;
}

/** Our page is in no frame of another site. */
function refuseFrames(clientDataJSON: string): void {
  const data = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { crossOrigin?: unknown };
  if (data.crossOrigin === true) throw new Error('it was made in a frame of another site');
}

/** No attestation is asked for, so browsers send none, or one without certificates. For others the library would fetch revocation lists, from wherever a certificate says. */
async function refuseCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(bytesOf(attestationObject));
  const isBare = decoded.get('fmt') === 'packed' && !decoded.get('attStmt').get('x5c');
  if (decoded.get('fmt') !== 'none' && !isBare) throw new Error('it comes with certificates');
}

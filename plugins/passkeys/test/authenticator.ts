// An authenticator in software, written from the specification and not with the library that checks it: what it signs, and
// what it says of itself, can be made wrong. https://www.w3.org/TR/webauthn-3/#sctn-authenticator-data
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

type Cbor = number | string | Buffer | ReadonlyMap<number | string, Cbor> | readonly Cbor[];

/** CBOR of the few kinds that WebAuthn needs (RFC 8949). */
export function cbor(value: Cbor): Buffer {
  const head = (major: number, count: number): Buffer => {
    if (count < 24) return Buffer.from([(major << 5) | count]);
    if (count < 256) return Buffer.from([(major << 5) | 24, count]);
    const long = Buffer.from([(major << 5) | 25, 0, 0]);
    long.writeUInt16BE(count, 1);
    return long;
  };
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<number | string, Cbor>)];
    return Buffer.concat([head(5, entries.length), ...entries.flat().map((part) => cbor(part as Cbor))]);
  }
  const items = value as readonly Cbor[];
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
}

const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();
const field = (key: KeyObject, name: 'x' | 'y' | 'n' | 'e'): Buffer =>
  Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url');

/** Kinds of keys, with their numbers of COSE (RFC 9053). */
const KINDS = {
  'P-256': {
    pair: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    cose: (key: KeyObject) =>
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, field(key, 'x')],
        [-3, field(key, 'y')],
      ]),
    digest: 'sha256',
  },
  Ed25519: {
    pair: () => generateKeyPairSync('ed25519'),
    cose: (key: KeyObject) =>
      new Map<number, Cbor>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, field(key, 'x')],
      ]),
    digest: undefined,
  },
  RSA: {
    pair: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    cose: (key: KeyObject) =>
      new Map<number, Cbor>([
        [1, 3],
        [3, -257],
        [-1, field(key, 'n')],
        [-2, field(key, 'e')],
      ]),
    digest: 'sha256',
  },
} as const;

const PRESENT = 0x01;
const VERIFIED = 0x04;
const WITH_KEY = 0x40;

export interface Wrong {
  /** origin of the page */
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly crossOrigin?: boolean;
  readonly type?: string;
  readonly attestation?: { readonly fmt: string; readonly attStmt: ReadonlyMap<string, Cbor> };
}
export interface CreateOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}
export interface GetOptions {
  readonly challenge: string;
  readonly rpId: string;
}

export class Authenticator {
  readonly id = randomBytes(32);
  readonly #kind: (typeof KINDS)[keyof typeof KINDS];
  readonly #publicKey: KeyObject;
  readonly #privateKey: KeyObject;
  readonly #origin: string;
  #userHandle = randomBytes(32).toString('base64url');
  /** of the next answer; 0 stays 0, as for keys that are synchronised */
  counter: number;

  constructor(
    origin: string,
    { kind = 'P-256', counter = 0 }: { kind?: keyof typeof KINDS; counter?: number } = {},
  ) {
    this.#origin = origin;
    this.#kind = KINDS[kind];
    ({ publicKey: this.#publicKey, privateKey: this.#privateKey } = this.#kind.pair());
    this.counter = counter;
  }

  /** The id of its key, in base64url. */
  get name(): string {
    return this.id.toString('base64url');
  }

  create({ challenge, rp, user }: CreateOptions, wrong: Wrong = {}) {
    this.#userHandle = user.id;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const key = Buffer.concat([Buffer.alloc(16), length, this.id, cbor(this.#kind.cose(this.#publicKey))]);
    const authData = Buffer.concat([this.#data(rp.id, wrong, WITH_KEY), key]);
    const { fmt, attStmt } = wrong.attestation ?? { fmt: 'none', attStmt: new Map() };
    const object = new Map<string, Cbor>([
      ['fmt', fmt],
      ['attStmt', attStmt],
      ['authData', authData],
    ]);
    const clientData = this.#clientData('webauthn.create', challenge, wrong);
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: cbor(object).toString('base64url'),
      transports: ['internal'],
    });
  }

  get({ challenge, rpId }: GetOptions, wrong: Wrong = {}) {
    const authData = this.#data(rpId, wrong, 0);
    const clientData = this.#clientData('webauthn.get', challenge, wrong);
    const signed = Buffer.concat([authData, sha256(clientData)]);
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: sign(this.#kind.digest, signed, this.#privateKey).toString('base64url'),
      userHandle: wrong.userHandle ?? this.#userHandle,
    });
  }

  #answer<R extends object>(response: R) {
    const { name } = this;
    return { id: name, rawId: name, type: 'public-key', clientExtensionResults: {}, response };
  }

  #data(rpId: string, wrong: Wrong, more: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(wrong.counter ?? (this.counter === 0 ? 0 : this.counter++));
    const flags = PRESENT | (wrong.isVerified === false ? 0 : VERIFIED) | more;
    return Buffer.concat([sha256(wrong.rpId ?? rpId), Buffer.from([flags]), counter]);
  }

  #clientData(type: string, challenge: string, wrong: Wrong): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? this.#origin,
        crossOrigin: wrong.crossOrigin ?? false,
      }),
    );
  }
}

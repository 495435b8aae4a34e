// Encodes users as messages of the core, by the types that plugins declare. An account of a wrong type makes the core
// panic, so only this file encodes accounts.
import protobuf from 'protobufjs/light.js';
import { messageOf } from '../../../kernel/index.js';
import { accountJson, type AccountField, type ApiAccountType } from '../users/account-type.js';
import type { Accounts } from '../users/accounts.js';
import {
  type AccountValue,
  CoreRefused,
  type CoreAccount,
  type CoreUser,
  type JsonObject,
  ProtocolRefused,
} from '../driver.js';
import { decode, encode, type Messages } from './messages.js';
import { NameMark } from './name-mark.js';

/** Never counted, never reported to the engine. */
export const PLACEHOLDER = 'weir.nobody';

type UserMessage = Messages['xray.common.protocol.User'];
interface Target {
  readonly tag: string;
  readonly protocol: string;
}

const reject = (user: CoreUser, tag: string, reason: string): never => {
  throw new CoreRefused(`user ${JSON.stringify(user.name)} of inbound ${tag}: ${reason}`);
};

/** An enum is a number on the wire. */
const wireType = ({ type }: AccountField): string => (type === 'enum' ? 'int32' : type);

function toWire({ type, values, lowerCase }: AccountField, value: AccountValue): AccountValue | Uint8Array {
  if (type === 'enum') return values?.[String(value)] ?? 0;
  if (type === 'bytes') return Buffer.from(String(value), 'base64');
  return lowerCase ? String(value).toLowerCase() : value;
}
function fromWire({ type, values }: AccountField, value: unknown): AccountValue {
  if (type === 'bytes') return Buffer.from(value as Uint8Array).toString('base64');
  if (type !== 'enum') return value as AccountValue;
  // We never sent an account with a number without a name.
  return (
    Object.entries(values ?? {}).find(([, number]) => number === value)?.[0] ?? `number ${String(value)}`
  );
}

/** The message of one type. */
class Codec {
  readonly #type: ApiAccountType;
  readonly #message: protobuf.Type;

  constructor(type: ApiAccountType) {
    this.#type = type;
    this.#message = new protobuf.Type('Account');
    // Names are not passed on: a plugin's name could clash with one that protobufjs reserves.
    for (const field of Object.values(type.fields))
      this.#message.add(new protobuf.Field(`f${field.number}`, field.number, wireType(field)));
    new protobuf.Root().add(this.#message).resolveAll();
  }

  encode(account: CoreAccount): Uint8Array {
    const message: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(this.#type.fields))
      if (!field.mayMiss || account[name] !== undefined)
        message[`f${field.number}`] = toWire(field, account[name] ?? '');
    return this.#message.encode(message).finish();
  }

  decode(bytes: Uint8Array): CoreAccount {
    const message = this.#message.toObject(this.#message.decode(bytes), { defaults: true, longs: Number });
    const account: Record<string, AccountValue> = {};
    for (const [name, field] of Object.entries(this.#type.fields)) {
      const value = fromWire(field, message[`f${field.number}`]);
      if (!field.mayMiss || value !== '') account[name] = value;
    }
    return { protocol: this.#type.name, ...account };
  }
}

export class AccountCodecs {
  readonly accounts: Accounts;
  readonly names = new NameMark();
  readonly #codecs = new Map<ApiAccountType, Codec>();

  constructor(accounts: Accounts) {
    this.accounts = accounts;
  }

  #codec(type: ApiAccountType): Codec {
    const codec = this.#codecs.get(type) ?? new Codec(type);
    this.#codecs.set(type, codec);
    return codec;
  }

  /** Returns the type of a user that the core's API can change. Throws CoreRefused before anything is sent. */
  checked(user: CoreUser, { tag, protocol }: Target): ApiAccountType {
    const type = this.accounts.of(protocol);
    if (type === undefined || type.users !== 'api')
      return reject(user, tag, `${protocol} has no users that can be changed while the core runs`);
    const problem = this.accounts.problem(user, protocol);
    return problem === undefined ? type : reject(user, tag, problem);
  }

  /** Always level 0, the one whose traffic is counted. Throws CoreRefused. */
  message(user: CoreUser, target: Target): UserMessage {
    const type = this.checked(user, target);
    return {
      level: 0,
      email: this.names.marked(user.name),
      account: { type: type.message, value: this.#codec(type).encode(user.account) },
    };
  }

  encode(user: CoreUser, target: Target): Uint8Array {
    return encode('xray.common.protocol.User', this.message(user, target));
  }

  /** Reverse of `encode`, for users read back from an inbound of this type. */
  decode(bytes: Uint8Array, protocol: string): CoreUser {
    const { email, account } = decode('xray.common.protocol.User', bytes);
    const type = this.accounts.of(protocol);
    if (type?.users !== 'api' || account?.type !== type.message)
      throw new CoreRefused(
        `user ${email}: the core answers with a ${account?.type ?? 'missing'} account on an inbound of ${protocol}`,
      );
    return { name: this.names.plain(email) ?? email, account: this.#codec(type).decode(account.value) };
  }

  /** The user's entry in the config. Throws CoreRefused. */
  json(user: CoreUser, { tag, protocol }: Target): JsonObject {
    const type = this.accounts.of(protocol);
    const problem = this.accounts.problem(user, protocol);
    if (type === undefined || problem !== undefined)
      return reject(user, tag, problem ?? `no plugin declares the accounts ${protocol}`);
    // The name of a login is known to its user.
    const isLogin = type.nameKey !== undefined;
    return accountJson(type, isLogin ? user.name : this.names.marked(user.name), user.account);
  }

  /** Returns the entries before all users: a placeholder account, where the type needs it. */
  placeholder({ tag, protocol }: Target, settings: JsonObject): JsonObject[] {
    const type = this.accounts.of(protocol);
    if (!type?.nobody) return [];
    try {
      const account = { ...type.nobody(settings), protocol };
      return [this.json({ name: PLACEHOLDER, account }, { tag, protocol })];
    } catch (cause) {
      throw new ProtocolRefused(`nobody of the account type ${protocol} failed: ${messageOf(cause)}`, {
        cause,
      });
    }
  }
}

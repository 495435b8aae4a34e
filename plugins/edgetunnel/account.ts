// What the panel stores of a registered device, and what the service says of one.
import { isIPv4, isIPv6 } from 'node:net';
import {
  custom,
  inspect,
  list,
  optional,
  type Schema,
  shape,
  type Static,
  text,
  word,
} from '../../kernel/index.js';
import { type WireguardTunnel, wireguardKey } from '../core-template/contract.js';
import { byAddress, endpointProblem } from './endpoint-problem.js';

/** A device in the form that other panels store, too. `license_key` and `client_id` may be blank. */
export interface Account {
  readonly access_token: string;
  readonly device_id: string;
  readonly license_key: string;
  /** base64 */
  readonly private_key: string;
  /** base64 of three bytes */
  readonly client_id: string;
}
/** A reply of the service that lacks what is needed; the message names the field. */
export class UnfitReply extends Error {}

const RESERVED_BYTES = 3;
const checked = <T = string>(
  schema: ReturnType<typeof word>,
  problem: (value: string) => string | undefined,
) =>
  custom<T>(
    schema.custom((value: string) => {
      const found = problem(value);
      if (found !== undefined) throw new Error(found);
      return value;
    }),
  );
// Both go into requests: one into the path, the other into a header.
const DeviceId = () => word().pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'id of a device');
const Token = () => word().pattern(/^[\x21-\x7e]{1,4096}$/, 'token without blanks, at most 4,096 characters');
const License = () =>
  text().pattern(/^[\x21-\x7e]{0,128}$/, 'licence without blanks, at most 128 characters');
const Key = () =>
  checked(word(), (value) =>
    wireguardKey(value) === undefined ? 'it must be a key of 32 bytes in base64' : undefined,
  );
const ClientId = () =>
  checked(text(), (value) =>
    value === '' || reservedOf(value) !== undefined ? undefined : 'it must be three bytes in base64',
  );

/** Returns the three bytes; undefined for anything else. */
export function reservedOf(clientId: string): readonly number[] | undefined {
  const bytes = /^[A-Za-z0-9+/]{4}$/.test(clientId) ? Buffer.from(clientId, 'base64') : undefined;
  return bytes?.length === RESERVED_BYTES ? [...bytes] : undefined;
}

const Stored = shape({
  access_token: Token(),
  device_id: DeviceId(),
  license_key: optional(License()),
  private_key: Key(),
  client_id: optional(ClientId()),
});
const Registration = shape({
  id: DeviceId(),
  token: Token(),
  account: shape({ license: License() }),
  config: optional(shape({ client_id: optional(ClientId()) })),
});
const Tunnel = shape({
  config: shape({
    client_id: optional(ClientId()),
    interface: shape({
      addresses: shape({
        v4: checked(word(), (value) => (isIPv4(value) ? undefined : 'it must be an IPv4 address')),
        v6: optional(
          checked(text(), (value) =>
            value === '' || isIPv6(value) ? undefined : 'it must be an IPv6 address',
          ),
        ),
      }),
    }),
    peers: list(
      shape({
        public_key: Key(),
        endpoint: shape({ host: checked(word(), endpointProblem), v4: optional(text()) }),
      }),
    )
      .min(1)
      .max(50),
  }),
});

function read<S extends Schema>(schema: S, reply: unknown): Static<S> {
  const result = inspect(schema, reply, { first: true });
  if ('value' in result) return result.value;
  throw new UnfitReply(result.issues[0]?.message ?? 'it is not what was expected');
}

/** Returns the device of a reply to a registration. Throws UnfitReply. */
export function accountOf(reply: unknown, privateKey: string): Account {
  const { id, token, account, config } = read(Registration, reply);
  return {
    access_token: token,
    device_id: id,
    license_key: account.license,
    private_key: privateKey,
    client_id: config?.client_id ?? '',
  };
}

/** Returns the tunnel that the reply describes, for the device with this key. Throws UnfitReply. */
export function tunnelOf(reply: unknown, privateKey: string): WireguardTunnel {
  const { config } = read(Tunnel, reply);
  const { v4, v6 = '' } = config.interface.addresses;
  const reserved = reservedOf(config.client_id ?? '');
  const [peer] = config.peers;
  return {
    secretKey: privateKey,
    addresses: [`${v4}/32`, ...(v6 === '' ? [] : [`${v6}/128`])],
    ...(reserved && { reserved }),
    publicKey: wireguardKey(peer?.public_key ?? '') ?? '',
    endpoint: peer ? byAddress(peer.endpoint) : '',
  };
}

/** Returns id and token of a device that a reply names, whatever else is wrong with it. */
export function namedIn(reply: unknown): Pick<Account, 'device_id' | 'access_token'> | undefined {
  const result = inspect(shape({ id: DeviceId(), token: Token() }), reply, { first: true });
  return 'value' in result ? { device_id: result.value.id, access_token: result.value.token } : undefined;
}

/** The fields in the order in which other panels store them. */
export const textOf = (account: Account): string => JSON.stringify(account);

/** Reads what `textOf` wrote, or another panel. Throws with the reason. */
export function readAccount(stored: string): Account {
  const {
    access_token,
    device_id,
    license_key = '',
    private_key,
    client_id = '',
  } = read(Stored, JSON.parse(stored) as unknown);
  return { access_token, device_id, license_key, private_key, client_id };
}

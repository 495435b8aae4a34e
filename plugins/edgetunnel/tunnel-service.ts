// The calls to the tunnel service. What it answers is limited, read and checked here; nothing of it is trusted.
import { hostname } from 'node:os';
import { type Clock, messageOf } from '../../kernel/index.js';
import type { WireguardTunnel } from '../core-template/contract.js';
import type { OutgoingAccess, OutgoingApi, OutgoingFetch } from '../outgoing/contract.js';
import { type Account, accountOf, namedIn, tunnelOf, UnfitReply } from './account.js';
import { errors } from './errors.js';
import type { KeyPair } from './keys.js';

const HOST = 'api.cloudflareclient.com';
const BASE = `https://${HOST}/v0a4005`;
const WHOLE_MS = 15_000;
/** A real reply has 3 KB. */
const LARGEST_REPLY = 256 * 1024;
const LONGEST_NAME = 64;
const LONGEST_REASON = 300;
/** The service does not know a device, or its token, any more. */
const GONE = [401, 403, 404, 410];

interface Reply {
  readonly text: string;
  readonly value: unknown;
}
export interface Registered {
  readonly account: Account;
  /** the reply, as JSON text */
  readonly config: string;
  /** Throws EDGETUNNEL_SERVICE where the reply describes no tunnel. */
  readonly tunnel: () => WireguardTunnel;
}
type Device = Pick<Account, 'device_id' | 'access_token'>;
interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly token?: string;
  readonly body?: object;
}

export class TunnelService {
  readonly #clock: Clock;
  readonly #fetch: OutgoingFetch;
  readonly access: OutgoingAccess = {
    hosts: [HOST],
    limits: { connectMs: 10_000, firstByteMs: WHOLE_MS, wholeMs: WHOLE_MS, maxBytes: LARGEST_REPLY },
  };

  constructor({ clock, outgoing }: { clock: Clock; outgoing: OutgoingApi }) {
    this.#clock = clock;
    this.#fetch = outgoing.for(this.access);
  }

  /** Registers a new device. A device that is registered, and of which the reply does not say enough, is deleted again. */
  async register({ privateKey, publicKey }: KeyPair): Promise<Registered> {
    const reply = await this.#call({
      method: 'POST',
      path: '/reg',
      body: {
        key: publicKey,
        tos: new Date(this.#clock.now()).toISOString(),
        type: 'PC',
        model: 'x-ui',
        name: hostname().slice(0, LONGEST_NAME),
      },
    });
    try {
      const account = fits(() => accountOf(reply.value, privateKey));
      const tunnel = () => fits(() => tunnelOf(reply.value, privateKey));
      return { account, config: reply.text, tunnel };
    } catch (error) {
      const device = namedIn(reply.value);
      // Not awaited: a caller is answered within half a minute.
      if (device) void this.remove(device).catch(() => undefined);
      throw error;
    }
  }

  /** Resolves with what the service says of the device, as JSON text, and with its tunnel. */
  async config(account: Account): Promise<Pick<Registered, 'config' | 'tunnel'>> {
    const { text, value } = await this.#call({ method: 'GET', ...ofDevice(account) });
    return { config: text, tunnel: () => fits(() => tunnelOf(value, account.private_key)) };
  }

  async setLicense(account: Account, license: string): Promise<void> {
    const { path, token } = ofDevice(account);
    const { value } = await this.#call({ method: 'PUT', path: `${path}/account`, token, body: { license } });
    // The service confirms with the id of the account, and refuses with 200 and a list of errors.
    const { id } = Object(value) as { id?: unknown };
    if (typeof id !== 'number' && (typeof id !== 'string' || id === ''))
      throw errors.REFUSED(`${HOST} does not take the licence: ${reasonIn(value) || 'it gives no reason'}`, {
        path: 'license',
      });
  }

  /** Deletes the device; one that the service does not know any more counts as deleted. */
  async remove(device: Device): Promise<void> {
    await this.#call({ method: 'DELETE', ...ofDevice(device) }, GONE);
  }

  async #call({ method, path, token, body }: Sent, alsoGood: readonly number[] = []): Promise<Reply> {
    const { status, text } = await this.#send({
      method,
      path,
      ...(token && { token }),
      ...(body && { body }),
    });
    const value = parsed(text);
    if (alsoGood.includes(status) || status === 204) return { text, value };
    if (status < 200 || status > 299) {
      const said = `${HOST} answered ${status}${withColon(reasonIn(value))}`;
      if (status < 400 || status > 499) throw errors.SERVICE(said);
      const hint =
        status === 429
          ? '; try again later'
          : token !== undefined && GONE.includes(status)
            ? '; if it does not know the device any more, register a new one with the action reg'
            : '';
      throw errors.REFUSED(`${said}${hint}`);
    }
    if (value === undefined)
      throw errors.SERVICE(`${HOST} answered with something that is not a JSON object`);
    return { text, value };
  }

  async #send({ method, path, token, body }: Sent): Promise<{ status: number; text: string }> {
    try {
      const reply = await this.#fetch(`${BASE}${path}`, {
        method,
        redirect: 'error',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'cf-client-version': 'a-6.30-3596',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: reply.status, text: await reply.text() };
    } catch (cause) {
      throw errors.SERVICE(`${HOST} cannot be used: ${messageOf(cause).slice(0, LONGEST_REASON)}`, { cause });
    }
  }
}

const ofDevice = ({ device_id, access_token }: Device) => ({
  path: `/reg/${encodeURIComponent(device_id)}`,
  token: access_token,
});

/** Undefined for anything but the text of an object. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function fits<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof UnfitReply)) throw cause;
    throw errors.SERVICE(
      `the reply of ${HOST} cannot be used: ${cause.message.slice(0, LONGEST_REASON)}; nothing was changed`,
      { cause },
    );
  }
}

/** The reason that an answer of the service gives, in one line; blank for none. */
function reasonIn(value: unknown): string {
  const { errors: list } = Object(value) as { errors?: unknown };
  const [first] = Array.isArray(list) ? (list as unknown[]) : [];
  const { message } = Object(first) as { message?: unknown };
  if (typeof message !== 'string') return '';
  return message
    .slice(0, LONGEST_REASON)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim();
}
const withColon = (reason: string): string => (reason === '' ? '' : `: ${reason}`);

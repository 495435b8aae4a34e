// The calls to the VPN provider. What it answers is limited, read and checked here; nothing of it is trusted.
import { messageOf, PanelError } from '../../kernel/index.js';
import { wireguardKey } from '../core-template/contract.js';
import type { OutgoingAccess, OutgoingApi, OutgoingFetch } from '../outgoing/contract.js';
import { errors } from './errors.js';
import { readServers, type ServerList, UnfitList } from './server-list.js';
import { WIREGUARD } from './server.js';

const HOST = 'api.nordvpn.com';
const WHOLE_MS = 15_000;
const LARGEST = { countries: 512 * 1024, servers: 6 * 1024 * 1024, credentials: 64 * 1024 } as const;
const LONGEST_REASON = 300;
/** of a refusal */
const LONGEST_REFUSAL = 64 * 1024;

export class ProviderService {
  readonly #fetch: OutgoingFetch;
  readonly access: OutgoingAccess = {
    hosts: [HOST],
    limits: { connectMs: 10_000, firstByteMs: WHOLE_MS, wholeMs: WHOLE_MS, maxBytes: LARGEST.servers },
  };

  constructor({ outgoing }: { outgoing: OutgoingApi }) {
    this.#fetch = outgoing.for(this.access);
  }

  /** Resolves with the list, as JSON text. */
  async countries(): Promise<string> {
    const text = await this.#read('/v1/countries', LARGEST.countries, (reply) => reply.text());
    if (!Array.isArray(parsed(text))) throw unfit('it is not a list of countries');
    return text;
  }

  /** Resolves with the servers of a country that `keep` returns true for. */
  servers(countryId: string, keep: (server: unknown) => boolean): Promise<ServerList> {
    const query = new URLSearchParams({
      limit: '0',
      'filters[servers_technologies][id]': String(WIREGUARD),
      'filters[country_id]': countryId,
    });
    return this.#read(`/v2/servers?${query}`, LARGEST.servers, async ({ body }) => {
      try {
        return await readServers(body ?? nothing(), keep);
      } catch (error) {
        throw error instanceof UnfitList ? unfit(error.message) : error;
      }
    });
  }

  /** Resolves with the private key of the account with this token, in base64. */
  async privateKey(token: string): Promise<string> {
    const text = await this.#read(
      '/v1/users/services/credentials',
      LARGEST.credentials,
      (reply) => reply.text(),
      token,
    );
    const { nordlynx_private_key: key } = Object(parsed(text)) as { nordlynx_private_key?: unknown };
    const read = typeof key === 'string' ? wireguardKey(key) : undefined;
    if (read === undefined)
      throw unfit(
        key === undefined || key === null || key === ''
          ? 'it has no nordlynx_private_key; this account may have no subscription'
          : 'its nordlynx_private_key is not a key of 32 bytes in base64',
      );
    return read;
  }

  async #read<T>(
    path: string,
    maxBytes: number,
    take: (reply: Response) => Promise<T>,
    token?: string,
  ): Promise<T> {
    try {
      const reply = await this.#fetch(`https://${HOST}${path}`, {
        redirect: 'error',
        limits: { maxBytes },
        headers: {
          accept: 'application/json',
          ...(token !== undefined && {
            authorization: `Basic ${Buffer.from(`token:${token}`).toString('base64')}`,
          }),
        },
      });
      if (reply.ok) return await take(reply);
      throw refusal(reply.status, await reply.text(), token !== undefined);
    } catch (cause) {
      if (cause instanceof PanelError) throw cause;
      throw errors.SERVICE(`${HOST} cannot be used: ${messageOf(cause).slice(0, LONGEST_REASON)}`, { cause });
    }
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

const unfit = (reason: string) => errors.SERVICE(`the reply of ${HOST} cannot be used: ${reason}`);

function refusal(status: number, text: string, hasToken: boolean) {
  const reason = text.length > LONGEST_REFUSAL ? '' : reasonIn(parsed(text));
  const said = `${HOST} answered ${status}${reason === '' ? '' : `: ${reason}`}`;
  if (status < 400 || status > 499) return errors.SERVICE(said);
  if (hasToken && (status === 401 || status === 403))
    return errors.REFUSED(`${said}; check the token`, { path: 'token' });
  return errors.REFUSED(status === 429 ? `${said}; try again later` : said);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The reason that an answer gives, in one line; blank for none. */
function reasonIn(value: unknown): string {
  const { errors: given, message: own } = Object(value) as { errors?: unknown; message?: unknown };
  const first: unknown = Array.isArray(given) ? given[0] : given;
  const { message = own } = Object(first) as { message?: unknown };
  if (typeof message !== 'string') return '';
  return message
    .slice(0, LONGEST_REASON)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim();
}

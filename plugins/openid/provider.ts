// The provider: its document, the address to log in at, and what its reply proves (OpenID Connect Core 1.0, 3.1; RFC 7636;
// RFC 9207).
import * as client from 'openid-client';
import { type Clock, type LiveSettings, type Log, messageOf, PanelError } from '../../kernel/index.js';
import { OutgoingError } from '../outgoing/contract.js';
import { errors } from './errors.js';
import type { PendingLogin } from './pending.js';
import type { ProviderFetch } from './provider-fetch.js';
import {
  callbackUrl,
  isReadable,
  isReady,
  missingIn,
  type OpenidSettings,
  type openidSettings,
} from './settings.js';

/** How long the document of the provider is used before it is read again. */
const KEEP_MS = 10 * 60_000;
/** How long a failure to read it stands: anybody can ask for a login. */
const FAILED_MS = 5_000;
const TIMEOUT_S = 10;
const LONGEST_REASON = 300;
/** A subject has at most 255 characters (Core, 2). */
const LONGEST_SUBJECT = 255;

/** Errors of the token endpoint (RFC 6749, 5.2) that no caller can cause: settings are wrong here, or the provider fails. */
const OURS: ReadonlySet<string> = new Set([
  ...['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'],
  ...['server_error', 'temporarily_unavailable'],
]);

type Claims = Readonly<Record<string, unknown>>;
/** Who has logged in at the provider, and how to learn more about the account. */
export interface Account {
  readonly issuer: string;
  readonly subject: string;
  /** Of the signed ID token, and what else the provider tells about the account. Rejects with PROVIDER_DOWN. */
  claims(): Promise<Claims>;
}
interface Known {
  readonly key: string;
  until: number;
  readonly read: Promise<client.Configuration>;
}

export class Provider {
  readonly #settings: LiveSettings<typeof openidSettings>;
  readonly #calls: ProviderFetch;
  readonly #clock: Clock;
  readonly #log: Log;
  #known: Known | undefined;

  constructor(needs: {
    settings: LiveSettings<typeof openidSettings>;
    calls: ProviderFetch;
    clock: Clock;
    log: Log;
  }) {
    this.#settings = needs.settings;
    this.#calls = needs.calls;
    this.#clock = needs.clock;
    this.#log = needs.log;
  }

  /** Where the browser logs in, and what must come back with it. Rejects with OFF, INCOMPLETE or PROVIDER_DOWN. */
  async begin(): Promise<{ url: URL; pending: Omit<PendingLogin, 'returnTo' | 'link'> }> {
    const settings = this.#ready();
    const configuration = await this.#configuration(settings);
    const pending = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      issuer: settings.openidIssuer,
      clientId: settings.openidClientId,
    };
    const parameters = {
      redirect_uri: callbackUrl(settings).href,
      scope: settings.openidScopes,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    };
    return { url: client.buildAuthorizationUrl(configuration, parameters), pending };
  }

  /** Redeems the code in the query of the callback. Rejects with STALE, NOT_PROVEN or PROVIDER_DOWN. */
  async finish(pending: PendingLogin, query: URLSearchParams): Promise<Account> {
    const settings = this.#ready();
    // The code would be sent to another provider than the one that made it.
    if (settings.openidIssuer !== pending.issuer || settings.openidClientId !== pending.clientId)
      throw errors.STALE();
    const configuration = await this.#configuration(settings);
    const url = callbackUrl(settings);
    url.search = query.toString();
    try {
      const tokens = await client.authorizationCodeGrant(configuration, url, {
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        pkceCodeVerifier: pending.verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims || claims.sub.length > LONGEST_SUBJECT)
        throw new Error('the ID token has no usable subject');
      return {
        issuer: claims.iss,
        subject: claims.sub,
        claims: () => this.#more(configuration, tokens.access_token, claims),
      };
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  #ready(): OpenidSettings {
    const settings = this.#settings.read();
    if (!settings.openidEnable) throw errors.OFF();
    if (isReady(settings)) return settings;
    const missing = missingIn(settings);
    throw errors.INCOMPLETE(`login by OpenID Connect needs ${missing.join(', ')}`, {
      path: missing[0] ?? '',
    });
  }

  #configuration(settings: OpenidSettings): Promise<client.Configuration> {
    const { openidIssuer, openidClientId, openidClientSecret, openidAllowPrivate } = settings;
    const key = JSON.stringify([openidIssuer, openidClientId, openidClientSecret, openidAllowPrivate]);
    const now = this.#clock.now();
    if (this.#known?.key === key && this.#known.until > now) return this.#known.read;
    const read = this.#discover(settings).catch((error: unknown) => {
      known.until = this.#clock.now() + FAILED_MS;
      throw this.#down(error);
    });
    const known: Known = { key, until: now + KEEP_MS, read };
    this.#known = known;
    return read;
  }

  async #discover(settings: OpenidSettings): Promise<client.Configuration> {
    const { openidIssuer, openidClientId, openidClientSecret: secret, openidAllowPrivate } = settings;
    const issuer = new URL(openidIssuer);
    const calls = this.#calls.of(issuer, openidAllowPrivate);
    const configuration = await client.discovery(issuer, openidClientId, {}, clientProof(secret), {
      [client.customFetch]: calls.call,
      timeout: TIMEOUT_S,
      execute: [
        // The signature of the ID token is checked, though it comes from the provider itself.
        client.enableNonRepudiationChecks,
        // Only to this machine; `ProviderFetch` refuses others.
        ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    });
    const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } =
      configuration.serverMetadata();
    const named = [token_endpoint, jwks_uri, userinfo_endpoint].flatMap((url) => (url ? [new URL(url)] : []));
    // The page goes to the first one, so it must be no script either.
    for (const url of [new URL(authorization_endpoint ?? ''), ...named])
      if (isReadable(url) || (url.protocol === 'http:' && issuer.protocol === 'https:'))
        throw new Error(`it names an address at ${url.protocol}//${url.host}, without https`);
    calls.allow(named);
    return configuration;
  }

  async #more(configuration: client.Configuration, token: string, signed: client.IDToken): Promise<Claims> {
    if (!configuration.serverMetadata().userinfo_endpoint) return signed;
    try {
      return { ...(await client.fetchUserInfo(configuration, token, signed.sub)), ...signed };
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** What the caller may know; the log has the rest, but no tokens. */
  #refusal(error: unknown): PanelError {
    if (error instanceof PanelError) return error;
    const isOurs = error instanceof client.ResponseBodyError && OURS.has(error.error);
    if (isOurs || causesOf(error).some((cause) => cause instanceof OutgoingError)) return this.#down(error);
    this.#log.warn('the reply of the provider proves nobody', { reason: whyOf(error) });
    return errors.NOT_PROVEN();
  }

  #down(error: unknown): PanelError {
    if (error instanceof PanelError) return error;
    this.#log.warn('the provider does not answer as it should', { reason: whyOf(error) });
    return errors.PROVIDER_DOWN();
  }
}

/** By the header, which is the default (OpenID Connect Discovery 1.0, 3), unless the provider takes only the body. */
function clientProof(secret: string): client.ClientAuth {
  if (secret === '') return client.None();
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...others) => {
    const taken = server.token_endpoint_auth_methods_supported ?? [];
    const onlyPost = taken.includes('client_secret_post') && !taken.includes('client_secret_basic');
    return (onlyPost ? post : basic)(server, ...others);
  };
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause)
    causes.push(cause);
  return causes;
}
const reasonOf = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ').slice(0, LONGEST_REASON);
/** Messages only: further members hold parameters and claims. */
const whyOf = (error: unknown): string =>
  reasonOf(
    [
      ...causesOf(error).map(messageOf),
      ...(error instanceof client.ResponseBodyError ? [error.error, error.error_description ?? ''] : []),
    ]
      .filter(Boolean)
      .join(': '),
  );

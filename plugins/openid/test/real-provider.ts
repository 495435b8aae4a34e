// A real provider of OpenID Connect, in this process: who logs in there, and with which claims, is up to the test.
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const CLIENT = { id: 'weir', secret: 'a secret of the client that nobody guesses' } as const;

type Claims = Readonly<Record<string, unknown>>;
/** What this file uses of oidc-provider, which has no types. */
interface OidcProvider {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
}
interface Grant {
  addOIDCScope(scope: string): void;
  save(): Promise<string>;
}
interface Context {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly provider: { readonly Grant: new (of: { clientId: string; accountId: string }) => Grant };
  };
}
const PACKAGE: string = 'oidc-provider';

export class RealProvider {
  readonly #server: Server;
  /** who logs in next; blank: nobody, the login is cancelled */
  account = 'ada-at-work';
  readonly claims = new Map<string, Claims>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `callback` is the redirect URI that the client is registered with. */
  static async start(callback: string): Promise<RealProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const provider = new RealProvider(server);
    const { default: Provider } = (await import(PACKAGE)) as {
      default: new (issuer: string, configuration: object) => OidcProvider;
    };
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
    const oidc = new Provider(provider.issuer, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [callback],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
      jwks: { keys: [{ ...key, use: 'sig', alg: 'RS256', kid: 'one' }] },
      cookies: { keys: ['of a test'] },
      pkce: { required: () => true },
      scopes: ['openid', 'profile', 'email'],
      claims: {
        openid: ['sub'],
        profile: ['preferred_username', 'name'],
        email: ['email', 'email_verified'],
      },
      features: { devInteractions: { enabled: false } },
      findAccount: (_: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, ...provider.claims.get(id) }),
      }),
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      loadExistingGrant: async ({ oidc: { client, session, provider: own } }: Context) => {
        const grant = new own.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid profile email');
        await grant.save();
        return grant;
      },
    });
    const answer = oidc.callback();
    server.on('request', (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return answer(request, response);
      const { account } = provider;
      const result = account === '' ? { error: 'access_denied' } : { login: { accountId: account } };
      oidc.interactionFinished(request, response, result).catch((error: unknown) => {
        response.statusCode = 500;
        response.end(String(error));
      });
    });
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

// A provider that lies, as a test says: a document, keys, and an ID token for each code.
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Claims = Readonly<Record<string, unknown>>;
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const inBase64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const newKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

export class ScriptedProvider {
  readonly #server: Server;
  readonly #keys = newKeys();
  /** signs in place of the published key */
  signer: KeyObject = this.#keys.privateKey;
  /** replaces members of the document */
  document: Claims = {};
  /** replaces claims of the next ID token; undefined members are left out */
  claims: Claims = {};
  header: Claims = {};
  /** takes the place of an answer, by path */
  readonly instead = new Map<string, Answer>();
  readonly asked: string[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => this.#answer(request, response));
  }

  static async start(): Promise<ScriptedProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ScriptedProvider(server);
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  static otherKey(): KeyObject {
    return newKeys().privateKey;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? '', this.issuer).pathname;
    this.asked.push(path);
    const instead = this.instead.get(path);
    if (instead) {
      instead(request, response);
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(this.#replyTo(path)));
  }

  #replyTo(path: string): object {
    if (path === '/.well-known/openid-configuration')
      return {
        issuer: this.issuer,
        authorization_endpoint: `${this.issuer}/authorize`,
        token_endpoint: `${this.issuer}/token`,
        jwks_uri: `${this.issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...this.document,
      };
    if (path === '/keys')
      return {
        keys: [{ ...this.#keys.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }],
      };
    return { access_token: 'opaque', token_type: 'Bearer', expires_in: 60, id_token: this.#idToken() };
  }

  #idToken(): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: this.issuer, sub: 'ada', aud: 'weir', iat: now, exp: now + 60, ...this.claims };
    const signed = `${inBase64({ alg: 'RS256', kid: 'one', ...this.header })}.${inBase64(claims)}`;
    const signature = createSign('RSA-SHA256').update(signed).sign(this.signer).toString('base64url');
    return `${signed}.${signature}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

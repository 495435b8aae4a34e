// Answers what authorities ask to prove a name. A port is open only while an authority may ask; where a listener of the
// panel has that port already, it answers there.
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { type ListenersApi, type LiveSettings, messageOf, SerialQueue } from '../../kernel/index.js';
import type { PanelListenerApi } from '../settings/contract.js';
import { CaProblem } from './ca-problem.js';
import type { ChallengesApi } from './contract.js';
import type { Challenge } from './fields.js';
import type { certificateSettings } from './settings.js';

const PATH = '/.well-known/acme-challenge/';
const LONGEST_MS = 10_000;
const MOST_CONNECTIONS = 100;
/** Listeners that ask `answer`. */
const ANSWERING: ReadonlySet<string> = new Set(['panel', 'subscription']);
const PROTOCOL = 'acme-tls/1';

export interface Answerable {
  readonly challenge: Challenge;
  readonly name: string;
  readonly token: string;
  readonly keyAuthorization: string;
  /** for tls-alpn-01: the certificate that proves the name */
  readonly proof?: { readonly cert: string; readonly key: string };
}

/** Answers challenges. */
export interface Answering {
  /** Answers these while `work` runs. Rejects with a CaProblem when the port cannot be opened. */
  during<T>(
    challenge: Challenge,
    answers: readonly Answerable[],
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T>;
}

export class ChallengeAnswers implements ChallengesApi, Answering {
  readonly #listeners: ListenersApi;
  readonly #listener: PanelListenerApi | undefined;
  readonly #settings: LiveSettings<typeof certificateSettings>;
  /** by token */
  readonly #texts = new Map<string, Answerable>();
  /** by name */
  readonly #proofs = new Map<string, SecureContext>();
  /** open ports, with the number of orders that need them */
  readonly #held = new Map<Challenge, { orders: number; readonly close: () => Promise<void> }>();
  readonly #ports = new SerialQueue();

  constructor(needs: {
    listeners: ListenersApi;
    listener: PanelListenerApi | undefined;
    settings: LiveSettings<typeof certificateSettings>;
  }) {
    this.#listeners = needs.listeners;
    this.#listener = needs.listener;
    this.#settings = needs.settings;
  }

  readonly answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { method, url = '' } = request;
    if (!url.startsWith(PATH) || (method !== 'GET' && method !== 'HEAD')) return false;
    const text = this.#texts.get(url.slice(PATH.length))?.keyAuthorization;
    if (text === undefined) return false;
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    });
    response.end(method === 'HEAD' ? undefined : text);
    return true;
  };

  async during<T>(
    challenge: Challenge,
    answers: readonly Answerable[],
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const close = await this.#hold(challenge);
    const end = this.put(answers);
    try {
      return await work();
    } finally {
      end();
      await close();
    }
  }

  /** Answers these where a port is open, or a listener of the panel is asked, until the returned function is called. */
  put(answers: readonly Answerable[]): () => void {
    const proofs = new Map<string, SecureContext>();
    for (const answer of answers) {
      if (answer.proof) proofs.set(answer.name, createSecureContext(answer.proof));
      else this.#texts.set(answer.token, answer);
    }
    for (const [name, proof] of proofs) this.#proofs.set(name, proof);
    // Others may have come in their place: an order goes from one panel to another.
    return () => {
      for (const answer of answers)
        if (this.#texts.get(answer.token) === answer) this.#texts.delete(answer.token);
      for (const [name, proof] of proofs) if (this.#proofs.get(name) === proof) this.#proofs.delete(name);
    };
  }

  /** Opens the port for the first order that needs it; the returned function closes it after the last one. */
  #hold(challenge: Challenge): Promise<() => Promise<void>> {
    return this.#ports.run(async () => {
      const held = this.#held.get(challenge) ?? { orders: 0, close: await this.#open(challenge) };
      held.orders++;
      this.#held.set(challenge, held);
      return () =>
        this.#ports.run(async () => {
          if (--held.orders > 0) return;
          this.#held.delete(challenge);
          await held.close();
        });
    });
  }

  async #open(challenge: Challenge): Promise<() => Promise<void>> {
    const { acmeHttpPort, acmeTlsPort } = this.#settings.read();
    const isHttp = challenge === 'http-01';
    const port = isHttp ? acmeHttpPort : acmeTlsPort;
    const own = this.#listeners.places().find((place) => place.port === port);
    if (own && isHttp) {
      // Else the authority would say only that it cannot connect.
      const isSecure = own.name === 'panel' && (this.#listener?.certificateValidTo() ?? '') !== '';
      if (isSecure || !ANSWERING.has(own.name))
        throw new CaProblem(
          `port ${port} cannot answer the challenge ${challenge}: the listener ${own.name} of the panel has it${isSecure ? ' and serves HTTPS' : ''}; give one of them another port, or use tls-alpn-01`,
        );
      return async () => undefined;
    }
    const sockets = new Set<Socket>();
    const server = isHttp ? this.#http() : this.#tls();
    server.maxConnections = MOST_CONNECTIONS;
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      // A connection that says nothing, or much, gives its place back.
      const late = setTimeout(() => socket.destroy(), LONGEST_MS);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        clearTimeout(late);
        sockets.delete(socket);
      });
    });
    try {
      server.listen(port);
      await once(server, 'listening');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const setting = isHttp ? 'acmeHttpPort' : 'acmeTlsPort';
      const why =
        code === 'EADDRINUSE'
          ? `${own ? `the listener ${own.name} of the panel` : 'another program, such as the core,'} listens there`
          : code === 'EACCES'
            ? 'the panel may not open ports below 1024; give it CAP_NET_BIND_SERVICE'
            : messageOf(error);
      throw new CaProblem(
        `port ${port} cannot be opened for the challenge ${challenge}: ${why}; free it, or let the authority reach another port that ${setting} names`,
      );
    }
    return async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    };
  }

  #http(): HttpServer {
    const server = createServer({ maxHeaderSize: 8192 }, (request, response) => {
      request.resume();
      if (!this.answer(request, response)) response.writeHead(404, { connection: 'close' }).end();
    });
    server.headersTimeout = 5_000;
    server.requestTimeout = 5_000;
    return server;
  }

  /** RFC 8737: the handshake itself is the answer, and nothing is said after it. */
  #tls(): Server {
    return createTcpServer((socket) => {
      const secure = new TLSSocket(socket, {
        isServer: true,
        ALPNProtocols: [PROTOCOL],
        SNICallback: (name, done) => {
          const proof = this.#proofs.get(name.toLowerCase());
          if (proof) done(null, proof);
          else done(new Error('no challenge is open for this name'));
        },
      });
      secure.on('error', () => socket.destroy());
      secure.once('secure', () => secure.end());
    });
  }
}

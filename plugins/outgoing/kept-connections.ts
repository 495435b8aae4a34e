// Connections that stay open between calls of a plugin: a handshake costs more than the small calls that follow it.
import { createHash } from 'node:crypto';
import { Agent as HttpAgent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type Done, open, type Way } from './dialler.js';
import { nameOf } from './destination.js';

/** Longer than the pause of a heartbeat, shorter than servers wait. */
const IDLE_MS = 30_000;
const OPTIONS: AgentOptions = { keepAlive: true, maxFreeSockets: 2, timeout: IDLE_MS };
type Given = { readonly way: Way };

/** Two calls with the same key may use the same connection: it is checked and authenticated in the same way. */
function keyOf(group: string, way: Way): string {
  const { destination, host, proxy, allowInsecure, authorities, pinnedSha256, clientCertificate } = way;
  const trust = [allowInsecure, authorities, pinnedSha256 && [...pinnedSha256], clientCertificate];
  const facts = JSON.stringify([group, nameOf(destination), host, proxy, trust]);
  return createHash('sha256').update(facts).digest('base64');
}

class KeptHttp extends HttpAgent {
  override getName(options?: ClientRequestArgs & { key?: string }): string {
    return options?.key ?? '';
  }
  override createConnection(options: ClientRequestArgs, done?: Done): Duplex | undefined {
    return open(false, (options as unknown as Given).way, done);
  }
}
class KeptHttps extends HttpsAgent {
  override getName(options?: RequestOptions & { key?: string }): string {
    return options?.key ?? '';
  }
  override createConnection(options: RequestOptions, done?: Done): Duplex | undefined {
    return open(true, (options as unknown as Given).way, done);
  }
}

export class KeptConnections {
  readonly #http = new KeptHttp(OPTIONS);
  readonly #https = new KeptHttps(OPTIONS);

  /** Returns the agent, and what a request says to get the connection that is meant for it. */
  of(group: string, isSecure: boolean, way: Way): { agent: HttpAgent; key: string; way: Way } {
    return { agent: isSecure ? this.#https : this.#http, key: keyOf(group, way), way };
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

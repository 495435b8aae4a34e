// Stands before a database server. When it falls silent, the server hears nothing any more of connections that it still
// has: as when the machine of the panel loses its power.
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export class SilentLink {
  readonly #server: Server;
  readonly #toServer: Socket[] = [];

  private constructor(host: string, port: number) {
    this.#server = createServer((from) => {
      const to = connect(port, host);
      this.#toServer.push(to);
      from.pipe(to, { end: false });
      to.pipe(from);
      for (const socket of [from, to]) socket.on('error', () => undefined);
    });
  }

  /** Before the server of this address. */
  static async before(url: string): Promise<SilentLink> {
    const { hostname, port } = new URL(url);
    const link = new SilentLink(hostname, Number(port || 3306));
    await new Promise<void>((done) => void link.#server.listen(0, '127.0.0.1', done));
    return link;
  }

  /** `url` with the address of this in the place of the server's. */
  through(url: string): string {
    const way = new URL(url);
    way.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return way.href;
  }

  close(): void {
    for (const socket of this.#toServer) socket.destroy();
    this.#server.close();
  }
}

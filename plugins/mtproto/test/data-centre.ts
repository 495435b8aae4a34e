// A data centre of Telegram that sends back what it gets, behind a SOCKS server that leads every connection to it.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { ciphersOf } from './telegram-client.js';

export class DataCentre implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** host and port of each connection, as the proxy asked for it */
  readonly asked: string[] = [];
  /** name and password of each login; '' for none */
  readonly logins: string[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(port: number): Promise<DataCentre> {
    const server = createServer();
    const centre = new DataCentre(server);
    server.on('connection', (socket) => {
      centre.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => centre.#sockets.delete(socket));
      void centre.#serve(socket).catch(() => socket.destroy());
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return centre;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async #serve(socket: Socket): Promise<void> {
    const read = reader(socket);
    const [, methods = 0] = await read(2);
    const offered = [...(await read(methods))];
    const wantsLogin = offered.includes(2);
    socket.write(Buffer.from([5, wantsLogin ? 2 : 0]));
    let login = '';
    if (wantsLogin) {
      const [, names = 0] = await read(2);
      const name = await read(names);
      const [passwords = 0] = await read(1);
      login = `${name}:${await read(passwords)}`;
      socket.write(Buffer.from([1, 0]));
    }
    this.logins.push(login);
    const [, , , kind = 0] = await read(4);
    const host = kind === 3 ? await read((await read(1))[0] ?? 0) : await read(kind === 1 ? 4 : 16);
    const port = (await read(2)).readUInt16BE();
    this.asked.push(`${kind === 3 ? host : [...host].join('.')}:${port}`);
    socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    const frame = await read(64);
    const { out: incoming, in: outgoing } = ciphersOf(frame);
    incoming.update(frame);
    for (;;) {
      const some = await read(0);
      if (some.length === 0) return;
      socket.write(outgoing.update(incoming.update(some)));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** Reads so many bytes; 0 for what there is. */
function reader(socket: Socket): (bytes: number) => Promise<Buffer> {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest = Buffer.alloc(0);
  return async (bytes) => {
    while (rest.length < bytes || rest.length === 0) {
      if (bytes > 0 && rest.length >= bytes) break;
      const { done, value } = await chunks.next();
      if (done) {
        if (bytes > 0) throw new Error('it was closed');
        return Buffer.alloc(0);
      }
      rest = Buffer.concat([rest, value]);
    }
    const taken = bytes === 0 ? rest : rest.subarray(0, bytes);
    rest = rest.subarray(taken.length);
    return taken;
  };
}

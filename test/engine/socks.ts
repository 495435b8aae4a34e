// A user's program behind a SOCKS5 port (RFC 1928): connections to any target, by address or name, and packets.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, isIPv4, isIPv6, type Socket } from 'node:net';
import { bytesOf } from './name-server.js';

const HOST = '127.0.0.1';

function target(host: string, port: number): Buffer {
  const end = Buffer.from([port >> 8, port & 255]);
  if (isIPv4(host)) return Buffer.concat([Buffer.from([1]), bytesOf(host), end]);
  if (isIPv6(host) && !host.includes('%')) return Buffer.concat([Buffer.from([4]), bytesOf(host), end]);
  return Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host), end]);
}

async function greeted(socksPort: number): Promise<Socket> {
  const socket = connect(socksPort, HOST).on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(Buffer.from([5, 1, 0]));
  await once(socket, 'data');
  return socket;
}

const REPLY_LENGTH = 10;
/** Only a broken core lets anybody wait that long. */
const LIMIT_MS = 15_000;

/** Sends `words` to the target and resolves with all that comes back until the connection ends; empty when it is refused. */
export async function ask(socksPort: number, host: string, port: number, words = ''): Promise<string> {
  const socket = await greeted(socksPort);
  let came = '';
  socket.on('data', (chunk: Buffer) => (came += chunk.toString('latin1')));
  socket.setTimeout(LIMIT_MS, () => socket.destroy());
  socket.write(Buffer.concat([Buffer.from([5, 1, 0]), target(host, port), Buffer.from(words)]));
  await once(socket, 'close');
  return came.slice(REPLY_LENGTH);
}

export interface Packets {
  send(host: string, port: number, text: string): void;
  /** The next answer, without its header. */
  next(): Promise<string>;
  close(): void;
}

/** Packets from one port of the user's program, as one session. */
export async function openPackets(socksPort: number): Promise<Packets> {
  const control = await greeted(socksPort);
  control.write(Buffer.concat([Buffer.from([5, 3, 0]), target('0.0.0.0', 0)]));
  const [reply] = (await once(control, 'data')) as [Buffer];
  const relay = reply.readUInt16BE(8);
  const socket = createSocket('udp4');
  const answers: string[] = [];
  socket.on('message', (message) => {
    const addressLength = { 1: 4, 3: 1 + (message[4] ?? 0), 4: 16 }[message[3] ?? 1] ?? 4;
    answers.push(message.toString('latin1', 4 + addressLength + 2));
    socket.emit('answer');
  });
  return {
    send: (host, port, text) =>
      socket.send(Buffer.concat([Buffer.alloc(3), target(host, port), Buffer.from(text)]), relay, HOST),
    async next() {
      if (answers.length === 0) await once(socket, 'answer', { signal: AbortSignal.timeout(LIMIT_MS) });
      return answers.shift() as string;
    },
    close() {
      socket.close();
      control.destroy();
    },
  };
}

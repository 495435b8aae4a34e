// A name server for tests: answers A and AAAA queries over UDP (RFC 1035) from a function, with TTL 0.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

const A = 1;
const AAAA = 28;

export interface NameServer {
  readonly port: number;
  /** how often the A record of this name was asked for */
  asked(name: string): number;
  stop(): Promise<void>;
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** The 4 or 16 bytes of an address. */
export function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // A URL writes an embedded IPv4 address as two words more.
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = plain.split('::');
  const words = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
  const [left, right] = [words(head), words(tail)];
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 255]));
}

function record(type: number, address: string): Buffer {
  const data = bytesOf(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0); // the name of the question
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** `answer` gets the name and how often its A record was asked for before; no address is an empty answer. */
export async function startNameServer(
  host: string,
  port: number,
  answer: (name: string, before: number) => readonly string[],
): Promise<NameServer> {
  const asked = new Map<string, number>();
  const socket: Socket = createSocket('udp4');
  socket.on('message', (query, peer) => {
    const { name, type, end } = questionOf(query);
    const before = asked.get(name) ?? 0;
    if (type === A) asked.set(name, before + 1);
    const records = answer(name, before)
      .filter((address) => (isIPv4(address) ? A : AAAA) === type)
      .map((address) => record(type, address));
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2); // an answer without error; recursion was asked for and is there
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), peer.port, peer.address);
  });
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    asked: (name) => asked.get(name) ?? 0,
    async stop() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

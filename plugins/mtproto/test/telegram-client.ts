// A Telegram client as far as a proxy sees one: what looks like a TLS handshake, and the obfuscated transport inside it.
// Sources: core.telegram.org/mtproto/mtproto-transports (obfuscation); the handshake of github.com/9seconds/mtg.
import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const RANDOM_AT = 11;
const [HANDSHAKE, CHANGE_CIPHER, DATA] = [0x16, 0x14, 0x17];
const LARGEST_RECORD = 16_000;
/** the transport with padding, as all proxies with `ee` secrets want it */
const TRANSPORT = Buffer.from('dddddddd', 'hex');

/** `minor` is 1 in the first record, as in all client programs. */
const record = (type: number, body: Buffer, minor = 3): Buffer => {
  const header = Buffer.from([type, 3, minor, 0, 0]);
  header.writeUInt16BE(body.length, 3);
  return Buffer.concat([header, body]);
};
const sized = (bytes: 1 | 2 | 3, body: Buffer): Buffer => {
  const length = Buffer.alloc(bytes);
  length.writeUIntBE(body.length, 0, bytes);
  return Buffer.concat([length, body]);
};

function helloOf(key: Buffer, host: string): Buffer {
  const name = Buffer.concat([Buffer.from([0]), sized(2, Buffer.from(host))]);
  const sni = Buffer.concat([Buffer.from([0, 0]), sized(2, sized(2, name))]);
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32),
    sized(1, randomBytes(32)),
    sized(2, Buffer.from([0x13, 0x01])),
    sized(1, Buffer.from([0])),
    sized(2, sni),
  ]);
  const hello = record(HANDSHAKE, Buffer.concat([Buffer.from([1]), sized(3, body)]), 1);
  const random = createHmac('sha256', key).update(hello).digest();
  random.writeUInt32LE((random.readUInt32LE(28) ^ Math.floor(Date.now() / 1000)) >>> 0, 28);
  random.copy(hello, RANDOM_AT);
  return hello;
}

type Cipher = ReturnType<typeof createCipheriv>;

/** The two directions of the obfuscated transport for this first frame of 64 bytes. */
export function ciphersOf(frame: Buffer, secret: Buffer = Buffer.alloc(0)): { out: Cipher; in: Cipher } {
  const cipher = (part: Buffer): Cipher => {
    const raw = part.subarray(0, 32);
    const key = secret.length === 0 ? raw : createHash('sha256').update(raw).update(secret).digest();
    return createCipheriv('aes-256-ctr', key, part.subarray(32, 48));
  };
  const there = frame.subarray(8, 56);
  return { out: cipher(there), in: cipher(Buffer.from(there).reverse()) };
}

export class TelegramClient {
  readonly #socket: Socket;
  readonly #out: Cipher;
  readonly #in: Cipher;
  #raw = Buffer.alloc(0);
  #received = Buffer.alloc(0);
  /** resolves when the connection is closed */
  readonly closed: Promise<unknown>;

  private constructor(socket: Socket, frame: Buffer, secret: Buffer) {
    this.#socket = socket;
    const ciphers = ciphersOf(frame, secret);
    [this.#out, this.#in] = [ciphers.out, ciphers.in];
    this.closed = once(socket, 'close');
  }

  /** `secret` as a link has it: `ee`, 16 bytes and the name of a site. Rejects when the proxy does not know it. */
  static async connect(port: number, secret: string): Promise<TelegramClient> {
    const bytes = Buffer.from(secret, 'hex');
    const [key, host] = [bytes.subarray(1, 17), bytes.subarray(17).toString()];
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    const hello = helloOf(key, host);
    socket.write(hello);
    await proxyAnswers(socket, key, hello.subarray(RANDOM_AT, RANDOM_AT + 32));
    const frame = randomBytes(64);
    TRANSPORT.copy(frame, 56);
    frame.writeInt16LE(2, 60);
    const client = new TelegramClient(socket, frame, key);
    const encrypted = client.#out.update(frame);
    encrypted.copy(frame, 56, 56);
    socket.write(Buffer.concat([record(CHANGE_CIPHER, Buffer.from([1])), record(DATA, frame)]));
    socket.on('data', (chunk: Buffer) => client.#take(chunk));
    return client;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.readyState === 'open';
  }

  /** Sends bytes and resolves when as many have come back. */
  async echo(bytes: number): Promise<void> {
    const before = this.#received.length;
    const sent = randomBytes(bytes);
    for (let at = 0; at < bytes; at += LARGEST_RECORD)
      this.#socket.write(record(DATA, this.#out.update(sent.subarray(at, at + LARGEST_RECORD))));
    for (const deadline = Date.now() + 10_000; this.#received.length < before + bytes; ) {
      if (!this.isOpen) throw new Error('the connection was closed');
      if (Date.now() > deadline) throw new Error('the bytes did not come back');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    if (!this.#received.subarray(before).equals(sent)) throw new Error('other bytes came back');
  }

  end(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#raw = Buffer.concat([this.#raw, chunk]);
    while (this.#raw.length >= 5 && this.#raw.length >= 5 + this.#raw.readUInt16BE(3)) {
      const size = this.#raw.readUInt16BE(3);
      if (this.#raw[0] === DATA)
        this.#received = Buffer.concat([this.#received, this.#in.update(this.#raw.subarray(5, 5 + size))]);
      this.#raw = this.#raw.subarray(5 + size);
    }
  }
}

/** The proxy proves that it has the key: its random bytes are a digest of both hellos. */
async function proxyAnswers(socket: Socket, key: Buffer, random: Buffer): Promise<void> {
  let answer = Buffer.alloc(0);
  const isWhole = (): boolean => {
    for (let at = 0; at + 5 <= answer.length; at += 5 + answer.readUInt16BE(at + 3))
      if (answer[at] === DATA) return answer.length >= at + 5 + answer.readUInt16BE(at + 3);
    return false;
  };
  await new Promise<void>((resolve, reject) => {
    const give = (problem?: string): void => {
      clearTimeout(timer);
      socket.removeAllListeners('data').off('close', refused);
      if (problem === undefined) resolve();
      else {
        socket.destroy();
        reject(new Error(problem));
      }
    };
    const refused = (): void => give('the proxy closed the connection');
    const timer = setTimeout(() => give('the proxy does not answer'), 5000);
    socket.on('close', refused).on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (answer[0] !== HANDSHAKE) give('the proxy answers something else');
      else if (isWhole()) give();
    });
  });
  const proof = Buffer.from(answer.subarray(RANDOM_AT, RANDOM_AT + 32));
  answer.fill(0, RANDOM_AT, RANDOM_AT + 32);
  if (!createHmac('sha256', key).update(random).update(answer).digest().equals(proof)) {
    socket.destroy();
    throw new Error('the answer is not of the proxy: it does not know the secret');
  }
}

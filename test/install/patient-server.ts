// A server whose large downloads are slow until the test has done what it wants to do meanwhile, however long that takes.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ByteServer } from '../../plugins/engine/xray/test/traffic.js';

const HOST = '127.0.0.1';
const BLOCK = Buffer.alloc(64 * 1024, 0x77);
/** A megabyte a second. */
const PAUSE_MS = 62;
const LARGE = 1024 * 1024;

export interface PatientServer extends ByteServer {
  /** From now on as fast as it goes. */
  hurry(): void;
}

/** `GET /?bytes=N`, as the server of other tests. */
export async function openPatientServer(t: { teardown(close: () => unknown): void }): Promise<PatientServer> {
  let isSlow = true;
  let sent = 0;
  let giving = 0;
  async function* blocks(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      const block = BLOCK.subarray(0, Math.min(left, BLOCK.length));
      left -= block.length;
      sent += block.length;
      yield block;
      if (isSlow && bytes > LARGE) await sleep(PAUSE_MS);
    }
  }
  const server = createServer((request, response) => {
    const bytes = Number(new URL(request.url ?? '/', `http://${HOST}`).searchParams.get('bytes'));
    giving += 1;
    response.once('close', () => (giving -= 1));
    response.writeHead(200, { 'content-length': bytes });
    pipeline(blocks(bytes), response).catch(() => response.destroy());
  }).listen(0, HOST);
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  t.teardown(stop);
  return {
    ...{ tls: false, host: HOST, port: (server.address() as AddressInfo).port, received: 0, stop },
    get sent() {
      return sent;
    },
    get giving() {
      return giving;
    },
    hurry: () => void (isSlow = false),
  };
}

// Readers of the live stream, half of them by WebSocket, half by socket.io. None may miss a message or be disconnected.
import { once } from 'node:events';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { serve, Tally } from './child.js';

export interface ReadersStart {
  readonly url: string;
  readonly cookie: string;
  readonly count: number;
}

const tally = new Tally();
const closes: (() => void)[] = [];
let isOver = false;

/** Looks at the order of one reader's messages. */
function follow(name: string): { message: (message: { seq: number }) => void; ended: (why: string) => void } {
  let last: number | undefined;
  return {
    message({ seq }) {
      if (last !== undefined && seq !== last + 1) tally.failed(`${name}: message ${seq} came after ${last}`);
      last = seq;
      tally.did();
    },
    ended(why) {
      if (!isOver) tally.failed(`${name}: ${why}`);
    },
  };
}

async function plain(url: string, cookie: string): Promise<void> {
  const { message, ended } = follow('a WebSocket');
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { cookie } });
  closes.push(() => socket.terminate());
  socket.on('message', (data: Buffer) => message(JSON.parse(data.toString()) as { seq: number }));
  socket.on('error', (error) => ended(error.message));
  socket.on('close', (code) => ended(`closed with ${code}`));
  await Promise.race([once(socket, 'message'), once(socket, 'close')]).catch(() => undefined);
}

async function bySocketIo(url: string, cookie: string): Promise<void> {
  const { message, ended } = follow('socket.io');
  const socket = io(url, {
    path: '/socket.io',
    transports: ['websocket'],
    extraHeaders: { cookie },
    reconnection: false,
    forceNew: true,
  });
  closes.push(() => void socket.disconnect());
  const joined = new Promise<void>((resolve) => {
    socket.onAny((_name: string, given: { seq: number }) => {
      message(given);
      resolve();
    });
  });
  socket.on('disconnect', (reason) => ended(reason));
  const refused = new Promise<void>((resolve) => {
    socket.on('connect_error', (error) => {
      ended(error.message);
      resolve();
    });
  });
  await Promise.race([joined, refused]);
}

serve<ReadersStart>({
  async start({ url, cookie, count }) {
    for (let n = 0; n < count; n++) await (n % 2 ? bySocketIo : plain)(url, cookie);
  },
  tell: () => tally.take(),
  async finish() {
    isOver = true;
    for (const close of closes) close();
  },
});

// Two ends of a stream, in namespaces of their own: `node stream.js serve 8080`, `node stream.js read SOCKS_PORT 203.0.113.1 8080`.
import { createServer } from 'node:net';
import { connectThrough } from '../../engine/xray/test/traffic.js';

const [what = '', ...args] = process.argv.slice(2);
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const PORTION = Buffer.alloc(16 * 1024, 0x77);

if (what === 'serve') {
  // Whoever connects gets a portion ten times a second.
  const server = createServer((socket) => {
    const timer = setInterval(() => socket.write(PORTION), 100);
    socket.on('error', () => {}).on('close', () => clearInterval(timer));
    socket.resume();
  });
  server.listen(Number(args[0]), () => say('ready'));
} else {
  // Says how many bytes came, whenever more did; `end` when the connection ends.
  const [socksPort = 0, host = '', port = 0] = [Number(args[0]), args[1] ?? '', Number(args[2])];
  say(0);
  try {
    const socket = await connectThrough(socksPort, port, host);
    let bytes = 0;
    socket.on('data', (chunk) => say((bytes += chunk.length)));
    socket.on('error', () => {}).on('close', () => say('end'));
  } catch {
    say('end');
  }
}

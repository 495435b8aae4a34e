// One end of a connection, in a namespace of its own: `node end.js serve 8080`, `node end.js get 203.0.113.1 8080 100000`.
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';

const [what = '', ...args] = process.argv.slice(2);
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const LIMIT_MS = 60_000;

/** Answers a line with that many bytes, and says from where the last caller came. */
function serve(port: number, host = '::'): void {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (chunk) => {
      if ((text += chunk.toString('latin1')).length > 100 || !text.includes('\n')) return;
      const bytes = Number.parseInt(text, 10);
      if (bytes < 0) socket.end(socket.remoteAddress ?? '');
      else socket.end(Buffer.alloc(bytes, 'x'));
    });
  });
  server.listen({ port, host, ipv6Only: false }, () => say('ready'));
}

/** Asks for bytes; `slowly`: one small answer after another over one connection's life. */
function get(host: string, port: number, bytes: number, patience: number): void {
  const began = Date.now();
  let came = 0;
  let text = '';
  const socket = connect({ host, port });
  const finish = (error: string): void => {
    say({ bytes: came, error, ms: Date.now() - began, text: text.slice(0, 100) });
    process.exit(0);
  };
  setTimeout(() => finish('timeout'), patience).unref();
  socket.on('connect', () => socket.write(`${bytes}\n`));
  socket.on('data', (chunk) => {
    came += chunk.length;
    if (came < 200) text += chunk.toString('latin1');
  });
  socket.on('end', () => finish(''));
  socket.on('error', ({ message }) => finish(message));
}

/** Asks for bytes, and says when they begin to come. */
function flow(host: string, port: number, bytes: number): void {
  const socket = connect({ host, port });
  socket.on('connect', () => socket.write(`${bytes}\n`));
  socket.once('data', () => say('begun'));
  socket.on('data', () => {});
  socket.on('error', () => {});
}

/** Many round trips of one byte; says the longest. */
async function pulse(host: string, port: number, times: number): Promise<void> {
  let [longest, failed] = [0, 0];
  say('begun');
  for (let i = 0; i < times; i++) {
    const began = Date.now();
    await new Promise<void>((resolve) => {
      const socket = connect({ host, port });
      const timer = setTimeout(() => {
        failed++;
        socket.destroy();
        resolve();
      }, 3000);
      socket.on('connect', () => socket.write('1\n'));
      socket.on('error', () => {});
      socket.on('data', () => {});
      socket.on('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    longest = Math.max(longest, Date.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  say({ longest, failed });
  process.exit(0);
}

/** Sends one packet from an address, with this address in it. */
function packet(host: string, port: number, from: string): void {
  const socket = createSocket('udp4');
  socket.bind(0, from, () => socket.send(from, port, host, () => socket.close(() => say('sent'))));
}

/** Says what the first packet has. */
function sink(port: number): void {
  const socket = createSocket('udp4');
  socket.on('message', (text) => say(text.toString()));
  socket.bind(port, () => say('ready'));
}

/** Holds a UDP port. */
function bind(port: number): void {
  createSocket('udp4').bind(port, () => say('ready'));
}

setTimeout(() => process.exit(3), LIMIT_MS * 4).unref();
const [host = '', port = '0', bytes = '0', patience = String(LIMIT_MS)] = args;
if (what === 'serve') serve(Number(host), args[1]);
else if (what === 'get') get(host, Number(port), Number(bytes), Number(patience));
else if (what === 'flow') flow(host, Number(port), Number(bytes));
else if (what === 'pulse') await pulse(host, Number(port), Number(bytes));
else if (what === 'bind') bind(Number(host));
else if (what === 'packet') packet(host, Number(port), bytes);
else if (what === 'sink') sink(Number(host));

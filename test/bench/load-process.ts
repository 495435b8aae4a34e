// Sends requests over raw sockets and counts the answers: a client library would be slower than the servers it measures.
import { connect } from 'node:net';
import { CONNECTIONS, type Load } from './load.js';

const HEAD_END = Buffer.from('\r\n\r\n');

function run({ url, suffixes, headers = {}, seconds }: Load): void {
  const { hostname, port, pathname } = new URL(url);
  const rest = ` HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
  const next = () => `GET ${pathname}${suffixes[Math.floor(Math.random() * suffixes.length)] ?? ''}${rest}`;
  const began = performance.now();
  let answered = 0;
  let failed = 0;
  for (let i = 0; i < CONNECTIONS; i++) {
    let waiting = Buffer.alloc(0);
    const socket = connect(Number(port), hostname, () => socket.write(next()));
    socket.on('error', () => failed++);
    socket.on('data', (chunk) => {
      waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
      const end = waiting.indexOf(HEAD_END);
      if (end < 0) return;
      const head = waiting.toString('latin1', 0, end);
      const whole = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (waiting.length < whole) return;
      waiting = waiting.subarray(whole);
      answered++;
      if (!head.startsWith('HTTP/1.1 2')) failed++;
      socket.write(next());
    });
  }
  setTimeout(
    () => process.send?.({ perSecond: (1000 * answered) / (performance.now() - began), answered, failed }),
    seconds * 1000,
  );
}

process.on('message', (load) => run(load as Load));

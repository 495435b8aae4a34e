// Sends requests over raw sockets and counts the answers: a client library would be slower than the servers it measures.
import { connect } from 'node:net';
import { CONNECTIONS, type Load } from './load.js';

const HEAD_END = Buffer.from('\r\n\r\n');

function run({ url, suffixes, headers = {}, seconds, status = 200 }: Load): void {
  const { hostname, port, pathname } = new URL(url);
  const rest = ` HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
  const next = () => `GET ${pathname}${suffixes[Math.floor(Math.random() * suffixes.length)] ?? ''}${rest}`;
  const began = performance.now();
  let answered = 0;
  let failed = 0;
  const times: number[] = [];
  const percentile = (part: number) => times[Math.floor(part * times.length)] ?? Number.NaN;
  for (let i = 0; i < CONNECTIONS; i++) {
    let waiting = Buffer.alloc(0);
    let asked = 0;
    const ask = () => {
      asked = performance.now();
      socket.write(next());
    };
    const socket = connect(Number(port), hostname, ask);
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
      times.push(performance.now() - asked);
      if (!head.startsWith(`HTTP/1.1 ${status} `)) failed++;
      ask();
    });
  }
  setTimeout(() => {
    const perSecond = (1000 * answered) / (performance.now() - began);
    times.sort((a, b) => a - b);
    process.send?.({ perSecond, answered, failed, median: percentile(0.5), p99: percentile(0.99) });
  }, seconds * 1000);
}

process.on('message', (load) => run(load as Load));

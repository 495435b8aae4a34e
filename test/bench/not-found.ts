// How long replies to fetches of what is not there take, in turn on one connection: the time must not tell an id from a path.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { BenchPanel } from './bench-panel.js';
import { middle } from './figures.js';
import { atMost, type Figure } from './report.js';
import { subIdOf } from './seed.js';

const TURNS = 3000;
/** The first ones, while code is compiled. */
const WARM_UP = 500;
const MOST_APART = 10;
const BLOCKED = 'blocked-agent';

export async function notFound({ api }: BenchPanel): Promise<Figure[]> {
  const { hostname, port, pathname } = new URL(api.ready.subUrl);
  await api.get('/panel/api/setting/update', {
    body: { subResponseRules: [{ agent: BLOCKED, block: true }] },
  });
  const prefix = pathname.slice(1, -1);
  const nobody = 'x'.repeat(subIdOf(0).length);
  // Requests of the same length.
  const asked: readonly (readonly [what: string, path: string])[] = [
    ['unknown path', `/${'x'.repeat(prefix.length)}/${nobody}`],
    ['unknown id', `/${prefix}/${nobody}`],
    ['malformed id', `/${prefix}/%${nobody.slice(1)}`],
    ['id that is not UTF-8', `/${prefix}/%C3%28${nobody.slice(6)}`],
    ['client whose program is blocked', `/${prefix}/${subIdOf(0)}`],
  ];
  const times = asked.map((): number[] => []);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    for (let turn = 0; turn < WARM_UP + TURNS; turn++)
      for (const i of asked.keys()) {
        // Each follows each other as often.
        const place = (i * (1 + (turn % 4)) + turn) % asked.length;
        const [what, path] = asked[place] ?? ['', ''];
        const began = performance.now();
        socket.write(`GET ${path} HTTP/1.1\r\nHost: weir\r\nUser-Agent: ${BLOCKED}\r\n\r\n`);
        const [answer] = (await once(socket, 'data')) as [Buffer];
        const took = performance.now() - began;
        if (answer.toString('latin1', 9, 12) !== '404') throw new Error(`${what} was not answered with 404`);
        if (turn >= WARM_UP) times[place]?.push(1000 * took);
      }
  } finally {
    socket.destroy();
    await api.get('/panel/api/setting/update', { body: { subResponseRules: [] } });
  }
  const medians = times.map(middle);
  const apart = 100 * (Math.max(...medians) / Math.min(...medians) - 1);
  return [
    ...asked.map(([what], i): Figure => ({ what: `404, ${what}`, value: medians[i] ?? 0, unit: 'µs' })),
    { what: '404: medians apart', value: apart, unit: '%', goal: atMost(MOST_APART, '%') },
  ];
}

// How long others wait while a large file is read.
// Runs alone: it measures the rounds of the event loop.
import test from 'ava';
import { Reader } from '../wire.js';
import { siteFile } from './dat.js';
import { all, place } from './geodata-folder.js';

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 0x80);
  }
};
function* entriesOf(file: Buffer): Generator<Buffer> {
  const reader = new Reader(file);
  while (reader.at < reader.end) {
    reader.varint();
    const begin = reader.span();
    yield file.subarray(begin, reader.at);
  }
}

/** Measures rounds of the event loop in CPU time: other processes do not count. */
class Rounds {
  #longest = 0;
  #isOver = false;

  constructor() {
    let before = process.cpuUsage();
    const round = (): void => {
      const { user, system } = process.cpuUsage(before);
      this.#longest = Math.max(this.#longest, (user + system) / 1000);
      before = process.cpuUsage();
      if (!this.#isOver) setImmediate(round);
    };
    setImmediate(round);
  }
  /** Returns the longest round, in ms. */
  stop(): number {
    this.#isOver = true;
    return this.#longest;
  }
}

test('a file of a million domains is read in slices', async (t) => {
  const rules = Array.from(
    { length: 200_000 },
    (_, i) => `domain:host-${i}.example.com${i % 50 === 0 ? ' @ads' : ''}`,
  );
  const [message] = [...entriesOf(siteFile({ A: rules }))];
  // A message may come in parts: five times the items are one category.
  const whole = Buffer.concat(Array.from({ length: 5 }, () => message ?? Buffer.alloc(0)));
  const { browser } = await place(t, {
    'geosite.dat': Buffer.concat([Buffer.from([0x0a]), varint(whole.length), whole]),
  });
  const rounds = new Rounds();
  const began = performance.now();
  t.like(await browser.categories('geosite.dat', all), { items: [{ code: 'A', count: 1_000_000 }] });
  const indexed = performance.now();
  t.like(await browser.items('geosite.dat', 'A', { q: 'host-199999.', offset: 0, limit: 10 }), { total: 5 });
  const searched = performance.now();
  const longest = rounds.stop();
  t.log(
    `index ${Math.round(indexed - began)} ms, search ${Math.round(searched - indexed)} ms, longest stall ${Math.round(longest)} ms of CPU`,
  );
  t.true(longest < 50, `${longest} ms`);
});

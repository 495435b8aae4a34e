// The list of servers is read piece by piece: the same text comes out wherever the pieces end, and nobody waits for it.
import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { readServers, UnfitList } from '../server-list.js';
import { listOf, serverOf } from './nord-api.js';

async function* cut(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}
const all = () => true;
const loadOf = (server: unknown): number => (server as { load: number }).load;

test('the text is the same wherever pieces end', async (t) => {
  const servers = [serverOf(1, 5), serverOf(2, 50), serverOf(3, 51), { name: 'ünïcode 🙂', load: 60 }];
  const head = { 'quoted "servers": [': 1, nested: { servers: [{ load: 99 }] }, note: 'servers' };
  const text = JSON.stringify({ ...head, ...listOf(servers) }, null, 1);
  const expected = { ...head, ...listOf(servers.slice(1)) };
  for (let size = 1; size < 80; size++) {
    const read = await readServers(cut(text, size), (server) => loadOf(server) > 7);
    t.deepEqual(JSON.parse(read.text), expected as never, `pieces of ${size}`);
    t.deepEqual([read.servers.length, read.leftOut], [3, 1]);
  }
  const only = await readServers(cut(text, 1000), (server) => loadOf(server) === 51);
  t.deepEqual(only.servers, [servers[2]]);
  for (const empty of ['{"servers":[]}', ' { "a" : 1 , "servers" : [ ] , "b" : [] } '])
    t.deepEqual(JSON.parse((await readServers(cut(empty, 3), all)).text), JSON.parse(empty));
});

test('what is no such list is refused with the reason', async (t) => {
  const nested = (levels: number) => `{"servers":[${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}]}`;
  for (const [text, says] of [
    ['', /not valid JSON/],
    ['<html>', /not valid JSON/],
    ['{}', /no list/],
    ['["servers",[]]', /no list/],
    ['{"servers":null}', /no list/],
    ['{"servers":{"a":[{}]}}', /no list/],
    ['{"servers":[{}', /not valid JSON/],
    ['{"servers":[{]}]}', /not valid JSON/],
    ['{"servers":[{"a":1}', /not valid JSON/],
    ['{"servers":[{"a":tru}]}', /not valid JSON/],
    ['{"servers":[]', /not valid JSON/],
    ['{"servers":[]}}', /not valid JSON/],
    ['{"servers":["x"]}', /no object/],
    [nested(200), /nests deeper/],
    [`{"servers":[{"a":"${'x'.repeat(100_000)}`, /64 KiB/],
    [`{"servers":[${'{},'.repeat(20_000)}{}]}`, /more than 20000 servers/],
    [`{"servers":[],"a":"${'x'.repeat(300_000)}"}`, /256 KiB/],
    [`{"a":"${'x'.repeat(3_000_000)}`, /256 KiB/],
  ] as const) {
    const error = await t.throwsAsync(readServers(cut(text, 1000), all), { instanceOf: UnfitList });
    t.regex(error?.message ?? '', says, text.slice(0, 40));
  }
});

test('the largest list keeps nobody waiting', async (t) => {
  const text = JSON.stringify(
    listOf(Array.from({ length: 11_000 }, (_, number) => serverOf(number, 50, 'k'))),
  );
  t.log(`${(text.length / 1024 / 1024).toFixed(1)} MiB`);
  let [longest, turns, done] = [0, 0, false];
  const watch = (async () => {
    for (let last = performance.now(); !done; ) {
      await turn();
      turns++;
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
  })();
  const began = performance.now();
  // As decompression gives it: all of it in one piece.
  const read = await readServers(cut(text, text.length), all);
  done = true;
  await watch;
  t.log(`${Math.round(performance.now() - began)} ms in all, ${Math.round(longest)} ms at most at a stretch`);
  t.is(read.servers.length, 11_000);
  // Time itself says little on a machine with other work.
  t.true(turns > 3, `others had ${turns} turns`);
});

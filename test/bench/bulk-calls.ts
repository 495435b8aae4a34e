// A thousand clients a call: how many a second are committed and answered, when the core follows, and how long others wait.
import type { BenchPanel } from './bench-panel.js';
import { atLeast, atMost, type Figure } from './report.js';
import { seed } from './seed.js';
import { until, type Way } from './vless.js';
import { Watcher } from './watcher.js';

const BATCH = 1000;
const CALLS = 5;
const GOAL_PER_SECOND = 4000;
const GOAL_WAIT_MS = 100;
/** Far from those who stay. */
const FIRST = 20_000_000;
const EDITED = 'edited-meanwhile@bench';

const emailsOf = (call: number): string[] =>
  Array.from({ length: BATCH }, (_, n) => `user${FIRST + call * BATCH + n}@bench`);

interface Wait {
  readonly fetch: Watcher;
  readonly get: Watcher;
}

/** Disables and enables one client over and over; resolves with the longest of these edits, in ms. */
async function editWhile(bench: BenchPanel, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = work.finally(() => (isOver = true));
  let longest = 0;
  for (let n = 0; !isOver; n++) {
    const began = performance.now();
    await bench.api.get(`/panel/api/clients/${n % 2 ? 'bulkEnable' : 'bulkDisable'}`, {
      body: { emails: [EDITED] },
    });
    longest = Math.max(longest, performance.now() - began);
  }
  await over;
  return longest;
}

async function measure(
  bench: BenchPanel,
  { fetch, get }: Wait,
  what: string,
  call: (n: number) => Promise<unknown>,
  followed?: () => Promise<number>,
): Promise<Figure[]> {
  await Promise.all([fetch.longest(), get.longest()]);
  const began = performance.now();
  let answered = 0;
  const work = (async () => {
    for (let n = 0; n < CALLS; n++) await call(n);
    answered = performance.now() - began;
  })();
  const edit = await editWhile(bench, work);
  const lag = await followed?.();
  const wait = Math.max(await fetch.longest(), await get.longest());
  return [
    { what, value: (1000 * CALLS * BATCH) / answered, unit: '/s', goal: atLeast(GOAL_PER_SECOND, '/s') },
    ...(lag === undefined
      ? []
      : [{ what: `${what}: until the core has the last one`, value: lag, unit: 'ms' } as const]),
    {
      what: `${what}: longest wait for anything else`,
      value: wait,
      unit: 'ms',
      goal: atMost(GOAL_WAIT_MS, 'ms'),
    },
    { what: `${what}: longest single edit meanwhile`, value: edit, unit: 'ms' },
  ];
}

/** Leaves as many clients as it found. */
export async function bulkCalls(bench: BenchPanel, echoPort: number): Promise<Figure[]> {
  const { api } = bench;
  const way: Way = bench.way(echoPort);
  const { token } = await api.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: `bulk ${bench.clients}` },
  });
  const wait: Wait = {
    fetch: new Watcher(`${api.ready.subUrl}sub000000000`),
    get: new Watcher(`${api.url}/panel/api/clients/get/user0@bench`, { authorization: `Bearer ${token}` }),
  };
  try {
    await api.get('/panel/api/clients/add', {
      body: { client: { email: EDITED }, inboundIds: bench.inboundIds },
    });
    const bulk =
      (path: string, more: object = {}) =>
      (n: number) =>
        api.get(`/panel/api/clients/${path}`, { body: { emails: emailsOf(n), ...more } });
    const create = (n: number) => seed(api, BATCH, bench.inboundIds, FIRST + n * BATCH);
    const last = () => bench.uuidOf(FIRST + CALLS * BATCH - 1);
    const follow = (served: boolean) => async () => until(way, await last(), served);
    const figures = await measure(bench, wait, 'bulkCreate', create, follow(true));
    const uuid = await last();
    figures.push(
      ...(await measure(bench, wait, 'bulkAdjust', bulk('bulkAdjust', { addDays: 1, addBytes: 2 ** 30 }))),
      ...(await measure(bench, wait, 'bulkDisable', bulk('bulkDisable'), follow(false))),
      ...(await measure(bench, wait, 'bulkEnable', bulk('bulkEnable'), follow(true))),
      ...(await measure(bench, wait, 'bulkResetTraffic', bulk('bulkResetTraffic'))),
      ...(await measure(
        bench,
        wait,
        'bulkDetach',
        bulk('bulkDetach', { inboundIds: bench.inboundIds.slice(-1) }),
        follow(false),
      )),
      ...(await measure(
        bench,
        wait,
        'bulkAttach',
        bulk('bulkAttach', { inboundIds: bench.inboundIds.slice(-1) }),
        follow(true),
      )),
      ...(await measure(bench, wait, 'bulkDel', bulk('bulkDel'), () => until(way, uuid, false))),
    );
    await api.get(`/panel/api/clients/del/${EDITED}`, { method: 'POST' });
    return figures;
  } finally {
    wait.fetch.stop();
    wait.get.stop();
  }
}

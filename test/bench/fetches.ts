// Subscription fetches in each format, with a limit of devices, as a 304, and while the panel polls and is edited; and an API call.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPanel } from './bench-panel.js';
import { besideBare } from './beside-bare.js';
import { notFound } from './not-found.js';
import type { Figure } from './report.js';
import { subIdOf } from './seed.js';
import { until } from './vless.js';

const MOST_DIFFERENT = 10_000;
/** Clients with a limit of devices; the first ones. */
const LIMITED = 100;
const PAUSE_MS = 1000;
const STANDARD = 75;
const DOCUMENT = 35;
const NOT_MODIFIED = 85;

export async function fetches(bench: BenchPanel, echoPort: number): Promise<Figure[]> {
  // Clients are answered before the core has them, and that is work, too.
  await until(bench.way(echoPort), await bench.uuidOf(bench.clients - 1), true);
  const { api, pid } = bench;
  const post = (path: string, body: object) => api.get<unknown>(`/panel/api/${path}`, { body });
  const numbers = Array.from({ length: Math.min(bench.clients, MOST_DIFFERENT) }, (_, n) => n);
  const { token } = await api.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: `fetches ${bench.clients}` },
  });
  await post('setting/update', {
    subJsonEnable: true,
    jsonPath: '/json/',
    subAltEnable: true,
    altFormatPath: '/yaml/',
    subSingBoxEnable: true,
    subSingBoxPath: '/sing-box/',
  });
  for (const n of numbers.slice(0, LIMITED)) await post(`clients/update/user${n}@bench`, { limitHwid: 3 });
  const at = (path: string): string => new URL(path, api.ready.subUrl).href;
  const standard = { pid, url: api.ready.subUrl, suffixes: numbers.slice(LIMITED).map(subIdOf) };
  const one = subIdOf(LIMITED);
  const etag = (await fetch(standard.url + one)).headers.get('etag') ?? '';
  /** Of clients that are fetched. A poll that is running already, or has just run, is one as well. */
  const work = async (isOver: () => boolean) => {
    for (let n = LIMITED; !isOver(); n++) {
      await post(`clients/update/user${n}@bench`, { comment: `edited ${n} at ${Date.now()}` });
      await api.call('/panel/api/system/jobs/traffic/poll', { method: 'POST' });
      await sleep(PAUSE_MS);
    }
  };
  const scenes = [
    { what: 'subscription fetch, links', ...standard, goal: STANDARD },
    {
      what: 'links, with a limit of devices',
      ...standard,
      suffixes: numbers.slice(0, LIMITED).map(subIdOf),
      headers: { 'x-hwid': 'device-of-the-bench' },
      goal: STANDARD,
    },
    { what: 'links, with a poll and an edit a second', ...standard, goal: STANDARD, meanwhile: work },
    {
      what: 'links, 304',
      ...standard,
      suffixes: [one],
      headers: { 'if-none-match': etag },
      goal: NOT_MODIFIED,
    },
    { what: 'subscription fetch, JSON', ...standard, url: at('/json/'), goal: DOCUMENT },
    { what: 'subscription fetch, YAML', ...standard, url: at('/yaml/'), goal: DOCUMENT },
    { what: 'subscription fetch, sing-box', ...standard, url: at('/sing-box/'), goal: DOCUMENT },
    {
      what: 'clients/get with a token',
      pid,
      url: `${api.url}/panel/api/clients/get/`,
      suffixes: numbers.map((n) => `user${n}@bench`),
      headers: { authorization: `Bearer ${token}` },
    },
  ];
  const figures: Figure[] = [];
  for (const scene of scenes) figures.push(...(await besideBare(scene)));
  return [...figures, ...(await notFound(bench))];
}

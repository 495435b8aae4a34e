// list/paged with its summary: every sort, searches and statuses. Before each call another client is edited: a list that
// nothing changes could be kept.
import type { BenchPanel } from './bench-panel.js';
import { middle } from './figures.js';
import { atMost, type Figure } from './report.js';

const TIMES = 15;
const SORT_MS = 3;
const FIND_MS = 10;
const SORTS = [
  'enable',
  'email',
  'inboundIds',
  'traffic',
  'remaining',
  'expiryTime',
  'createdAt',
  'updatedAt',
  'lastOnline',
];
const STATUSES = ['online', 'active', 'deactive', 'depleted', 'expiring'];

async function time(bench: BenchPanel, query: (n: number) => string): Promise<number> {
  const taken: number[] = [];
  for (let n = 0; n < TIMES; n++) {
    await bench.api.get(`/panel/api/clients/update/user${n}@bench`, { body: { comment: `seen ${n}` } });
    const path = `/panel/api/clients/list/paged?pageSize=25&${query(n)}`;
    const began = performance.now();
    await bench.api.get(path);
    taken.push(performance.now() - began);
  }
  return middle(taken);
}

export async function pages(bench: BenchPanel): Promise<Figure[]> {
  const figures: Figure[] = [];
  const add = async (what: string, most: number, query: (n: number) => string) =>
    figures.push({ what, value: await time(bench, query), unit: 'ms', goal: atMost(most, 'ms') });
  const middlePage = Math.ceil(bench.clients / 50);
  await add('unsorted', SORT_MS, () => 'page=1');
  for (const sort of SORTS)
    for (const order of ['ascend', 'descend'])
      await add(
        `by ${sort}, ${order}, first pages`,
        SORT_MS,
        (n) => `page=${n + 1}&sort=${sort}&order=${order}`,
      );
  await add('by email, a page in the middle', SORT_MS, (n) => `page=${middlePage + n}&sort=email`);
  await add('search: part of an email', FIND_MS, (n) => `search=${n * 7 + 13}@ben`);
  await add('search: two digits', FIND_MS, (n) => `search=${n + 10}`);
  await add('search: a word of a tenth of the comments', FIND_MS, () => 'search=note');
  await add('search: nothing is found', FIND_MS, (n) => `search=nobody-${n}`);
  await add('search, sorted by traffic', FIND_MS, (n) => `search=${n * 7 + 13}&sort=traffic&order=descend`);
  for (const status of STATUSES) await add(`status ${status}`, FIND_MS, () => `status=${status}`);
  return figures;
}

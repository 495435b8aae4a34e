// What is chosen in the list, and what is shown of a job.
import test from 'ava';
import {
  ALL,
  filterKey,
  isChosen,
  MOST_NAMED,
  NONE,
  type Selection,
  sizeOf,
  toggled,
  whomOf,
} from '../page/clients/selection.js';
import { viewOf } from '../page/clients/view.js';
import { isOpen, type Job, leftOf, recentJobs, shareOf, withNews } from '../page/jobs/progress.js';

const ann = { id: 1, email: 'ann' };
const ben = { id: 2, email: 'ben' };
const view = viewOf({ status: 'active', inbound: '3', sort: 'email', order: 'descend' });

test('some clients are chosen by their names', (t) => {
  const both = toggled(toggled(NONE, ann), ben);
  t.is(sizeOf(both, 100), 2);
  t.true(isChosen(both, 1));
  t.deepEqual(whomOf(both, view), { emails: ['ann', 'ben'] });
  const one = toggled(both, ann);
  t.false(isChosen(one, 1));
  t.deepEqual(whomOf(one, view), { emails: ['ben'] });
  t.is(sizeOf(NONE, 100), 0);
});

test('all clients of a filter are chosen but those that are taken out', (t) => {
  t.is(sizeOf(ALL, 100), 100);
  t.deepEqual(whomOf(ALL, view), { filter: { status: 'active', inboundIds: '3' } });
  t.deepEqual(whomOf(ALL, viewOf({})), { filter: {} });
  const but = toggled(ALL, ann);
  t.false(isChosen(but, 1));
  t.true(isChosen(but, 2));
  t.is(sizeOf(but, 100), 99);
  t.deepEqual(whomOf(but, view), {
    filter: { status: 'active', inboundIds: '3' },
    except: { ids: [1] },
  });
  t.deepEqual(whomOf(toggled(but, ann), view), whomOf(ALL, view));
});

test('no selection is larger than a job takes', (t) => {
  const ids = Array.from({ length: MOST_NAMED }, (_, i) => i + 1);
  const full: Selection = { kind: 'some', chosen: new Map(ids.map((id) => [id, `c${id}`])) };
  t.is(toggled(full, { id: 0, email: 'more' }), full);
  const fullExcept: Selection = { kind: 'all', except: new Set(ids) };
  t.is(toggled(fullExcept, { id: 0, email: 'more' }), fullExcept);
});

test('another order is the same filter, another search is not', (t) => {
  t.is(filterKey(view), filterKey({ ...view, sort: 'traffic', order: undefined }));
  t.not(filterKey(view), filterKey({ ...view, search: 'a' }));
});

const job = (given: Partial<Job>): Job => ({
  id: 1,
  action: 'disable',
  params: {},
  state: 'done',
  total: 10,
  done: 10,
  changed: 10,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  listed: 0,
  reasons: [],
  problem: '',
  retryOf: null,
  by: { name: 'admin', kind: 'session' },
  createdAt: 0,
  startedAt: 0,
  endedAt: 0,
  ...given,
});

test('another try is for what was skipped, failed or not begun', (t) => {
  t.is(leftOf(job({})), 0);
  t.is(leftOf(job({ done: 6, changed: 3, skipped: 2, failed: 1 })), 7);
  t.is(shareOf({ done: 5, total: 10 }), 0.5);
  t.is(shareOf({ done: 0, total: 0 }), 1);
});

test('open jobs are shown, and ended ones for an hour or until they are closed', (t) => {
  const now = 10 * 3_600_000;
  const running = job({ id: 4, state: 'running', endedAt: null });
  const fresh = job({ id: 3, endedAt: now - 60_000 });
  const old = job({ id: 2, endedAt: now - 2 * 3_600_000 });
  t.true(isOpen(running));
  t.deepEqual(recentJobs([running, fresh, old], now, new Set()), [running, fresh]);
  t.deepEqual(recentJobs([running, fresh, old], now, new Set([3, 4])), [running]);
});

test('a message has the last jobs only: those that are known stay', (t) => {
  const known = [job({ id: 2, state: 'running', done: 1 }), job({ id: 1 })];
  const news = [job({ id: 2, state: 'running', done: 5 }), job({ id: 3, state: 'waiting' })];
  t.deepEqual(
    withNews(known, news).map(({ id, done, state }) => [id, done, state]),
    [
      [3, 10, 'waiting'],
      [2, 5, 'running'],
      [1, 10, 'done'],
    ],
  );
  t.deepEqual(withNews(null, []), []);
});

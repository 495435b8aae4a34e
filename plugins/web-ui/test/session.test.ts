// The session of the page, with a panel that a test answers for.
import test from 'ava';
import { Weir } from '../../../sdk/index.js';
import { claimStorage, whenLeft } from '../page/api/leaving.js';
import { Session } from '../page/api/session.js';
import { returnPath, parseSearch, stringifySearch } from '../page/app/search-params.js';

const URL_OF_PANEL = 'http://panel.test/secret';
interface Call {
  readonly path: string;
  readonly method: string;
  readonly csrf: string | null;
}

/** A panel with one session: `tokens` are the CSRF tokens that it gives, one after the other. */
function panel() {
  const state = { isOpen: true, givesToken: true, token: 'first', name: 'ada' };
  const calls: Call[] = [];
  const json = (status: number, body: object) => new Response(JSON.stringify(body), { status });
  const send: typeof fetch = async (input, init = {}) => {
    const path = new URL(String(input)).pathname.replace('/secret', '');
    const method = init.method ?? 'GET';
    const csrf = new Headers(init.headers).get('x-csrf-token');
    calls.push({ path, method, csrf });
    init.signal?.throwIfAborted();
    if (path === '/csrf-token' && !state.givesToken)
      return json(503, { success: false, code: 'KERNEL_BUSY' });
    if (path === '/csrf-token') return json(200, { success: true, obj: state.token });
    if (path === '/login') {
      state.isOpen = true;
      state.token = 'second';
      return json(200, { success: true, msg: 'logged in' });
    }
    if (!state.isOpen) return json(401, { success: false, code: 'KERNEL_UNAUTHORIZED' });
    if (method !== 'GET' && csrf !== state.token) return json(403, { success: false, code: 'KERNEL_CSRF' });
    if (path === '/panel/api/access/sessions')
      return json(200, { success: true, obj: [{ username: state.name, current: true }] });
    return json(200, { success: true, obj: 'done', msg: 'done' });
  };
  const session = new Session({ url: URL_OF_PANEL, send });
  const weir = new Weir({ url: URL_OF_PANEL, fetch: session.fetch, retries: { most: 0 } });
  return { state, calls, session, weir };
}
const resets = (calls: readonly Call[]) => calls.filter(({ path }) => path.includes('resetTraffic'));

test('a change carries the token of the session, which is asked for once', async (t) => {
  const { session, weir, calls } = panel();
  await session.check();
  t.deepEqual(session.state(), { kind: 'in', name: 'ada' });
  await weir.clients.resetTraffic({ email: 'ann' });
  await weir.clients.resetTraffic({ email: 'ben' });
  t.deepEqual(
    resets(calls).map(({ csrf }) => csrf),
    ['first', 'first'],
  );
  t.is(calls.filter(({ path }) => path === '/csrf-token').length, 1);
});

test('a token that another login replaced is asked for again', async (t) => {
  const { session, weir, calls, state } = panel();
  await session.check();
  await weir.clients.resetTraffic({ email: 'ann' });
  state.token = 'other';
  t.is(await weir.clients.resetTraffic({ email: 'ann' }), 'done');
  t.deepEqual(
    resets(calls).map(({ csrf }) => csrf),
    ['first', 'first', 'other'],
  );
});

test('a token that the panel did not give is asked for again by the next change', async (t) => {
  const { session, weir, state } = panel();
  await session.check();
  state.givesToken = false;
  await t.throwsAsync(weir.clients.resetTraffic({ email: 'ann' }));
  state.givesToken = true;
  t.is(await weir.clients.resetTraffic({ email: 'ann' }), 'done');
});

test('a call that meets the end of the session waits for a login and is sent again', async (t) => {
  const { session, weir, calls, state } = panel();
  await session.check();
  state.isOpen = false;
  const change = weir.clients.resetTraffic({ email: 'ann' });
  while (session.state().kind !== 'ended') await new Promise(setImmediate);
  t.deepEqual(session.state(), { kind: 'ended', name: 'ada' });
  await session.logIn({ username: 'ada', password: 'secret' });
  t.is(await change, 'done');
  t.is(resets(calls).at(-1)?.csrf, 'second');
  t.deepEqual(session.state(), { kind: 'in', name: 'ada' });
});

test('calls that wait end when the reader leaves, or when nobody wants them any more', async (t) => {
  const { session, weir, state } = panel();
  await session.check();
  state.isOpen = false;
  const unwanted = new AbortController();
  const aborted = weir.clients.get({ email: 'ann' }, { signal: unwanted.signal });
  const left = weir.clients.resetTraffic({ email: 'ann' });
  while (session.state().kind !== 'ended') await new Promise(setImmediate);
  unwanted.abort(new Error('nobody wants it'));
  await t.throwsAsync(aborted, { message: 'nobody wants it' });
  session.leave();
  await t.throwsAsync(left);
  t.is(session.state().kind, 'out');
});

test('a call that nobody wants any more is given up while the panel works on it', async (t) => {
  const unwanted = new AbortController();
  const slow = new Session({
    url: URL_OF_PANEL,
    send: (_, init) => {
      setImmediate(() => unwanted.abort(new Error('nobody wants it')));
      return new Promise((resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
        setTimeout(() => resolve(new Response('{}')), 500);
      });
    },
  });
  const call = slow.fetch(`${URL_OF_PANEL}/panel/api/server/status`, { signal: unwanted.signal });
  await t.throwsAsync(call, { message: 'nobody wants it' });
});

test('what one admin typed is not sent in the name of another one who has logged in in another window', async (t) => {
  const { session, weir, calls, state } = panel();
  await session.check();
  await weir.clients.resetTraffic({ email: 'ann' });
  Object.assign(state, { name: 'eve', token: 'hers' });
  await t.throwsAsync(weir.clients.resetTraffic({ email: 'ben' }));
  t.is(resets(calls).filter(({ csrf }) => csrf === 'hers').length, 0);
  t.deepEqual(session.state(), { kind: 'in', name: 'eve' });
});

test('calls that wait go on with a login of the same admin in another window, and not with that of another', async (t) => {
  for (const name of ['ada', 'eve']) {
    const { session, weir, calls, state } = panel();
    await session.check();
    state.isOpen = false;
    const change = weir.clients.resetTraffic({ email: 'ann' });
    while (session.state().kind !== 'ended') await new Promise(setImmediate);
    Object.assign(state, { isOpen: true, name });
    const before = resets(calls).length;
    const outcome = change.then(
      () => 'done',
      () => 'given up',
    );
    await session.check();
    t.is(await outcome, name === 'ada' ? 'done' : 'given up');
    t.is(resets(calls).length, name === 'ada' ? before + 1 : before);
  }
});

test('the page forgets when its admin leaves or is another one, and not while a session has ended', async (t) => {
  const { session, weir, state } = panel();
  let forgotten = 0;
  whenLeft(session, () => void forgotten++);
  await session.check();
  state.isOpen = false;
  const change = weir.clients.resetTraffic({ email: 'ann' });
  while (session.state().kind !== 'ended') await new Promise(setImmediate);
  await session.logIn({ username: 'ada', password: 'secret' });
  await change;
  t.is(forgotten, 0);
  state.name = 'eve';
  await session.check();
  t.is(forgotten, 1);
  await session.logOut();
  t.is(forgotten, 2);
});

test('an admin with a new name is the same one, whoever tells it first', async (t) => {
  for (const isHeardFirst of [true, false]) {
    const { session, weir, state } = panel();
    let forgotten = 0;
    whenLeft(session, () => void forgotten++);
    await session.check();
    await session.renaming('ada2', async () => {
      state.name = 'ada2';
      if (isHeardFirst) await session.check();
    });
    t.deepEqual(session.state(), { kind: 'in', name: 'ada2' });
    await session.check();
    state.token = 'other';
    t.is(await weir.clients.resetTraffic({ email: 'ann' }), 'done');
    t.is(forgotten, 0);
  }
});

test('drafts in the storage of a window are those of one admin', (t) => {
  const items = new Map<string, string>();
  const storage = {
    get length() {
      return items.size;
    },
    key: (at: number) => [...items.keys()][at] ?? null,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  } as unknown as Storage;
  const claim = (name: string) => {
    claimStorage(() => storage, name);
    return [...items.keys()].filter((key) => key !== 'weir.owner');
  };
  claim('ada');
  items.set('weir.draft.node.new', '{}').set('weir.closedJobs', '[1]').set('other', '1');
  // After the end of a session and a reload.
  t.deepEqual(claim('ada'), ['weir.draft.node.new', 'weir.closedJobs', 'other']);
  claimStorage(() => storage, 'ada2', 'ada');
  t.deepEqual(claim('ada2'), ['weir.draft.node.new', 'weir.closedJobs', 'other']);
  t.deepEqual(claim('eve'), ['other']);
  items.set('weir.draft.node.new', '{}');
  t.deepEqual(claim(''), ['other']);
  t.deepEqual([...items.keys()], ['other']);
  claimStorage(() => {
    throw new Error('forbidden');
  }, 'ada');
});

test('without a session at the start nothing waits', async (t) => {
  const { session, state } = panel();
  state.isOpen = false;
  await session.check();
  t.is(session.state().kind, 'out');
});

test('a login returns to a path of the page only', (t) => {
  t.is(returnPath('/clients?search=ann'), '/clients?search=ann');
  for (const path of [
    undefined,
    '',
    'clients',
    '//evil.test',
    '/\\evil.test',
    'https://evil.test',
    '/a b',
    '/a\nb',
    '/login?returnTo=/login',
  ])
    t.is(returnPath(path), '/', String(path));
});

test('a view survives the way into the address and back, whatever is in it', (t) => {
  for (const search of [{ name: 'a&b=c' }, { name: '123' }, { name: 'سارا "x" #1' }, { name: '%00+ +' }])
    t.deepEqual(parseSearch(stringifySearch(search)), search);
  t.is(stringifySearch({ a: undefined, b: '', c: null }), '');
});

// The session of the page, with a panel that a test answers for.
import test from 'ava';
import { Weir } from '../../../sdk/index.js';
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
  const state = { isOpen: true, token: 'first' };
  const calls: Call[] = [];
  const json = (status: number, body: object) => new Response(JSON.stringify(body), { status });
  const send: typeof fetch = async (input, init = {}) => {
    const path = new URL(String(input)).pathname.replace('/secret', '');
    const method = init.method ?? 'GET';
    const csrf = new Headers(init.headers).get('x-csrf-token');
    calls.push({ path, method, csrf });
    init.signal?.throwIfAborted();
    if (path === '/csrf-token') return json(200, { success: true, obj: state.token });
    if (path === '/login') {
      state.isOpen = true;
      state.token = 'second';
      return json(200, { success: true, msg: 'logged in' });
    }
    if (!state.isOpen) return json(401, { success: false, code: 'KERNEL_UNAUTHORIZED' });
    if (method !== 'GET' && csrf !== state.token) return json(403, { success: false, code: 'KERNEL_CSRF' });
    if (path === '/panel/api/access/sessions')
      return json(200, { success: true, obj: [{ username: 'ada', current: true }] });
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

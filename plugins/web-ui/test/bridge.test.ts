// What the frame of a plugin may ask for.
import test from 'ava';
import { isAllowed, patternProblem } from '../call-pattern.js';
import { limitedText } from '../page/api/limited-text.js';
import { Bridge, type BridgeOptions, type Port } from '../page/plugin-pages/bridge.js';

const API = ['GET x/acme/entries/*', 'POST x/acme/notes', 'GET x/open/**'];

test('calls that were declared are allowed, with a query', (t) => {
  for (const [method, path] of [
    ['GET', 'x/acme/entries/7'],
    ['GET', 'x/acme/entries/a%20b?limit=3&from=..'],
    ['POST', 'x/acme/notes'],
    ['GET', 'x/open/a/b/c'],
  ] as const)
    t.true(isAllowed(API, method, path), `${method} ${path}`);
});

test('other paths, methods and ways out of a path are not', (t) => {
  for (const [method, path] of [
    ['GET', 'x/acme/notes'],
    ['POST', 'x/acme/entries/7'],
    ['get', 'x/acme/entries/7'],
    ['GET', 'x/acme/entries'],
    ['GET', 'x/acme/entries/7/8'],
    ['GET', 'x/acme/entries/'],
    ['GET', 'x/open'],
    ['GET', 'x/open/../acme'],
    ['GET', 'x/open/./a'],
    ['GET', 'x/open/%2e%2e/clients'],
    ['GET', 'x/open/.%2E/clients'],
    ['GET', 'x/open/a%2fb'],
    ['GET', 'x/open/a%5cb'],
    ['GET', 'x/open/%252e%252e/clients'],
    ['GET', 'x/open/a\\..\\b'],
    ['GET', 'x/open/a\n'],
    ['GET', 'x/open/.\t./clients'],
    ['GET', 'x/open/a#b'],
    ['GET', 'x/open//a'],
    ['GET', 'x/open/%zz'],
    ['GET', '/x/open/a'],
    ['GET', 'https://example.org/x/open/a'],
    ['GET', `x/open/${'a'.repeat(2000)}`],
    ['GET', `x/open/a?${'a'.repeat(4000)}`],
  ] as const)
    t.false(isAllowed(API, method, path), `${method} ${path.slice(0, 60)}`);
  // What is too long is not looked at.
  const huge = { length: 1e9, split: () => t.fail('a path of a gigabyte is taken apart') };
  t.false(isAllowed(API, 'GET', huge as never));
});

test('a pattern has a method and a path that begins with a name', (t) => {
  for (const pattern of API) t.is(patternProblem(pattern), undefined);
  for (const pattern of [
    'x/acme',
    'GET **',
    'GET */a',
    'GET /x',
    'GET x/../a',
    'GET x/**/a',
    'TRACE x/a',
    'GET x a',
  ])
    t.truthy(patternProblem(pattern), pattern);
});

interface Heard {
  readonly kind: string;
  readonly id?: number;
  readonly status?: number;
  readonly error?: string;
  readonly body?: unknown;
}
function open(options: Partial<BridgeOptions> = {}) {
  const frame = {};
  const sent: string[] = [];
  const heard: Heard[] = [];
  let floods = 0;
  const port: Port & { closed: boolean } = {
    closed: false,
    onmessage: null,
    postMessage: (message) => void heard.push(message as Heard),
    close() {
      this.closed = true;
    },
  };
  const bridge = new Bridge({
    api: API,
    frame: () => frame,
    context: () => ({ theme: 'dark', language: 'fa', dir: 'rtl', colors: {} }),
    send: async (method, path, body) => {
      sent.push(`${method} ${path} ${body ?? ''}`);
      return { status: 200, body: { success: true, obj: 1 } };
    },
    now: () => 0,
    onHeight: () => undefined,
    onTitle: () => undefined,
    onFlood: () => void floods++,
    ...options,
  });
  const hello = (over: object = {}) =>
    bridge.hear({ source: frame, origin: 'null', data: { kind: 'hello' }, ports: [port], ...over } as never);
  const say = (data: unknown) => port.onmessage?.({ data } as MessageEvent);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { bridge, port, sent, heard, hello, say, settle, floods: () => floods };
}

test('only the frame is heard, and only without an origin', (t) => {
  const { hello, heard } = open();
  hello({ source: {} });
  hello({ source: null });
  hello({ origin: 'https://example.org' });
  hello({ data: 'hello' });
  hello({ ports: [] });
  t.deepEqual(heard, []);
  hello();
  t.like(heard[0], { kind: 'context', theme: 'dark', dir: 'rtl' });
});

test('a declared call is sent and answered, any other refused', async (t) => {
  const { hello, say, sent, heard, settle } = open();
  hello();
  say({ kind: 'call', id: 1, method: 'GET', path: 'x/acme/entries/7' });
  say({ kind: 'call', id: 2, method: 'GET', path: 'clients/list' });
  say({ kind: 'call', id: 3, method: 'DELETE', path: 'x/acme/notes' });
  say({ kind: 'call', id: 4, method: 'POST', path: 'x/acme/notes', body: 'a'.repeat(300_000) });
  for (const data of [null, 7, 'x', [], { kind: 'call' }, { kind: 'height', pixels: Number.NaN }]) say(data);
  await settle();
  t.deepEqual(sent, ['GET x/acme/entries/7 ']);
  const statuses = heard.filter(({ kind }) => kind === 'answer').map(({ id, status }) => [id, status]);
  t.deepEqual(statuses.sort(), [
    [1, 200],
    [2, 403],
    [3, 403],
    [4, 400],
  ]);
});

test('a body is a text of the frame: the page makes none out of what the frame sends', async (t) => {
  const { hello, say, sent, heard, settle } = open();
  hello();
  // Of a few bytes, as a list without items is; its JSON has gigabytes.
  const body = { toJSON: () => t.fail('the page has made JSON of it') };
  say({ kind: 'call', id: 1, method: 'POST', path: 'x/acme/notes', body });
  say({ kind: 'call', id: 2, method: 'POST', path: 'x/acme/notes', body: '{"text":"a"}' });
  await settle();
  t.deepEqual(
    heard.filter(({ kind }) => kind === 'answer').map(({ id, status }) => [id, status]),
    [
      [1, 400],
      [2, 200],
    ],
  );
  t.deepEqual(sent, ['POST x/acme/notes {"text":"a"}']);
});

test('calls of a document that is gone are given up, and are not sent after a login', async (t) => {
  const signals: AbortSignal[] = [];
  const { bridge, hello, say } = open({
    send: (_, __, ___, signal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
  });
  const call = (id: number) => say({ kind: 'call', id, method: 'GET', path: 'x/acme/entries/7' });
  hello();
  call(1);
  t.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false],
  );
  // Another document in the frame.
  hello();
  call(2);
  t.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  );
  bridge.end();
  t.true(signals[1]?.aborted);
});

test('an answer that is too long is not loaded to its end', async (t) => {
  let chunks = 0;
  let isCancelled = false;
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => {
          chunks++;
          controller.enqueue(new Uint8Array(1024).fill(0x61));
        },
        cancel: () => void (isCancelled = true),
      }),
    );
  t.is(await limitedText(endless(), 10_000), undefined);
  t.true(isCancelled);
  t.true(chunks < 20);
  t.is(await limitedText(new Response('سلام'), 8), 'سلام');
  t.is(await limitedText(new Response('سلام'), 7), undefined);
  t.is(await limitedText(new Response(null), 7), '');
});

test('at most four calls wait at once', async (t) => {
  const { hello, say, heard, settle } = open({ send: () => new Promise(() => undefined) });
  hello();
  for (let id = 1; id <= 6; id++) say({ kind: 'call', id, method: 'GET', path: 'x/acme/entries/7' });
  await settle();
  t.deepEqual(
    heard.filter(({ status }) => status === 429).map(({ id }) => id),
    [5, 6],
  );
});

test('a frame that says something all the time is no flood', (t) => {
  let now = 0;
  const { hello, say, port, floods } = open({ now: () => now });
  hello();
  for (let second = 0; second < 5; second++) {
    now = second * 1000;
    for (let i = 0; i < 60; i++) say({ kind: 'title', text: 'x' });
  }
  t.is(floods(), 0);
  t.false(port.closed);
});

test('a frame that floods is ended once', (t) => {
  const { hello, say, port, floods } = open();
  hello();
  for (let i = 0; i < 500; i++) say({ kind: 'title', text: 'x' });
  t.is(floods(), 1);
  t.true(port.closed);
});

// The answer in one write is Node's own, byte for byte, and the connection goes on after it as after any other.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { OneWrite } from '../one-write.js';

const BODY = 'aGVsbG8=';
const LARGE = 'x'.repeat(8_000_000);
const BODIES: Readonly<Record<string, string>> = { '/2/other': 'größer', '/2/large': LARGE };
const FIXED = { list: ['Content-Type', 'text/plain'], text: 'Content-Type: text/plain\r\n' };
const OWN = ['Subscription-Userinfo', 'upload=0', 'Profile-Title', 'base64:eA=='];

/** Answers `/<second>/…` as at that second. `byNode` are the paths of those answers whose head Node wrote. */
async function serve(t: ExecutionContext) {
  const oneWrite = new OneWrite();
  const byNode: string[] = [];
  const server = createServer((request, response) => {
    const { url = '' } = request;
    const writeHead = response.writeHead.bind(response) as (
      status: number,
      headers: string[],
    ) => typeof response;
    if (url.endsWith('/deaf')) Object.assign(response, { emit: () => false });
    Object.assign(response, {
      writeHead: (status: number, headers: string[]) => {
        byNode.push(url);
        return writeHead(status, headers);
      },
    });
    oneWrite.send(
      request,
      response,
      url.endsWith('/known') ? 304 : 200,
      { fixed: FIXED, own: OWN, body: BODIES[url] ?? BODY },
      1000 * Number(url.split('/')[1]),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { port: (server.address() as AddressInfo).port, byNode };
}

/** A connection on which requests are sent, and as many answers read, without their date. */
function talkTo(t: ExecutionContext, port: number) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  t.teardown(() => socket.destroy());
  const incoming = socket[Symbol.asyncIterator]() as AsyncIterator<string>;
  let text = '';
  const answer = async (): Promise<string> => {
    for (;;) {
      const head = text.indexOf('\r\n\r\n') + 4;
      const end = head + Number(/\r\nContent-Length: (\d+)\r\n/.exec(text.slice(0, head))?.[1] ?? 0);
      if (head > 3 && text.length >= end) {
        const whole = text.slice(0, end);
        text = text.slice(end);
        return whole.replace(/Date: [^\r]+ GMT/, 'Date: then');
      }
      const { value, done } = await incoming.next();
      if (done) throw new Error(`the connection ended after ${JSON.stringify(text)}`);
      text += value;
    }
  };
  return {
    ask: async (...requests: string[]): Promise<string[]> => {
      socket.write(requests.join(''));
      const answers: string[] = [];
      for (const _ of requests) answers.push(await answer());
      return answers;
    },
    ended: async (): Promise<boolean> => (await incoming.next()).done === true && text === '',
  };
}
const get = (path: string, { version = '1.1', more = '' } = {}): string =>
  `GET ${path} HTTP/${version}\r\nHost: x\r\n${more}\r\n`;

test('one after another on a connection: the same bytes as from Node, which writes the first head of every second', async (t) => {
  const { port, byNode } = await serve(t);
  const { ask } = talkTo(t, port);
  const [byTheBook = ''] = await ask(get('/1'));
  t.regex(
    byTheBook,
    /^HTTP\/1\.1 200 OK\r\nContent-Type: text\/plain\r\nSubscription-Userinfo: upload=0\r\nProfile-Title: base64:eA==\r\nContent-Length: 8\r\nDate: then\r\n/,
  );
  t.true(byTheBook.endsWith(`\r\n\r\n${BODY}`));
  for (const path of ['/1/a', '/1/b', '/2', '/2/a', '/2/b'])
    t.deepEqual(await ask(get(path)), [byTheBook], path);
  t.deepEqual(byNode, ['/1', '/2']);
});

test('a body that the program has is a 304, with the same bytes as from Node', async (t) => {
  const { port, byNode } = await serve(t);
  const { ask } = talkTo(t, port);
  const [byTheBook = ''] = await ask(get('/1/known'));
  t.true(byTheBook.startsWith('HTTP/1.1 304 Not Modified\r\n'));
  t.false(byTheBook.includes('Content-Length'));
  const [whole = ''] = await ask(get('/2'));
  t.deepEqual(await ask(get('/2/known'), get('/2/y')), [byTheBook, whole]);
  t.deepEqual(await ask(get('/2/x/known')), [byTheBook]);
  await ask(get('/3/known'));
  t.deepEqual(await ask(get('/3')), [whole]);
  t.deepEqual(byNode, ['/1/known', '/2', '/2/y', '/3/known']);
});

test('where Node does not take a reply for ended, its connection is closed, and Node writes all others', async (t) => {
  const { port, byNode } = await serve(t);
  const { ask, ended } = talkTo(t, port);
  const [first = ''] = await ask(get('/2'));
  t.deepEqual(await ask(get('/2/deaf')), [first]);
  t.true(await ended());
  const again = talkTo(t, port);
  t.deepEqual(await again.ask(get('/2/a'), get('/2/b')), [first, first]);
  t.deepEqual(byNode, ['/2', '/2/a', '/2/b']);
});

test('requests that are sent without waiting are answered in their order', async (t) => {
  const { port } = await serve(t);
  const { ask } = talkTo(t, port);
  const [first = ''] = await ask(get('/2'));
  const other = first.replace(BODY, Buffer.from('größer').toString('latin1'));
  t.deepEqual(await ask(get('/2/a'), get('/2/other'), get('/2/b')), [first, other, first]);
});

test('a body that the connection cannot take at once arrives whole, and the next answer after it', async (t) => {
  const { port, byNode } = await serve(t);
  const { ask } = talkTo(t, port);
  const [first = ''] = await ask(get('/2'));
  const [large = '', next] = await ask(get('/2/large'), get('/2/a'));
  t.true(large.endsWith(`\r\n\r\n${LARGE}`));
  t.is(next, first);
  t.false(byNode.includes('/2/large'));
});

test('a request that ends its connection gets it ended', async (t) => {
  const { port } = await serve(t);
  for (const last of [get('/2', { more: 'Connection: close\r\n' }), get('/2', { version: '1.0' })]) {
    const { ask, ended } = talkTo(t, port);
    await ask(get('/2'), get('/2'));
    const [answer = ''] = await ask(last);
    t.regex(answer, /\r\nConnection: close\r\n\r\naGVsbG8=$/);
    t.true(await ended());
  }
});

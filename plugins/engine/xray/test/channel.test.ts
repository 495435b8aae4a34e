// The channel against an HTTP/2 server of our own, which answers as a core does, and as none should.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { CallError, Channel } from '../channel.js';
import { STATUS } from '../status.js';

const TIMEOUT = { timeout: 20_000 };
const MESSAGE = Buffer.from('question');

interface Setup {
  readonly socket: string;
  readonly channel: Channel;
  listen(answer: (stream: ServerHttp2Stream) => void): Promise<() => void>;
}

async function setup(t: ExecutionContext): Promise<Setup> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-channel-'));
  const socket = join(folder, 'api.sock');
  const channel = new Channel(socket);
  const servers: Http2Server[] = [];
  t.teardown(async () => {
    channel.close();
    for (const server of servers) server.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    socket,
    channel,
    async listen(answer) {
      const server = createServer();
      const sessions = new Set<{ destroy(): void }>();
      servers.push(server);
      server.on('session', (session) => sessions.add(session));
      server.on('stream', (stream) => {
        stream.on('error', () => undefined);
        answer(stream);
      });
      server.listen(socket);
      await once(server, 'listening');
      return () => {
        server.close();
        for (const session of sessions) session.destroy();
      };
    },
  };
}

const framed = (body: Buffer): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
};

/** Sends these bytes, and then these trailers. */
function send(stream: ServerHttp2Stream, bytes: Buffer, trailers: Record<string, string>): void {
  // The caller may have given up meanwhile.
  if (stream.destroyed) return;
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(bytes);
}

/** Answers with what it was asked. */
function echo(stream: ServerHttp2Stream): void {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  stream.on('end', () => send(stream, Buffer.concat(parts), { 'grpc-status': '0' }));
}

const failure = (t: ExecutionContext, call: Promise<unknown>): Promise<CallError> =>
  t.throwsAsync(call, { instanceOf: CallError }) as Promise<CallError>;

test('many calls at once, each with its own reply', async (t) => {
  const { channel, listen } = await setup(t);
  await listen(echo);
  const asked = Array.from({ length: 500 }, (_, n) => Buffer.from(`question ${n}`));
  t.deepEqual(await Promise.all(asked.map((message) => channel.call('/a/b', message, TIMEOUT))), asked);
});

test('a reply that is larger than any window comes whole', async (t) => {
  const { channel, listen } = await setup(t);
  const large = Buffer.alloc(12 << 20, 'x');
  await listen((stream) => send(stream, framed(large), { 'grpc-status': '0' }));
  t.true((await channel.call('/a/b', MESSAGE, TIMEOUT)).equals(large));
});

test('an error of the core comes with its code and its text, escaped or not', async (t) => {
  const { channel, listen } = await setup(t);
  const texts = ['User%20i1.c2%20%E2%80%A6', 'a lone % sign'];
  await listen((stream) =>
    stream.respond(
      { ':status': 200, 'grpc-status': '2', 'grpc-message': texts.shift() ?? '' },
      { endStream: true },
    ),
  );
  const { code, details } = await failure(t, channel.call('/a/b', MESSAGE, TIMEOUT));
  t.deepEqual([code, details], [STATUS.UNKNOWN, 'User i1.c2 …']);
  t.is((await failure(t, channel.call('/a/b', MESSAGE, TIMEOUT))).details, 'a lone % sign');
});

test('a reply without a status, of another program, or cut short is none', async (t) => {
  const { channel, listen } = await setup(t);
  const answers: ((stream: ServerHttp2Stream) => void)[] = [
    (stream) => send(stream, framed(MESSAGE), {}),
    (stream) => stream.respond({ ':status': 404 }, { endStream: true }),
    (stream) => send(stream, framed(MESSAGE).subarray(0, 7), { 'grpc-status': '0' }),
    (stream) => stream.close(),
  ];
  await listen((stream) => answers.shift()?.(stream));
  for (const _ of [...answers])
    t.is((await failure(t, channel.call('/a/b', MESSAGE, TIMEOUT))).code, STATUS.UNAVAILABLE);
});

test('a call without a reply ends at its time, and the next one is answered', async (t) => {
  const { channel, listen } = await setup(t);
  let isSilent = true;
  await listen((stream) => (isSilent ? undefined : echo(stream)));
  t.is((await failure(t, channel.call('/a/b', MESSAGE, { timeout: 50 }))).code, STATUS.DEADLINE_EXCEEDED);
  isSilent = false;
  t.deepEqual(await channel.call('/a/b', MESSAGE, TIMEOUT), MESSAGE);
});

test('nobody listens: a call fails at once, or waits until somebody does', async (t) => {
  const { channel, listen } = await setup(t);
  t.is((await failure(t, channel.call('/a/b', MESSAGE, TIMEOUT))).code, STATUS.UNAVAILABLE);
  const waiting = channel.call('/a/b', MESSAGE, { ...TIMEOUT, waitForReady: true });
  await sleep(200);
  await listen(echo);
  t.deepEqual(await waiting, MESSAGE);
  await failure(t, new Channel('/nowhere.sock').call('/a/b', MESSAGE, { timeout: 120, waitForReady: true }));
});

test('a lost connection fails the calls under way, and the next call connects again', async (t) => {
  const { channel, listen } = await setup(t);
  const kill = await listen(() => undefined);
  const lost = failure(t, channel.call('/a/b', MESSAGE, TIMEOUT));
  await sleep(100);
  kill();
  t.is((await lost).code, STATUS.UNAVAILABLE);
  await listen(echo);
  t.deepEqual(await channel.call('/a/b', MESSAGE, TIMEOUT), MESSAGE);
});

test('a closed channel fails the calls under way and all later ones', async (t) => {
  const { channel, listen } = await setup(t);
  await listen(() => undefined);
  const lost = failure(t, channel.call('/a/b', MESSAGE, TIMEOUT));
  await sleep(100);
  channel.close();
  t.is((await lost).code, STATUS.UNAVAILABLE);
  t.is(
    (await failure(t, channel.call('/a/b', MESSAGE, { ...TIMEOUT, waitForReady: true }))).code,
    STATUS.UNAVAILABLE,
  );
});

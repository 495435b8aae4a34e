// Batches whose outbounds crash the core, or with which it does not start; the core is a stand-in.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../engine/contract.js';
import { Batch } from '../batch.js';
import { failuresIn } from '../core-words.js';

const candidate = (tag: string, protocol = 'socks') => ({
  tag,
  outbound: { tag, protocol },
  members: [{ tag, protocol }],
});
interface Config {
  readonly outbounds: readonly { readonly tag: string; readonly protocol: string }[];
  readonly routing: {
    readonly rules: readonly { readonly user: readonly string[]; readonly outboundTag: string }[];
  };
}

/** A core that crashes at the first connection of an outbound `crash`, rejects `reject`, and does not start with `stuck`. */
async function world(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const said = { starts: 0, tests: 0, running: 0, most: 0 };
  let server: Server | undefined;
  const stop = async (): Promise<void> => {
    if (!server) return;
    server.close();
    server = undefined;
    said.running -= 1;
  };
  const has = ({ outbounds }: Config, protocol: string) =>
    outbounds.some((outbound) => outbound.protocol === protocol);
  const core = {
    prepare: async () => join(folder, 's'),
    stop,
    rejection: async (json: JsonObject) => {
      said.tests += 1;
      return has(json as unknown as Config, 'reject') ? 'no such thing' : undefined;
    },
    start: async (json: JsonObject, socket: string) => {
      said.starts += 1;
      const config = json as unknown as Config;
      if (has(config, 'reject') || has(config, 'stuck')) return 'it ended by itself';
      await rm(socket, { force: true });
      let death: string | undefined;
      let die = (): void => undefined;
      const died = new Promise<void>((resolve) => (die = resolve));
      const listener = createServer((client) => {
        client.on('error', () => undefined);
        client.once('data', (head: Buffer) => {
          const [, login = ''] = /Basic (\S+)/.exec(head.toString()) ?? [];
          const user = Buffer.from(login, 'base64').toString().split(':')[0] ?? '';
          const rule = config.routing.rules.find((one) => one.user.includes(user));
          const outbound = config.outbounds.find(({ tag }) => tag === rule?.outboundTag);
          client.write('HTTP/1.1 200 OK\r\n\r\n');
          if (outbound?.protocol === 'crash') {
            setTimeout(() => {
              death = 'panic: nil';
              die();
            }, 50);
            client.destroy();
          } else {
            // The answer comes after the crash.
            client.on('data', () =>
              setTimeout(
                () =>
                  death === undefined ? client.end('HTTP/1.1 204 No Content\r\n\r\n') : client.destroy(),
                150,
              ),
            );
          }
        });
      });
      server = listener;
      said.running += 1;
      said.most = Math.max(said.most, said.running);
      listener.listen(socket);
      await once(listener, 'listening');
      return {
        socket,
        get death() {
          return death;
        },
        died,
        output: async () => '',
      };
    },
  };
  const run = (candidates: readonly ReturnType<typeof candidate>[], signal = new AbortController().signal) =>
    new Batch(core, { url: new URL('http://target.example/'), warm: false }, signal).run(candidates);
  return { said, run };
}

test('an outbound that crashes the core is alone in the end, and all others have a result', async (t) => {
  const { said, run } = await world(t);
  const results = await run(
    Array.from({ length: 13 }, (_, at) => candidate(`o${at}`, at === 4 ? 'crash' : 'socks')),
  );
  for (let at = 0; at < 13; at++) t.is(results.get(`o${at}`)?.success, at !== 4, `o${at}`);
  t.is(results.get('o4')?.error, 'the core crashes with it: panic: nil');
  t.deepEqual([said.running, said.most], [0, 1], 'one core at a time, and none is left');
});

test('what the core rejects, and that with which it does not start, do not touch the others', async (t) => {
  const { said, run } = await world(t);
  const results = await run([
    candidate('a'),
    candidate('b', 'reject'),
    candidate('c', 'stuck'),
    candidate('d'),
    candidate('e', 'crash'),
  ]);
  t.is(results.get('a')?.success, true);
  t.is(results.get('b')?.error, 'the core rejects it: no such thing');
  t.is(results.get('c')?.error, 'the core does not start with it: it ended by itself');
  t.is(results.get('d')?.success, true);
  t.is(results.get('e')?.error, 'the core crashes with it: panic: nil');
  t.is(said.running, 0);
});

test('a stop ends the batch', async (t) => {
  const { said, run } = await world(t);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 50);
  const results = await run([candidate('a'), candidate('b')], stop.signal);
  t.is(results.get('a')?.error, 'the test was stopped');
  t.deepEqual([said.starts, said.running], [1, 0]);
});

test("the core's words name the last cause of each outbound", (t) => {
  const failures =
    failuresIn(`2026/11/23 08:58:58.1 [Info] [11] app/dispatcher: taking detour [o1] for [tcp:a.example:80]
2026/11/23 08:58:58.2 [Info] [12] app/dispatcher: taking detour [o2] for [tcp:a.example:80]
2026/11/23 08:58:58.3 [Warning] [11] app/proxyman/outbound: failed to process outbound traffic > proxy/socks: failed to find an available destination > common/retry: [dial tcp 127.0.0.1:9: connect: connection refused] > common/retry: all retry attempts failed
2026/11/23 08:58:58.4 [Info] [12] proxy/http: failed to read response > EOF
2026/11/23 08:58:58.4 [Warning] [13] app/proxyman/outbound: failed to process > x
noise`);
  t.deepEqual([...failures], [['o1', 'dial tcp 127.0.0.1:9: connect: connection refused']]);
});

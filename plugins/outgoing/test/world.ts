// Calls of one plugin against servers on loopback.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ExecutionContext } from 'ava';
import type { Clock } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import type { Resolve } from '../address-guard.js';
import type { OutgoingAccess, OutgoingFetch, WayOut } from '../contract.js';
import { OutgoingError, WaysOut } from '../contract.js';
import { patternOf } from '../destination.js';
import { proxyOf } from '../proxy.js';
import { OutgoingCalls } from '../service.js';

export interface World {
  readonly hosts?: OutgoingAccess['hosts'];
  readonly limits?: OutgoingAccess['limits'];
  /** entries of `WEIR_OUTGOING_ALLOW`, for all plugins */
  readonly allow?: readonly string[];
  readonly resolve?: Resolve;
  readonly proxy?: string;
  readonly ownPorts?: readonly number[];
  readonly clock?: Clock;
  readonly stop?: AbortSignal;
  readonly faults?: unknown[];
  readonly ways?: readonly WayOut[];
}

/** A name server that answers as the test says, and writes down how often it was asked. */
export function nameServer(answers: Readonly<Record<string, readonly string[]>>): {
  resolve: Resolve;
  asked: string[];
} {
  const asked: string[] = [];
  const resolve: Resolve = (name, _, done) => {
    asked.push(name);
    const found = answers[name];
    if (found)
      done(
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    else done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []);
  };
  return { resolve, asked };
}

export const fetchOf = (world: World = {}): OutgoingFetch => {
  const { calls, access } = callsOf(world);
  return calls.for(access);
};

export function callsOf(world: World = {}): { calls: OutgoingCalls; access: OutgoingAccess } {
  const access: OutgoingAccess = {
    hosts: world.hosts ?? ['127.0.0.1'],
    ...(world.limits && { limits: world.limits }),
  };
  const allow = (world.allow ?? ['127.0.0.1']).map((text) => {
    const pattern = patternOf(text);
    if (!pattern) throw new Error(`${text} is no pattern`);
    return { plugin: undefined, pattern };
  });
  const fault = (where: string, error: unknown) => world.faults?.push([where, error]);
  const calls = new OutgoingCalls(
    {
      listeners: {
        places: () => (world.ownPorts ?? []).map((port) => ({ name: 'panel', host: '127.0.0.1', port })),
      },
      contributions: ((point: unknown) =>
        point === WaysOut
          ? (world.ways ?? []).map((value) => ({ plugin: 'way', value, fault }))
          : [{ plugin: 'acme', value: access, fault }]) as never,
      clock: world.clock ?? new FakeClock(0),
      signal: world.stop ?? new AbortController().signal,
      config: { allow, ...(world.proxy && { proxy: proxyOf(world.proxy) }) },
    },
    ...(world.resolve ? [world.resolve] : []),
  );
  return { calls, access };
}

/** A server on loopback until the end of the test. */
export async function serve(
  t: ExecutionContext,
  answer: RequestListener,
): Promise<{ url: string; port: number }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port };
}

/** The error that the call, or the reading of its body, ends with. */
export async function failure(call: Promise<Response | TLSSocket>): Promise<OutgoingError> {
  const error: unknown = await call
    .then((answer) => ('text' in answer ? answer.text() : 'a handshake'))
    .then(
      (text) => new Error(`it was answered: ${text.slice(0, 100)}`),
      (reason: unknown) => reason,
    );
  if (!(error instanceof OutgoingError)) throw error;
  return error;
}

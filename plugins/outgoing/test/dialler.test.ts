// The connected socket is asked as well, so that a look-up that lets something through is not the last word.
import { request } from 'node:http';
import test from 'ava';
import type { AddressGuard } from '../address-guard.js';
import { OutgoingError } from '../contract.js';
import { agentOf } from '../dialler.js';
import { serve } from './world.js';

test('a connection to an address that is not permitted is ended before anything is sent', async (t) => {
  let heard = 0;
  const { port } = await serve(t, (_, response) => {
    heard++;
    response.end('x');
  });
  const guard = {
    check: () => {
      throw new OutgoingError('address', 'not there');
    },
    lookup: () => (_: string, __: object, done: (error: null, found: object[]) => void) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]),
  } as unknown as AddressGuard;
  const agent = agentOf(false, {
    guard,
    resolve: () => undefined,
    proxy: undefined,
    signal: new AbortController().signal,
    host: 'example.com',
    destination: { host: 'example.com', isAddress: false, port },
  });
  const error = await new Promise((done) => {
    const call = request({ host: 'example.com', port, agent }, () => done('it was answered'));
    call.on('error', done);
    call.end();
  });
  t.is((error as Error).message, 'not there');
  t.is(heard, 0);
});

// Names are looked up two at once, and those that nobody waits for are not.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { Resolve } from '../address-guard.js';
import { Lookups } from '../lookups.js';
import { callsOf, failure } from './world.js';

test('two names at once; a name that nobody waits for any longer is not looked up', (t) => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const lookups = new Lookups((name, _, done) => {
    asked.push(name);
    answers.push(() => done(null, [{ address: '192.0.2.1', family: 4 }]));
  });
  const found: string[] = [];
  const look = (name: string, signal?: AbortSignal): void =>
    lookups.resolve(name, { all: true }, (error) => found.push(error ? error.message : name), signal);
  const leave = new AbortController();
  look('a');
  look('b');
  look('c', leave.signal);
  look('d', new AbortController().signal);
  t.deepEqual(asked, ['a', 'b']);
  leave.abort(new Error('c left'));
  answers[0]?.();
  t.deepEqual(asked, ['a', 'b', 'd']);
  answers[1]?.();
  answers[2]?.();
  for (const name of ['e', 'f', 'g']) look(name);
  t.deepEqual(asked, ['a', 'b', 'd', 'e', 'f']);
  t.deepEqual(found, ['c left', 'a', 'b', 'd']);
});

test('a look-up that throws does not hold up the next', (t) => {
  const lookups = new Lookups(() => {
    throw new Error('no such option');
  });
  const found: (string | undefined)[] = [];
  for (const name of ['a', 'b', 'c'])
    lookups.resolve(name, { all: true }, (error) => found.push(error?.message));
  t.deepEqual(found, ['no such option', 'no such option', 'no such option']);
});

test('handshakes that are over leave no look-ups behind', async (t) => {
  const asked: string[] = [];
  // A name server that never answers.
  const resolve: Resolve = (name) => void asked.push(name);
  const { calls, access } = callsOf({ hosts: ['*.example.com'], resolve });
  const late = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) =>
      failure(calls.handshake(access, `${name}.example.com`, { limits: { connectMs: 50 } })),
    ),
  );
  t.deepEqual(
    late.map(({ code }) => code),
    ['time', 'time', 'time', 'time'],
  );
  await sleep(20);
  t.deepEqual(asked, ['a.example.com', 'b.example.com']);
});

// `npm run bench -- hostile`: how long the subscription listener keeps others waiting under each of these requests.
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../harness/api.js';
import { PanelProcess } from '../harness/panel-process.js';
import { Caller } from './caller.js';
import { admin } from './hostile-admin.js';
import { anonymous, type Hostile } from './hostile-anonymous.js';
import { seed, subIdOf } from './seed.js';
import { Watcher } from './watcher.js';

const GOAL_MS = 100;
const TRIES = 3;
const say = (text: string) => void process.stdout.write(`${text}\n`);
const row = (name: string, stalls: readonly number[], answer: string) =>
  say(`${name.padEnd(56)}${stalls.map((stall) => `${stall.toFixed(0)} ms`.padStart(9)).join('')}  ${answer}`);

/** `only` is a part of the names of those to be run. */
export async function benchHostile(clients: number, only = ''): Promise<void> {
  const panel = await PanelProcess.start();
  const inboundIds: number[] = [];
  for (const network of ['tcp', 'ws'])
    inboundIds.push(await panel.addInbound({ port: await freePort(), streamSettings: { network } }));
  await seed(panel, clients, inboundIds);
  const caller = new Caller(
    panel,
    inboundIds,
    Array.from({ length: clients }, (_, n) => `user${n}@bench`),
  );
  const watcher = new Watcher(`${panel.ready.subUrl}${subIdOf(0)}`);
  let worst = 0;
  const measure = async ([name, run]: Hostile) => {
    const stalls: number[] = [];
    let answer = '';
    for (let n = 0; n < TRIES; n++) {
      await sleep(100);
      await watcher.longest();
      answer = await run(caller);
      stalls.push(await watcher.longest());
    }
    stalls.sort((a, b) => a - b);
    worst = Math.max(worst, stalls[TRIES >> 1] ?? 0);
    row(`${(stalls[TRIES >> 1] ?? 0) > GOAL_MS ? '! ' : '  '}${name}`, stalls, answer);
  };
  try {
    say(
      `${clients} clients; longest wait for a subscription under each request, ${TRIES} tries, sorted; then the answer`,
    );
    await measure(['(nothing)', () => sleep(1000, '')]);
    for (const [title, cases] of [
      ['anonymous', anonymous],
      ['with a login', admin],
    ] as const) {
      say(`\n${title}`);
      for (const hostile of cases.filter(([name]) => name.includes(only))) await measure(hostile);
    }
    say(`\nlongest of the medians: ${worst.toFixed(0)} ms (the goal: ${GOAL_MS} ms)`);
  } finally {
    watcher.stop();
    await panel.dispose();
  }
}

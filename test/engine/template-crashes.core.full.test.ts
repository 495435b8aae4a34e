// Panel and core die at any moment of a save of the template: afterwards the stored template, the plan and what the core does agree.
import test from 'ava';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreChange } from '../../plugins/engine/contract.js';
import type { PanelProcess } from '../harness/panel-process.js';
import { connect, openServer, spawnPanel } from './user.js';

const ROUNDS = 20;
const LONGEST_MS = 700;

/** Every second one blocks the far server; each has another outbound and another section. */
const template = (round: number, port: number): string =>
  JSON.stringify({
    outbounds: [
      { tag: 'direct', protocol: 'freedom' },
      { tag: `hole-${round}`, protocol: 'blackhole' },
    ],
    ...(round % 5 === 4 && { policy: { levels: { 0: { connIdle: 300 + round } } } }),
    routing: {
      rules: [
        { port: '1', outboundTag: 'direct' },
        ...(round % 2 === 0 ? [{ port: String(port), outboundTag: `hole-${round}` }] : []),
      ],
    },
  });

test('the stored template, the plan and the core agree after each crash', async (t) => {
  t.timeout(600_000);
  let panel: PanelProcess = await spawnPanel(t);
  const inbound = await panel.addInbound();
  await panel.addClient('a', [inbound]);
  const far = await openServer(t);
  const user = await connect(t, panel, 'a', far);
  const stored = async (): Promise<string> =>
    (await panel.get<{ engineSetting: string }>('/panel/api/engine/', { method: 'POST' })).engineSetting;
  const agrees = async (): Promise<boolean> => {
    const { change } = await panel.get<CoreChange>('/panel/api/engine/plan');
    return change === 'none';
  };
  const outcomes: string[] = [];
  const known = new Set([JSON.stringify(JSON.parse(await stored()))]);
  for (let round = 0; round < ROUNDS; round++) {
    const next = template(round, far.port);
    const saving = panel.call('/panel/api/engine/update', { body: { engineSetting: next } }).then(
      ({ status, body }) => (status === 200 && body.msg.endsWith('in force') ? 'in force' : String(status)),
      () => 'no answer',
    );
    known.add(next);
    await sleep(Math.random() * LONGEST_MS);
    if (round % 2 === 0) {
      await panel.kill('SIGKILL');
      await saving;
      panel = await spawnPanel(t, { dataDirectory: panel.dataDirectory });
    } else {
      const core = await panel.corePid();
      if (core !== undefined) process.kill(core, 'SIGKILL');
      await saving;
    }
    // What is stored may still change: a template with which no core ran yet goes when a core fails.
    const isRight = async (): Promise<boolean> =>
      (await agrees()) && (await user.served()) !== (await stored()).includes(String(far.port));
    const deadline = Date.now() + 60_000;
    while (!(await isRight()) && Date.now() < deadline) await sleep(200);
    t.true(await isRight(), `round ${round}: the core does what the stored template says`);
    const after = await stored();
    const text = JSON.stringify(JSON.parse(after));
    const isNew = text === next;
    t.true(known.has(text), `round ${round}: one of the templates is stored, whole`);
    const answer = await saving;
    if (answer === 'in force') t.true(isNew, `round ${round}: what was said to be in force stays`);
    outcomes.push(`${round % 2 === 0 ? 'panel' : 'core'} ${answer} ${isNew ? 'new' : 'old'}`);
  }
  t.log(outcomes.join(', '));
});

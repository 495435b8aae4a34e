// A core that exits again and again: the first reason stays in sight.
import test from 'ava';
import { agrees } from './agrees.js';
import { engineOf, openPanel } from './user.js';

test('the API shows the first reason of a loop, with the core’s own words, and nothing after a restart by an admin', async (t) => {
  const panel = await openPanel(t);
  const result = () => panel.get<string>('/panel/api/engine/getEngineResult');
  t.is(await result(), '');
  /** Sends the signal to the core that runs, and waits for the next one. */
  const crash = async (signal: NodeJS.Signals) => {
    const pid = (await panel.corePid()) ?? 0;
    process.kill(pid, signal);
    await panel.until(async () => (await engineOf(panel)).state === 'error', 'the panel notices');
    const said = await result();
    await panel.until(
      async () =>
        ![undefined, pid].includes(await panel.corePid()) && (await engineOf(panel)).state === 'running',
      'the next core runs',
    );
    return said;
  };
  t.is(await crash('SIGABRT'), 'SIGABRT: abort');
  t.is(await result(), '', 'one crash is no loop');
  const loop =
    /^SIGABRT: abort \(the first of 2 failures in a row since 2\S+Z; the latest: the core exited without a message \(killed by SIGKILL\); see \S+error\.log\)$/;
  t.regex(await crash('SIGKILL'), loop);
  t.regex(await result(), /^the core exits again and again: SIGABRT: abort \(the first of 2 failures/);
  t.is((await engineOf(panel)).errorMsg, await result());
  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  t.is(await result(), '');
  await agrees(t, panel);
});

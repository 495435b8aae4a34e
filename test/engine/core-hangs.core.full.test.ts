// A core that holds its ports and answers nothing: edits do not wait for it, and it is replaced. Takes half a minute.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { agrees } from './agrees.js';
import { connect, counted, engineOf, MIB, openPanel, openServer, usageOf } from './user.js';

test('a core that hangs is found out and replaced, no edit waits for ever, and what was counted stays', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const id = await panel.addInbound();
  await panel.addClient('a', [id]);
  const user = await connect(t, panel, 'a', server);
  await user.download(MIB);
  const before = await counted(panel, 'a', MIB);
  const core = (await panel.corePid()) ?? 0;
  const [port] = await panel.get<{ port: number }[]>('/panel/api/inbounds/list');

  process.kill(core, 'SIGSTOP');
  t.teardown(() => {
    try {
      process.kill(core, 'SIGCONT');
    } catch {
      // It is gone, as it should be.
    }
  });
  const began = performance.now();
  const since = (): number => performance.now() - began;
  const waits: number[] = [];
  /** One edit after another, as admins would make them. */
  const edits = (async () => {
    for (let n = 0; (await panel.corePid()) === core && since() < 60_000; n++) {
      const at = performance.now();
      await panel.addClient(`new-${n}`, [id]);
      waits.push(performance.now() - at);
      await sleep(500);
    }
  })();
  await sleep(8000);
  t.regex((await engineOf(panel)).errorMsg, /^the core has not answered for \d+ s$/);
  t.regex(await panel.get<string>('/panel/api/engine/getEngineResult'), /^the core has not answered for/);
  const polled = performance.now();
  await panel.get('/panel/api/clients/del/new-0?keepTraffic=1', { method: 'POST' });
  const deleted = Math.round(performance.now() - polled);
  t.true(deleted < 10_000, `an edit that polls first took ${deleted} ms`);
  await panel.until(
    async () => ![undefined, core].includes(await panel.corePid()),
    'another core runs',
    60_000,
  );
  const took = since();
  await edits;
  t.log(
    `replaced after ${Math.round(took)} ms; the longest of ${waits.length} edits took ${Math.round(Math.max(...waits))} ms`,
  );
  t.true(took > 20_000 && took < 40_000, `${took} ms`);
  t.true(waits.length > 10);
  t.true(Math.max(...waits) < 12_000, 'no edit takes longer than its own call');
  t.like(panel.said('the core runs and does not answer; killing it to start another'), { pid: core });
  t.regex(
    String(panel.said('the core exited; bytes since the last poll are not counted')?.['reason']),
    new RegExp(`^the core \\(pid ${core}\\) did not answer for \\d+ s and was killed$`),
  );
  await panel.until(async () => (await engineOf(panel)).state === 'running', 'the panel knows it');
  t.is(await panel.get('/panel/api/engine/getEngineResult'), '');
  t.true(await user.served());
  t.truthy(port);
  t.true(await (await connect(t, panel, 'new-3', server)).served(), 'the edits are in the new core');
  t.true((await usageOf(panel, 'a')).down >= before);
  await agrees(t, panel);
});

test('a panel stops in time although its core hangs', async (t) => {
  const panel = await openPanel(t);
  await panel.addInbound();
  const core = (await panel.corePid()) ?? 0;
  process.kill(core, 'SIGSTOP');
  const began = performance.now();
  await panel.stop();
  const took = performance.now() - began;
  t.log(`${Math.round(took)} ms`);
  t.true(took < 12_000, `${took} ms`);
  t.is(await panel.corePid(), undefined);
});

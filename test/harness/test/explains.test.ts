// What the author of a plugin learns from a test that fails.
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { definePlugin, int, payload, route, shape } from '../../../kernel/index.js';
import { FakeEngine } from '../fake-engine.js';
import { TestPanel } from '../panel.js';

const careless = definePlugin({
  name: 'careless',
  version: '1.0.0',
  api: 1,
  about: 'For a test.',
  routes: () => [
    route({
      method: 'GET',
      path: '/panel/api/x/careless/one',
      doc: 'Answers something else than it says.',
      reply: payload(shape({ one: int() })),
      handle: () => ({ one: '1' as never }),
    }),
  ],
});

test('a route that fails within says why, and whose fault it is', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [careless] });
  t.deepEqual(panel.faults, []);
  const why = 'the reply of GET /panel/api/x/careless/one does not fit its declaration: one must be a number';
  const error = await t.throwsAsync(panel.get('/panel/api/x/careless/one'));
  t.true(error?.message.endsWith(`; the log says: ${why}`), error?.message);
  t.deepEqual(panel.faults, [`careless, GET /panel/api/x/careless/one: ${why}`]);
});

test('in a worker thread, where a panel cannot run, the way out is named', async (t) => {
  const script = `import(${JSON.stringify(new URL('../panel.js', import.meta.url).href)}).then(({ TestPanel }) => TestPanel.boot())`;
  const worker = new Worker(script, { eval: true });
  const error = await new Promise<Error>((resolve) => worker.once('error', resolve));
  t.regex(error.message, /does not run in a worker thread; for ava write "workerThreads": false/);
});

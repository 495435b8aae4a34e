// Callers that wait for others.
import { mock } from 'node:test';
import test from 'ava';
import { routes } from '../routes.js';

test('a caller is not cut off while its change waits for lists that the core tests', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  let finish = (_: unknown): void => undefined;
  const work = () => new Promise<unknown>((resolve) => (finish = resolve));
  const service = { delete: work, update: work, move: work, refresh: work, look: work };
  const waiting = routes({ service: service as never, lists: {} as never }).filter(
    ({ name = '' }) =>
      !['engine.outboundSubs', 'engine.createOutboundSub', 'outboundSubs.link'].includes(name),
  );
  t.is(waiting.length, 6);
  for (const route of waiting) {
    let progressed = 0;
    const reply = { progressed: () => void progressed++ };
    const answer = route.handle({ params: { id: 1 }, body: {}, headers: {}, reply } as never);
    await new Promise(setImmediate);
    mock.timers.tick(35_000);
    t.is(progressed, 3, route.name);
    finish(route.name === 'engine.refreshOutboundSub' ? { message: '', outbounds: [] } : []);
    await answer;
  }
});

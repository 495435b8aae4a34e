// What a caller must see is asked for after the call came, also while an earlier look is under way.
import test from 'ava';
import { lookingFirst } from '../looking-first.js';
import { Member } from '../member.js';

/** A panel whose database answers when the test says so. */
function panel() {
  const answers: (() => void)[] = [];
  const db = {
    query: () =>
      new Promise<readonly object[]>((resolve) => answers.push(() => resolve([{ last: 0, is_free: 0 }]))),
    write: async () => undefined,
    projection: () => ({}),
  };
  const member = new Member({
    db,
    log: { error: () => undefined },
    leadership: { name: 'lead', mayTake: false },
  } as unknown as ConstructorParameters<typeof Member>[0]);
  return { member, answers };
}
const moment = () => new Promise((resolve) => setImmediate(resolve));

test('a call during a look waits for a look of its own', async (t) => {
  const { member, answers } = panel();
  const first = member.look();
  let isSeen = false;
  const second = member.look().then(() => (isSeen = true));
  const third = member.look();
  t.is(answers.length, 1);
  answers[0]?.();
  await first;
  await moment();
  t.false(isSeen);
  // One look is enough for all who came meanwhile.
  t.is(answers.length, 2);
  answers[1]?.();
  await Promise.all([second, third]);
  t.true(isSeen);
  await moment();
  t.is(answers.length, 2);
});

test('a call that changes something looks first, and one that reads does not wait', async (t) => {
  const order: string[] = [];
  const look = async (): Promise<void> => {
    await moment();
    order.push('look');
  };
  const routes = (['POST', 'DELETE', 'GET'] as const).map((method) => ({
    owner: 'clients',
    route: { method, handle: () => void order.push(method) },
  }));
  const adapted = lookingFirst({ look })(routes as never) as unknown as typeof routes;
  for (const { route } of adapted) await route.handle();
  t.deepEqual(order, ['look', 'POST', 'look', 'DELETE', 'GET']);
});

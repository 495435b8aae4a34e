// Each previous key is a line of the file, so there is an end to them.
import test from 'ava';
import { SecretsService } from '../service.js';
import { newKey } from '../sealed-text.js';

test('a further key is refused while sixteen previous ones are kept', async (t) => {
  const current = newKey();
  let added = 0;
  const keyring = {
    isGiven: false,
    current,
    previous: Array.from({ length: 16 }, () => newKey()),
    add: async () => {
      added++;
      return current;
    },
  };
  const rotate = () =>
    new SecretsService({
      keyring,
      columns: { all: async () => [] },
      clock: { now: () => 1 },
    } as never).rotate();
  await t.throwsAsync(rotate(), { message: /^16 previous keys are still kept; restart the panel/ });
  t.is(added, 0);
  keyring.previous.pop();
  t.deepEqual(await rotate(), { count: 0, problems: [], key: current.id });
  t.is(added, 1);
});

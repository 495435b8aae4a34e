import test from 'ava';
import { Lookups } from '../address.js';

test('a name is looked up once for one call', async (t) => {
  const lookups = new Lookups();
  const first = lookups.of('localhost');
  t.is(lookups.of('localhost'), first);
  t.true((await first).length > 0);
});

test('after the limit of the call no name is looked up: a list of slow ones does not add up', async (t) => {
  t.deepEqual(await new Lookups(0).of('localhost'), []);
});

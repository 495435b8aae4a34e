// Every plugin that is not essential, left out by the config file, one at a time.
// Runs alone: what it imports waits for the list of plugins, and ava takes no test that is declared after a wait.
import test from 'ava';
import { goneWith, optional, proveWithout, type Whole, wholePanel } from './without-plugins.js';

let whole: Whole;
test.before(async (t) => {
  whole = await wholePanel(t);
});

for (const name of optional)
  test.serial(`without ${goneWith([name]).join(', ')} the rest works as before`, (t) =>
    proveWithout(t, [name], whole),
  );

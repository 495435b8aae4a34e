// A panel that is killed before the new core is started: the previous one was not touched.
import test from 'ava';
import { killedAt } from './killed-panel.js';

for (const step of ['download', 'test'] as const)
  test.serial(`a panel that is killed at the step ${step} leaves the core that served`, (t) =>
    killedAt(t, step, ['26.3.27']),
  );

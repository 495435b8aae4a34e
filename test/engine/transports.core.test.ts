// Every transport and every protocol, not each with each: that is in transports.core.full.test.ts.
import test from 'ava';
import { connectOver, fewWays } from './transports.js';

test('every transport and every protocol connects by the link of its subscription and is counted; an edited flow reaches the core', (t) =>
  connectOver(t, fewWays));

// The form of a role: levels of resources out of permissions, and back.
import test from 'ava';
import { levelOf, withLevel } from '../page/roles/levels.js';
import { scopeOf } from '../page/system/token-end.js';

test('to write includes to read', (t) => {
  t.is(levelOf(['clients:write'], 'clients'), 'write');
  t.is(levelOf(['clients:read', 'clients:write'], 'clients'), 'write');
  t.is(levelOf(['clients:read'], 'clients'), 'read');
  t.is(levelOf(['clients:read'], 'client'), 'none');
});

test('another level of one resource leaves the others, also those that are not offered', (t) => {
  const before = ['clients:read', 'inbounds:write', 'acme-tally:read'];
  t.deepEqual(withLevel(before, 'inbounds', 'none'), ['clients:read', 'acme-tally:read']);
  t.deepEqual(withLevel(before, 'clients', 'write'), ['inbounds:write', 'acme-tally:read', 'clients:write']);
  t.deepEqual(withLevel([], 'hosts', 'read'), ['hosts:read']);
});

test('a token has a kind or a role, never both', (t) => {
  t.deepEqual(scopeOf(''), {});
  t.deepEqual(scopeOf('node'), { kind: 'node' });
  t.deepEqual(scopeOf('7'), { role: 7 });
});

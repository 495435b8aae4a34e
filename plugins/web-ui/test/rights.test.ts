// What is offered to whom, and what the address of the clients of a reseller says.
import test from 'ava';
import { mayWith, ownKindOf } from '../page/api/may.js';
import { ownViewOf } from '../page/own/view.js';

const role = (...permissions: string[]) => ({
  ...{ full: false, reseller: false, groups: false },
  permissions,
});

test('a role is offered what it allows, a full admin everything', (t) => {
  t.true(mayWith(role('clients:read'), 'clients:read'));
  t.false(mayWith(role('clients:read'), 'clients:write'));
  t.false(mayWith(role('clients:read', 'clients:write'), 'full'));
  t.true(mayWith({ ...role(), full: true }, 'full'));
  t.false(mayWith({ ...role(), reseller: true }, 'clients:read'));
});

test('a reseller and an admin of groups have the own pages, and nobody else', (t) => {
  t.is(ownKindOf({ ...role(), reseller: true }), 'reseller');
  t.is(ownKindOf({ ...role(), groups: true }), 'groups');
  for (const rights of [role('clients:read'), { ...role(), full: true }, null, undefined])
    t.is(ownKindOf(rights), undefined);
});

test('before the panel has answered, and where it has no roles, nothing is hidden: the panel decides', (t) => {
  t.true(mayWith(undefined, 'full'));
  t.true(mayWith(null, 'clients:write'));
});

test('an address of the list of a reseller means what it can, and nothing else', (t) => {
  t.deepEqual(ownViewOf({ search: 'ada', status: 'online', page: '3' }), {
    search: 'ada',
    status: 'online',
    page: 3,
  });
  t.deepEqual(ownViewOf({ search: 5, status: 'all', page: -1, sort: 'x' }), {});
  t.deepEqual(ownViewOf({ page: '1e99' }), {});
});

// Which bytes belong to clients that were deleted.
import test from 'ava';
import type { ClientsApi } from '../../clients/contract.js';
import { DeletedClients } from '../deleted-clients.js';

type Known = Pick<ClientsApi, 'byId' | 'byEmail'>;

test('a client whose deletion was refused and that is deleted later without its traffic keeps none', (t) => {
  const there = new Set([1, 2]);
  const clients = { byId: (id: number) => (there.has(id) ? { id } : undefined), byEmail: () => undefined };
  const deleted = new DeletedClients({ clients: clients as unknown as Known });
  const both = [1, 2].map((id) => ({ id, email: `c${id}` }));
  deleted.expect(both, true);
  t.false(deleted.has(1), 'it is still there');
  deleted.expect(both.slice(0, 1), false);
  there.clear();
  t.deepEqual([deleted.has(1), deleted.has(2)], [false, true]);
  const usage = [1, 2].map((clientId) => ({ clientId, inboundId: 7, up: 1, down: 2 }));
  t.deepEqual(deleted.divide(usage).kept, [{ email: 'c2', inboundId: 7, up: 1, down: 2 }]);
  deleted.forgetIfNew('next');
  t.false(deleted.has(2), 'a new core counts for none of them');
});

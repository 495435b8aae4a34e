// A page, and what is shown of the role, cost the clients of its groups: no others are read.
import test from 'ava';
import type { ClientPagesApi, ClientRow, SomeClients } from '../../clients/contract.js';
import { GroupScope } from '../scope.js';

const rowOf = (id: number): ClientRow =>
  ({ id, group: id <= 3 ? 'north' : 'south', inboundIds: [id % 2] }) as unknown as ClientRow;
const GROUPS: Readonly<Record<string, readonly number[]>> = {
  north: [1, 2, 3],
  south: Array.from({ length: 10_000 }, (_, i) => i + 4),
};
interface Read {
  readonly groups: string[];
  readonly paged: number[];
  readonly rows: number[];
}
function scopeOf(groups: readonly string[], during: (row: ClientRow) => void = () => undefined) {
  const read: Read = { groups: [], paged: [], rows: [] };
  const pages: Pick<ClientPagesApi, 'pageOf' | 'inGroup'> = {
    inGroup: (name) => {
      read.groups.push(name);
      return new Set(GROUPS[name]);
    },
    pageOf: async (ids) => {
      read.paged.push(...ids);
      const rows = read.paged.map(rowOf);
      rows.forEach(during);
      return { rows, filtered: rows.length } as unknown as SomeClients;
    },
  };
  const byId = (id: number) => {
    read.rows.push(id);
    return rowOf(id);
  };
  return { scope: new GroupScope({ id: 1, groups, level: 'read' }, { clients: { byId }, pages }), read };
}

test('reads the clients of the groups alone', async (t) => {
  const { scope, read } = scopeOf(['north', 'nobody is here']);
  await scope.page({} as never);
  t.deepEqual(read.paged, [1, 2, 3]);
  t.deepEqual([...scope.inboundIds()].sort(), [0, 1]);
  t.deepEqual(read.rows, [1, 2, 3]);
  t.deepEqual(scope.counts(), [
    { name: 'north', clients: 3 },
    { name: 'nobody is here', clients: 0 },
  ]);
  t.false(read.groups.includes('south'));
});

test('a client that is moved away while the page is made is not on it', async (t) => {
  const { scope } = scopeOf(['north'], (row) => {
    if (row.id === 2) row.group = 'south';
  });
  const { rows } = await scope.page({} as never);
  t.deepEqual(
    rows.map(({ id }) => id),
    [1, 3],
  );
});

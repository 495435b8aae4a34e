// A client that changes hands while its reseller asks for a page.
import test from 'ava';
import type { ClientPagesApi, ClientRow } from '../../clients/contract.js';
import { Scope } from '../scope.js';

test('a client that is given to another reseller while the page is made is not on it', async (t) => {
  const ids = new Set([1, 2, 3]);
  const pages = {
    pageOf: async (paged: Iterable<number>) => {
      const rows = [...paged].map((id) => ({ id }) as ClientRow);
      ids.delete(2);
      return { rows, filtered: rows.length };
    },
  } as unknown as ClientPagesApi;
  const scope = new Scope({} as never, ids, { clients: { byId: () => undefined }, pages });
  const { rows } = await scope.page({} as never);
  t.deepEqual(
    rows.map(({ id }) => id),
    [1, 3],
  );
});

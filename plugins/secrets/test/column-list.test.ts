// Which columns a plugin may put into the list.
import test from 'ava';
import { column, table } from '../../../kernel/index.js';
import { SealedColumns } from '../contract.js';

const problem = SealedColumns.problem as unknown as (
  value: object,
  plugin: object,
  others: readonly object[],
) => string | undefined;
const acme = {
  name: 'acme',
  outside: true,
  tables: { bots: table('x_acme_bots', { id: column.id(), token: column.text() }) },
};
const sealed = (name: string) => ({ table: name, key: 'id', column: 'token' });

test('a third-party plugin lists columns of its own tables only', (t) => {
  t.is(problem(sealed('x_acme_bots'), acme, []), undefined);
  // Of the plugin acme-tunnel, though it begins as those of acme do.
  for (const other of ['x_acme_tunnel_nodes', 'settings'])
    t.regex(problem(sealed(other), acme, []) ?? '', /must be one that its plugin declares in `tables`/);
  const taken = [{ plugin: 'acme', value: sealed('x_acme_bots') }];
  t.regex(problem(sealed('x_acme_bots'), acme, taken) ?? '', /already exists, in plugin acme/);
});

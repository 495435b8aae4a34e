// Statements that write the rows of a group: one for each kind of change, however many rows there are.
import type { Tx } from '../../kernel/index.js';
import type { HostRow } from './memory.js';
import type { RowPlan } from './row-plan.js';

/** Resolves with the rows of the group as they are then. */
export async function writeRows(
  tx: Tx,
  groupId: string,
  { kept, added, removed }: RowPlan,
  now: number,
): Promise<HostRow[]> {
  const { rows, dialect } = tx.sql;
  if (removed.length > 0) await tx.run('DELETE FROM hosts WHERE id IN (:removed)', { removed });
  if (kept.length > 0) {
    const table = `${rows({ id: 'integer', own_port: 'integer', position: 'integer' })} AS j`;
    await tx.run(
      dialect === 'sqlite'
        ? `UPDATE hosts SET own_port = j.own_port, position = j.position FROM ${table} WHERE hosts.id = j.id`
        : `UPDATE hosts JOIN ${table} ON hosts.id = j.id SET hosts.own_port = j.own_port, hosts.position = j.position`,
      { rows: JSON.stringify(kept.map(({ id, ownPort, position }) => [id, ownPort, position])) },
    );
  }
  if (added.length > 0)
    await tx.run(
      `INSERT INTO hosts (group_id, inbound_id, address, own_port, position, created_at)
       SELECT :groupId, j.inbound_id, j.address, j.own_port, j.position, :now FROM ${rows({ inbound_id: 'integer', address: 'text', own_port: 'integer', position: 'integer' })} AS j`,
      {
        groupId,
        now,
        rows: JSON.stringify(
          added.map(({ inboundId, address, ownPort, position }) => [inboundId, address, ownPort, position]),
        ),
      },
    );
  return tx.query<HostRow & object>(
    'SELECT id, inbound_id AS "inboundId", address, own_port AS "ownPort", created_at AS "createdAt" FROM hosts WHERE group_id = :groupId ORDER BY position, id',
    { groupId },
  );
}

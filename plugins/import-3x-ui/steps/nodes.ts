// Nodes are stored disabled: two panels that manage one node would undo each other's changes.
import type { NodeArrivalsApi, NodesApi } from '../../nodes/contract.js';
import { type Context, leaveAll, NOT_MADE, take } from '../context.js';
import { fieldsOf, flagOf, jsonOf, textOf } from '../values.js';

const TABLE = 'nodes';

export async function importNodes(
  context: Context,
  nodes: NodesApi | undefined,
  arrivals: NodeArrivalsApi | undefined,
): Promise<void> {
  const { source, report, dryRun, who, nodeIds } = context;
  if (!nodes || !arrivals) return leaveAll(context, TABLE, 'nodes');
  for await (const row of source.rows(TABLE)) {
    const name = textOf(row['name']).trim();
    const known = nodes
      .list()
      .find((node) => node.name === name || (node.address === row['address'] && node.port === row['port']));
    if (known) {
      nodeIds.set(Number(row['id']), known.id);
      report.present(TABLE);
      continue;
    }
    const token = textOf(row['api_token']);
    const isSealed = token.startsWith('enc:');
    const tags = jsonOf(row['inbound_tags']);
    const node = {
      ...fieldsOf(row, ['remark', 'scheme', 'address', 'port', 'base_path', 'tls_verify_mode']),
      ...fieldsOf(row, ['pinned_cert_sha256', 'inbound_sync_mode', 'outbound_tag']),
      name,
      enable: false,
      allowPrivateAddress: flagOf(row['allow_private_address']),
      ...(Array.isArray(tags) && { inboundTags: tags }),
      ...(!isSealed && token !== '' && { apiToken: token }),
    };
    const isTaken = await take(context, { table: TABLE, name }, async () => {
      if (dryRun) arrivals.check(node);
      const id = dryRun ? NOT_MADE : await arrivals.add(node, who);
      nodeIds.set(Number(row['id']), id);
    });
    if (!isTaken) continue;
    report.changed(TABLE, 'disabled: enable it when 3x-ui no longer manages it', name);
    if (isSealed)
      report.changed(TABLE, 'without its token, which is encrypted with a key that is not in the file', name);
  }
}

// What a node of the older kind has differently from what it should have.
import { TimeSlice } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { DesiredRecord, RecordKey } from '../node-sync/contract.js';
import type { NodeEntry } from '../nodes/contract.js';
import type { InboundChanges } from './inbound-changes.js';
import type { NameStore } from './names.js';
import { keyOf, type Snapshot } from './snapshot.js';
import { isOn } from './wire.js';

interface Needs {
  readonly names: NameStore;
  readonly inbounds: InboundsApi;
  readonly clients: ClientsApi;
  readonly inboundChanges: InboundChanges;
}

/** Records that must be sent again, or deleted there. What the node refuses is tried again. */
export async function differing(
  { id: nodeId }: NodeEntry,
  desired: readonly DesiredRecord[],
  snapshot: Snapshot,
  { names, inbounds, clients, inboundChanges }: Needs,
): Promise<RecordKey[]> {
  const found: RecordKey[] = [];
  const wanted = new Set<string>();
  /** ours, by id there */
  const ours = new Map<number, number>();
  const slice = new TimeSlice();
  for (const { kind, id, refused } of desired) {
    wanted.add(`${kind}.${id}`);
    if (kind !== 'inbound') continue;
    const inbound = inbounds.get(id);
    const remote = inboundChanges.remote(nodeId, id, snapshot);
    if (remote) ours.set(remote.id, id);
    const seen = names.get(nodeId, 'inbound', id)?.seen ?? '';
    const hasLimit = (inbound?.total ?? 0) > 0 || (inbound?.expiryTime ?? 0) > 0;
    const isSame =
      remote !== undefined &&
      refused === '' &&
      (seen === '' || seen === remote.digest) &&
      // A limit there may have disabled it.
      (remote.enable === inbound?.enable || (inbound?.enable && hasLimit));
    if (!isSame) found.push({ kind, id });
  }
  const emails = new Set<string>();
  for (const { kind, id, refused } of desired) {
    if (slice.isOver) await slice.next();
    if (kind !== 'client') continue;
    const row = clients.byId(id);
    const name = names.get(nodeId, 'client', id);
    if (!row || !name) {
      found.push({ kind, id });
      continue;
    }
    emails.add(keyOf(name.name));
    const remote = snapshot.clients.get(keyOf(name.name));
    const has = [...(remote?.inboundIds ?? [])].flatMap((one) => ours.get(one) ?? []);
    const should = row.inboundIds.filter((one) => isOn({ id: nodeId }, inbounds.get(one)));
    const isSame =
      remote !== undefined &&
      refused === '' &&
      has.length === should.length &&
      should.every((one) => has.includes(one)) &&
      (name.seen === '' || name.seen === remote.digest) &&
      (remote.enable === row.enable || (row.enable && remote.isAtLimit));
    if (!isSame) found.push({ kind, id });
  }
  // What nobody wants any more: of a state that is older than the node.
  for (const { kind, id } of names.of(nodeId)) if (!wanted.has(`${kind}.${id}`)) found.push({ kind, id });
  // Clients that came into inbounds of ours by other hands go with the next call for the inbound.
  const strange = new Set<number>();
  for (const { email, inboundIds } of snapshot.clients.values()) {
    if (slice.isOver) await slice.next();
    if (!emails.has(keyOf(email))) for (const one of inboundIds) strange.add(one);
  }
  for (const one of strange) {
    const id = ours.get(one);
    if (id !== undefined && !found.some((key) => key.kind === 'inbound' && key.id === id))
      found.push({ kind: 'inbound', id });
  }
  return found;
}

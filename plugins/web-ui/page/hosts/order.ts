// Hosts by inbound, in the order in which subscriptions show them, and how one of them is moved.

interface Ordered {
  readonly groupId: string;
  readonly inboundIds: readonly number[];
}
export interface HostSection<G> {
  readonly inboundId: number;
  readonly groups: readonly G[];
}

/** Inbounds with a host first, in the order of the inbounds; a group stands at each of its inbounds. */
export function hostSections<G extends Ordered>(
  groups: readonly G[],
  inbounds: readonly { readonly id: number }[],
): HostSection<G>[] {
  const byInbound = new Map<number, G[]>();
  for (const group of groups)
    for (const id of group.inboundIds) {
      const own = byInbound.get(id);
      if (own) own.push(group);
      else byInbound.set(id, [group]);
    }
  return inbounds
    .filter(({ id }) => byInbound.has(id))
    .map(({ id }) => ({ inboundId: id, groups: byInbound.get(id) ?? [] }));
}

/**
 * The order of all groups after one has changed places with its neighbour at an inbound: it goes just beyond that
 * neighbour, and those of other inbounds between them keep their order. Undefined at an end.
 */
export function movedOrder(
  groups: readonly Ordered[],
  {
    groupId,
    inboundId,
    step,
  }: { readonly groupId: string; readonly inboundId: number; readonly step: -1 | 1 },
): string[] | undefined {
  const here = groups.filter(({ inboundIds }) => inboundIds.includes(inboundId));
  const neighbour = here[here.findIndex((group) => group.groupId === groupId) + step];
  if (!neighbour || !here.some((group) => group.groupId === groupId)) return undefined;
  const others = groups.map((group) => group.groupId).filter((id) => id !== groupId);
  const at = others.indexOf(neighbour.groupId) + (step === 1 ? 1 : 0);
  return others.toSpliced(at, 0, groupId);
}

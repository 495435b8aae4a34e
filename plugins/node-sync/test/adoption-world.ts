// What tests of adoption ask of panels.
import { type TestPanel, until } from '../../../test/harness/index.js';
import { addNode, client, inbounds, poll, type Site, type SyncWorld } from './world.js';

export interface Adoption {
  readonly problem: string;
  readonly adopted: {
    inboundId: number;
    remoteId: number;
    tag: string;
    remoteTag: string;
    originGuid: string;
    isDone: boolean;
  }[];
  readonly left: { kind: string; remoteId: number; name: string; reason: string }[];
}
export const adoption = (panel: TestPanel, id: number) =>
  panel.get<Adoption>(`/panel/api/x/node-sync/${id}/adoption`);
/** Looks at everything that the node has, now. */
export const adopt = (panel: TestPanel, id: number) =>
  panel.get<unknown>(`/panel/api/x/node-sync/${id}/adopt`, { method: 'POST' });
export const compare = (panel: TestPanel, id: number) =>
  panel.call(`/panel/api/x/node-sync/${id}/reconcile`, { method: 'POST' });

/** A node that had inbounds before it is added; resolves when it is online. */
export async function addSite(
  central: TestPanel,
  name: string,
  site: Site,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const id = await addNode(central, name, site, fields);
  await until(async () => {
    await central.call(`/panel/api/nodes/probe/${id}`, { method: 'POST' });
    return (await central.get<{ status: string }>(`/panel/api/nodes/get/${id}`)).status === 'online';
  }, `${name} is online`);
  return id;
}

/** Bytes through an inbound of a site, counted there. */
export async function move(
  { panel, engine }: Site,
  tag: string,
  email: string,
  bytes: number,
): Promise<void> {
  const inbound = (await inbounds(panel)).find((one) => one.tag === tag);
  engine.move(inbound?.id ?? 0, (await client(panel, email)).id, 0, bytes);
  await poll(panel);
}

export const inboundOf = async (panel: TestPanel, tag: string) => {
  const found = (await panel.get<Row[]>('/panel/api/inbounds/list')).find((one) => one.tag === tag);
  if (!found) throw new Error(`there is no inbound ${tag}`);
  return found;
};
export interface Row {
  readonly id: number;
  readonly tag: string;
  readonly port: number;
  readonly nodeId: number | null;
  readonly originNodeGuid: string;
  readonly up: number;
  readonly down: number;
  readonly remark: string;
}
export type { Site, SyncWorld };

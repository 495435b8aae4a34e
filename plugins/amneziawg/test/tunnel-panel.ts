// A panel with inbounds of AmneziaWG: what tests ask of it.
import type { PanelProcess } from '../../../test/harness/panel-process.js';

export const MIB = 1024 * 1024;

export interface Inbound {
  readonly id: number;
  readonly state: string;
  readonly settings: { readonly server: Record<string, unknown> };
}
export interface Got {
  readonly bytes: number;
  readonly error: string;
  readonly text: string;
}
export interface PeerRow {
  readonly inboundId: number;
  readonly interface: string;
  readonly tag: string;
  readonly email: string;
  readonly endpoint: string;
  readonly allowedIPs: string;
  readonly handshake: number;
  readonly up: number;
  readonly down: number;
  readonly online: boolean;
}
export interface Usage {
  readonly up: number;
  readonly down: number;
}

/** Lengths with which no data packet looks like another kind. */
export const SERVER_BLOCK = { jc: 4, jmin: 40, jmax: 90, s1: 27, s2: 30, s3: 20, s4: 16 };

export async function addTunnel(panel: PanelProcess, fields: Record<string, unknown> = {}): Promise<Inbound> {
  const { id } = await panel.get<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'amneziawg', port: 51820, remark: 'tunnel', ...fields },
  });
  return inboundOf(panel, id);
}
export const inboundOf = (panel: PanelProcess, id: number): Promise<Inbound> =>
  panel.get<Inbound>(`/panel/api/inbounds/get/${id}`);

export const untilState = (panel: PanelProcess, id: number, wanted: RegExp): Promise<void> =>
  panel.until(
    async () => wanted.test((await inboundOf(panel, id)).state),
    `inbound ${id}: ${wanted}`,
    40_000,
  );
export const untilRunning = (panel: PanelProcess, id: number): Promise<void> =>
  untilState(panel, id, /^running$/);

export const reportOf = (panel: PanelProcess, filter = '') =>
  panel.get<{ running: boolean; peers: PeerRow[]; events: string[] }>('/panel/api/server/amneziawglogs/100', {
    body: { filter },
  });
export async function usageOf(panel: PanelProcess, email: string): Promise<Usage> {
  const { up, down } = await panel.get<Usage>(`/panel/api/clients/traffic/${email}`);
  return { up, down };
}
/** Reads the counters now instead of within five seconds. */
export const poll = (panel: PanelProcess): Promise<unknown> =>
  panel.call('/panel/api/system/jobs/traffic/poll', { method: 'POST' });
/** What the device itself says about one client. */
export async function deviceUsage(panel: PanelProcess, email: string): Promise<Usage> {
  const peer = (await reportOf(panel)).peers.find((one) => one.email === email);
  return { up: peer?.up ?? 0, down: peer?.down ?? 0 };
}
/** Resolves when the panel has counted what is expected. */
export async function untilCounted(
  panel: PanelProcess,
  email: string,
  isSo: (usage: Usage) => boolean,
): Promise<Usage> {
  let usage = await usageOf(panel, email);
  await panel.until(
    async () => {
      await poll(panel);
      return isSo((usage = await usageOf(panel, email)));
    },
    `the bytes of ${email} are counted: ${JSON.stringify(usage)}`,
  );
  return usage;
}

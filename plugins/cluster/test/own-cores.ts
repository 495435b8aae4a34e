// Two panels, each with a real core of its own that serves the same inbounds.
import type { ExecutionContext } from 'ava';
import { connect, openServer, usageOf, type User } from '../../../test/engine/user.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import type { ByteServer } from '../../engine/xray/test/traffic.js';
import type { Panels } from './two-panels.js';

/** A poll, the other panel's and then the leader's. */
export const SEVERAL_POLLS_MS = 30_000;
/** So many connections one after another are of both cores: each comes to either of them. */
const IN_A_ROW = 24;

export const own = (preset: string) => ({
  WEIR_PRESET: preset,
  WEIR_CLUSTER_CORE: 'own',
  WEIR_ENGINE_BIN: process.env['WEIR_ENGINE_BIN'] ?? '',
});

export async function opened(t: ExecutionContext, panels: Panels, preset = 'standard') {
  const [a, b] = [await panels.start('a', own(preset)), await panels.start('b', own(preset))];
  for (const panel of [a, b])
    await panel.until(async () => (await panel.corePid()) !== undefined, 'each panel has a core');
  const server = await openServer(t);
  return { a, b, server };
}

/** Each core has the client within a second; the first of several connections may come to one that has not. */
export async function connected(t: ExecutionContext, panel: PanelProcess, email: string, server: ByteServer) {
  const user = await connect(t, panel, email, server);
  await inARow(panel, 'each core serves the client', () => user.served().catch(() => false));
  return user;
}

/** Each connection goes to one of the cores, and none of them follows at the same moment. */
export async function inARow(panel: PanelProcess, what: string, isSo: () => Promise<boolean>): Promise<void> {
  let times = 0;
  await panel.until(
    async () => {
      times = (await isSo()) ? times + 1 : 0;
      return times === IN_A_ROW;
    },
    what,
    SEVERAL_POLLS_MS,
  );
}

/** Both cores listen on the port of the inbound, and the system gives each connection to one of them. */
export async function downloads(user: User, times: number, bytes: number): Promise<number> {
  let came = 0;
  for (let n = 0; n < times; n++) came += await user.download(bytes);
  return came;
}

export const countedBy = async (panel: PanelProcess, email: string, payload: number) => {
  await panel.until(
    async () => (await usageOf(panel, email)).down >= payload,
    `${payload} bytes of ${email} are counted`,
    SEVERAL_POLLS_MS,
  );
  return (await usageOf(panel, email)).down;
};

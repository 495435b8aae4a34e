// A panel whose core lies in its data folder, so that it can be replaced; and the checks that all installs share.
import { mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { CorePanel, Teardown } from '../../../test/engine/core-panel.js';
import {
  connect,
  counted,
  engineBinary,
  engineOf,
  MIB,
  openPanel,
  openServer,
} from '../../../test/engine/user.js';
import type { Answer, PanelApi } from '../../../test/harness/api.js';
import type { ReleaseServer } from './release-server.js';

/** A data folder with the core as `bin/xray`. */
export async function folderWithCore(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  await mkdir(join(folder, 'bin'));
  await symlink(engineBinary(), join(folder, 'bin', 'xray'));
  return folder;
}

export const openWith = async (
  t: Teardown,
  releases: ReleaseServer,
  env: Readonly<Record<string, string>> = {},
): Promise<CorePanel> =>
  openPanel(t, { dataDirectory: await folderWithCore(), env: { ...releases.env, ...env } });

interface Installed {
  readonly version: string;
  readonly digestFrom: string;
  readonly downloaded: boolean;
  readonly removed: readonly string[];
}
export const install = (panel: PanelApi, version: string, body?: object): Promise<Answer<Installed>> =>
  panel.call(`/panel/api/server/installEngine/${version}`, { method: 'POST', ...(body && { body }) });

export interface InstalledView {
  readonly running: string;
  readonly chosen: string;
  readonly previous: string;
  readonly installed: readonly { readonly version: string; readonly sha256: string }[];
}
export const installedOf = (panel: PanelApi): Promise<InstalledView> =>
  panel.get('/panel/api/x/engine-versions/installed');
export const stepOf = async (panel: PanelApi): Promise<string> =>
  (await panel.get<{ step: string } | null>('/panel/api/x/engine-versions/progress'))?.step ?? '';

/** Installs another version under the traffic of a user, returns without the network, and starts the panel again. */
export async function installAndReturn(
  t: ExecutionContext,
  releases: ReleaseServer,
  other: string,
): Promise<void> {
  const panel = await openWith(t, releases);
  const first = (await engineOf(panel)).version;
  const server = await openServer(t);
  await panel.addClient('ann', [await panel.addInbound()]);
  const user = await connect(t, panel, 'ann', server);
  t.is(await user.download(MIB), MIB);
  const before = await panel.corePid();

  const tags = await panel.get<string[]>('/panel/api/server/getEngineVersion');
  t.true(tags.includes(`v${other}`), tags.join());
  const answer = await install(panel, `v${other}`);
  t.is(answer.status, 200, answer.text);
  t.regex(
    answer.body.msg,
    new RegExp(`core ${other.replaceAll('.', '\\.')} runs; its archive matches the digest of `),
  );
  t.regex(answer.body.msg, /; Weir is tested with core 26\.3\.27 only$/);
  t.like(await engineOf(panel), { state: 'running', version: other, errorMsg: '' });
  t.not(await panel.corePid(), before);
  t.is(await user.download(MIB), MIB, 'the user is served by the new core');
  await counted(panel, 'ann', 2 * MIB);
  await panel.addClient('bob', [1]);
  t.is(await (await connect(t, panel, 'bob', server)).download(MIB), MIB, 'users are added to the new core');

  await releases.close();
  const back = await install(panel, first);
  t.is(back.status, 200, back.text);
  t.is(back.body.msg, `core ${first} runs; it was installed already`);
  t.is((await engineOf(panel)).version, first);
  t.is(await user.download(MIB), MIB);
  await counted(panel, 'ann', 3 * MIB);
  const { dataDirectory } = panel;
  await install(panel, other);
  await panel.stop();

  const second = await openPanel(t, { dataDirectory, env: releases.env });
  t.like(await engineOf(second), { state: 'running', version: other });
  t.like(await installedOf(second), { running: other, chosen: other, previous: first });
  t.is(await (await connect(t, second, 'ann', server)).download(MIB), MIB);
  await counted(second, 'ann', 4 * MIB);
}

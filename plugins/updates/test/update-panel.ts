// A panel that was installed from a package, as far as it can see; the test is root.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { type PanelOptions, TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { FILES, FOLDER, OUTCOME, type UpdateOutcome } from '../contract.js';
import { ReleaseServer } from './release-server.js';

export interface Status {
  readonly runId: string;
  readonly state: string;
  readonly step: string;
  readonly exitCode: number;
  readonly finishedAt: number;
  readonly version: string;
  readonly from: string;
  readonly reason: string;
}

export class UpdateWorld {
  readonly server: ReleaseServer;
  readonly root: string;
  readonly data: string;
  readonly options: PanelOptions;
  panel: TestPanel;

  private constructor(
    server: ReleaseServer,
    root: string,
    data: string,
    options: PanelOptions,
    panel: TestPanel,
  ) {
    this.server = server;
    this.root = root;
    this.data = data;
    this.options = options;
    this.panel = panel;
  }

  static async open(
    t: ExecutionContext,
    { env = {}, ...options }: PanelOptions = {},
    settings: object = {},
  ): Promise<UpdateWorld> {
    const server = await ReleaseServer.open(t);
    const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const [root, data] = [join(folder, 'opt'), join(folder, 'data')];
    await mkdir(join(root, 'releases', '0.1.0'), { recursive: true });
    const all = {
      ...options,
      dataDirectory: data,
      env: {
        WEIR_OUTGOING_ALLOW: server.allowed,
        WEIR_UPDATE_ROOT: root,
        WEIR_UPDATE_KEY: server.key.publicText,
        ...env,
      },
    };
    const panel = await TestPanel.boot(all);
    const world = new UpdateWorld(server, root, data, all, panel);
    t.teardown(async () => {
      await world.panel.stop();
      await rm(folder, { recursive: true, force: true });
    });
    await panel.get('/panel/api/setting/update', { body: { updateSource: server.url, ...settings } });
    return world;
  }

  async restart(): Promise<void> {
    await this.panel.stop();
    this.panel = await TestPanel.boot(this.options);
  }

  info = () => this.panel.get<Record<string, unknown>>('/panel/api/server/getPanelUpdateInfo');
  status = () => this.panel.get<Status>('/panel/api/server/getUpdateStatus');
  update = (body: object = {}) =>
    this.panel.call<{ runId: string; version: string }>('/panel/api/server/updatePanel', {
      method: 'POST',
      body,
    });

  inFolder = (name: keyof typeof FILES): string => join(this.data, FOLDER, FILES[name]);

  /** Resolves with what the panel asked root. */
  async asked(): Promise<{ runId: string; version: string }> {
    let content = '';
    await until(async () => {
      const { state, reason } = await this.status();
      if (state === 'failed') throw new Error(reason);
      content = await readFile(this.inFolder('request'), 'utf8').catch(() => '');
      return content !== '';
    }, 'root is asked');
    return JSON.parse(content) as { runId: string; version: string };
  }

  /** Root answers. */
  async answer(fields: Partial<UpdateOutcome> & { runId: string }): Promise<void> {
    const outcome: UpdateOutcome = {
      ...{ state: 'success', version: '0.2.0', at: Date.now(), finishedAt: Date.now(), exitCode: 0 },
      ...{ reason: '', number: 1, key: '' },
      ...fields,
    };
    await writeFile(join(this.root, OUTCOME), JSON.stringify(outcome));
  }

  async ended(): Promise<Status> {
    await until(async () => (await this.status()).state !== 'pending', 'the update is over');
    return this.status();
  }
}

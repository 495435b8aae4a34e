// A central and nodes, each a whole panel in this process; their cores are stand-ins.
import type { ExecutionContext } from 'ava';
import { type FakeClock, freePort, TestPanel, until } from '../../../test/harness/index.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { ConnectingEngine } from './connecting-engine.js';

export interface Site {
  panel: TestPanel;
  readonly engine: ConnectingEngine;
  readonly port: number;
  readonly dataDirectory: string;
}
export const poll = (panel: TestPanel) =>
  panel.call('/panel/api/system/jobs/traffic/poll', { method: 'POST' });

/** Makes a token at a node, and the record of the node at the central. Resolves with the id of the record. */
export async function addNode(
  central: Pick<TestPanel, 'get'>,
  name: string,
  site: { readonly panel: Pick<TestPanel, 'get'>; readonly port: number },
  fields: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const { token } = await site.panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: `central-of-${name}`, kind: 'node' },
  });
  await central.get('/panel/api/nodes/add', {
    body: {
      name,
      remark: '',
      scheme: 'http',
      address: '127.0.0.1',
      port: site.port,
      basePath: '/',
      apiToken: token,
      enable: true,
      allowPrivateAddress: true,
      ...fields,
    },
  });
  const nodes = await central.get<{ id: number; name: string }[]>('/panel/api/nodes/list');
  return nodes.find((node) => node.name === name)?.id ?? 0;
}

export class SyncWorld {
  readonly #t: ExecutionContext;
  readonly central: Site;
  readonly #clock: FakeClock | undefined;

  private constructor(t: ExecutionContext, central: Site, clock: FakeClock | undefined) {
    this.#t = t;
    this.central = central;
    this.#clock = clock;
  }

  /** With a `clock`, jobs run only where the test calls them. */
  static async start(t: ExecutionContext, clock?: FakeClock): Promise<SyncWorld> {
    return new SyncWorld(t, await SyncWorld.#site(t, clock), clock);
  }

  /** A node as the central of others. */
  over(site: Site): SyncWorld {
    return new SyncWorld(this.#t, site, this.#clock);
  }

  static async #site(t: ExecutionContext, clock: FakeClock | undefined): Promise<Site> {
    const engine = new ConnectingEngine();
    const [dataDirectory, port] = [await folderFor(t), await freePort()];
    const site: Site = {
      engine,
      port,
      dataDirectory,
      panel: await TestPanel.boot({
        plugins: [engine.plugin, engine.listener],
        dataDirectory,
        ...(clock && { clock }),
        env: { WEIR_PANEL_PORT: String(port) },
      }),
    };
    t.teardown(() => site.panel[Symbol.asyncDispose]());
    return site;
  }

  /** A panel of its own, which nobody manages. */
  site(): Promise<Site> {
    return SyncWorld.#site(this.#t, this.#clock);
  }

  /** A node, and its record at the central; resolves when it is online. */
  async node(name: string): Promise<Site & { id: number }> {
    const site = await SyncWorld.#site(this.#t, this.#clock);
    const id = await addNode(this.central.panel, name, site);
    await this.online(id);
    // After the comparison that its coming has begun.
    await this.reconcile(id);
    return Object.assign(site, { id });
  }

  status(id: number): Promise<{ status: string; configDirty: boolean }> {
    return this.central.panel.get(`/panel/api/nodes/get/${id}`);
  }

  online(id: number): Promise<void> {
    return until(async () => {
      await this.central.panel.call(`/panel/api/nodes/probe/${id}`, { method: 'POST' });
      return (await this.status(id)).status === 'online';
    }, `the node ${id} is online`);
  }

  offline(id: number): Promise<void> {
    return until(async () => {
      await this.central.panel.call(`/panel/api/nodes/probe/${id}`, { method: 'POST' });
      return (await this.status(id)).status === 'offline';
    }, `the node ${id} is offline`);
  }

  /** The panel of a site stops, and starts again on the same data and port. */
  async restart(site: Site, meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    await site.panel.stop();
    await meanwhile();
    site.panel = await TestPanel.boot({
      plugins: [site.engine.plugin, site.engine.listener],
      dataDirectory: site.dataDirectory,
      ...(this.#clock && { clock: this.#clock }),
      env: { WEIR_PANEL_PORT: String(site.port) },
    });
  }

  reconcile(id: number): Promise<unknown> {
    return this.central.panel.get(`/panel/api/x/node-sync/${id}/reconcile`, { method: 'POST' });
  }

  async pending(id: number): Promise<number> {
    const all = await this.central.panel.get<{ nodeId: number; pending: number }[]>('/panel/api/x/node-sync');
    return all.find(({ nodeId }) => nodeId === id)?.pending ?? -1;
  }
}

export const emails = async (panel: TestPanel): Promise<string[]> =>
  (await panel.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email).sort();
export const client = (panel: TestPanel, email: string) =>
  panel.get<{
    id: number;
    uuid: string;
    subId: string;
    enable: boolean;
    totalGB: number;
    comment: string;
    inboundIds: number[];
  }>(`/panel/api/clients/get/${email}`);
export const downOf = async (panel: TestPanel, email: string): Promise<number> =>
  (await panel.get<{ down: number }>(`/panel/api/clients/traffic/${email}`)).down;
export const inbounds = (panel: TestPanel) =>
  panel.get<{ id: number; tag: string; port: number; enable: boolean; nodeId: number | null }[]>(
    '/panel/api/inbounds/list',
  );

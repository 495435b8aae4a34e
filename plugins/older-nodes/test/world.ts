// A central, a whole panel in this process, and a node of the older kind.
import type { ExecutionContext } from 'ava';
import { FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { OlderNode } from './older-node.js';

export const poll = (panel: TestPanel) =>
  panel.call('/panel/api/system/jobs/traffic/poll', { method: 'POST' });
export const downOf = async (panel: TestPanel, email: string): Promise<number> =>
  (await panel.get<{ down: number }>(`/panel/api/clients/traffic/${email}`)).down;

interface Sync {
  readonly nodeId: number;
  readonly pending: number;
  readonly refused: number;
  readonly problem: string;
}

export class OlderWorld {
  readonly engine = new FakeEngine();
  panel!: TestPanel;
  id = 0;
  readonly #dataDirectory: string;

  private constructor(
    dataDirectory: string,
    readonly node: OlderNode,
  ) {
    this.#dataDirectory = dataDirectory;
  }

  static async start(t: ExecutionContext): Promise<OlderWorld> {
    const world = new OlderWorld(await folderFor(t), await OlderNode.start(t));
    await world.#boot();
    t.teardown(() => world.panel[Symbol.asyncDispose]());
    await world.panel.get('/panel/api/nodes/add', {
      body: {
        name: 'old',
        scheme: 'http',
        address: '127.0.0.1',
        port: world.node.port,
        basePath: '/',
        apiToken: world.node.token,
        allowPrivateAddress: true,
      },
    });
    const [node] = await world.panel.get<{ id: number }[]>('/panel/api/nodes/list');
    world.id = node?.id ?? 0;
    await world.reconcile();
    return world;
  }

  async #boot(): Promise<void> {
    this.panel = await TestPanel.boot({ plugins: [this.engine.plugin], dataDirectory: this.#dataDirectory });
  }

  async restart(meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    await this.panel.stop();
    await meanwhile();
    await this.#boot();
    await this.probe();
  }

  async probe(): Promise<string> {
    await this.panel.call(`/panel/api/nodes/probe/${this.id}`, { method: 'POST' });
    return (await this.panel.get<{ status: string }>(`/panel/api/nodes/get/${this.id}`)).status;
  }

  async offline(): Promise<void> {
    await this.node.stop();
    await until(async () => (await this.probe()) === 'offline', 'the node is offline');
  }
  async online(): Promise<void> {
    await this.node.listen();
    await until(async () => (await this.probe()) === 'online', 'the node is online');
  }

  async reconcile(): Promise<string> {
    const { body } = await this.panel.call(`/panel/api/x/node-sync/${this.id}/reconcile`, { method: 'POST' });
    return body.msg;
  }

  async sync(): Promise<Sync> {
    const all = await this.panel.get<Sync[]>('/panel/api/x/node-sync');
    const own = all.find(({ nodeId }) => nodeId === this.id);
    if (!own) throw new Error('there is no node');
    return own;
  }

  sent(): Promise<void> {
    return until(async () => (await this.sync()).pending === 0, 'nothing waits to be sent');
  }
}

// The parts of the proof, each on a machine of its own: three database servers, three panels with a balancer between each and
// the database, a Redis for live messages, and a balancer in front of the panels.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Namespaces } from '../node-soak/places.js';
import { Balancer } from './balancer.js';
import { Galera } from './galera.js';
import { Machine } from './machine.js';
import { MessageServer } from './messages.js';
import { ClusterPanel, PANEL_PORT, SUB_PORT } from './panel.js';
import { probe } from './probe.js';

/** `one`: all panels use the same server while it is in order, as examples/cluster says; `own`: each has its own. */
export type Writers = 'one' | 'own';

export interface WorldOptions {
  /** of the core */
  readonly binary: string;
  readonly writers: Writers;
  /** with a Redis between the panels */
  readonly messages?: boolean;
  readonly panels?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export class World {
  readonly places: Namespaces;
  readonly folder: string;
  readonly writers: Writers;
  galera: Galera;
  readonly panels: ClusterPanel[] = [];
  /** in front of the panels */
  front: Balancer;
  messages: MessageServer | undefined;
  /** between a panel and the database; none where each panel has a server of its own */
  readonly databaseBalancers: Balancer[] = [];

  private constructor(places: Namespaces, folder: string, writers: Writers, galera: Galera, front: Balancer) {
    this.places = places;
    this.folder = folder;
    this.writers = writers;
    this.galera = galera;
    this.front = front;
  }

  static async open({ binary, writers, messages, panels = 3, env }: WorldOptions): Promise<World> {
    const places = await Namespaces.make();
    const folder = await mkdtemp(join(tmpdir(), 'weir-cluster-'));
    const close = async () => {
      await places.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    };
    try {
      const machine = async (name: string) => Machine.make(name, await places.add(), folder);
      const databases = [await machine('db1'), await machine('db2'), await machine('db3')];
      const hosts = [await machine('panel1'), await machine('panel2'), await machine('panel3')];
      const balancer = await machine('balancer');
      const galera = await Galera.start(databases);
      const front = await Balancer.start(balancer, 'haproxy.cfg', hosts);
      const world = new World(places, folder, writers, galera, front);
      if (messages) world.messages = await MessageServer.start(await machine('redis'));
      const plugins = [await probe(folder)];
      const common = { ...(world.messages && { WEIR_REDIS: world.messages.url }), ...env };
      for (const [i, host] of hosts.slice(0, panels).entries()) {
        const server = galera.servers[i];
        if (!server) throw new Error('there are more panels than servers');
        if (writers === 'one')
          world.databaseBalancers.push(await Balancer.start(host, 'haproxy-database.cfg', databases));
        const own = new URL(server.url);
        if (writers === 'one') own.hostname = '127.0.0.1';
        world.panels.push(
          new ClusterPanel({ machine: host, databaseUrl: own.href, binary, plugins, env: common }),
        );
      }
      return world;
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** addresses behind the balancer in front */
  get panelUrl(): string {
    return `http://${this.front.machine.host}:${PANEL_PORT}`;
  }
  subUrl(path: string): string {
    return `http://${this.front.machine.host}:${SUB_PORT}${path}`;
  }

  async dispose(): Promise<void> {
    for (const panel of this.panels) await panel.dispose().catch(() => undefined);
    await Promise.all([this.front, this.messages, ...this.databaseBalancers].map((one) => one?.kill()));
    await this.galera.stop();
    await this.places.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

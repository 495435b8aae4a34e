// A panel without a core, whose outbounds move what a test says.
import { type Database, kernelErrors, type Plugin, provide } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { Panels } from '../../cluster/contract.js';
import cluster from '../../cluster/index.js';
import outboundTraffic from '../index.js';
import type { OutboundStore } from '../store.js';

export interface Shown {
  readonly id: number;
  readonly tag: string;
  readonly up: number;
  readonly down: number;
  readonly total: number;
}

/** A panel that takes itself for one of several. */
const oneOfSeveral = (name: string): Plugin => ({
  ...cluster,
  provides: () => [
    provide(Panels, {
      name,
      leads: true,
      count: 2,
      others: ['other'],
      number: 1,
      hasOwnCore: true,
      startsAgain: false,
    }),
  ],
});

/** @param name of the panel among several; blank for one alone */
export async function openWorld(engine = new FakeEngine(), dataDirectory?: string, name = '') {
  const inside = servicesOf<{ db: Database; store: OutboundStore }>(outboundTraffic);
  const clock = new FakeClock();
  const panel = await TestPanel.boot({
    plugins: [inside.plugin, engine.plugin, ...(name === '' ? [] : [oneOfSeveral(name)])],
    clock,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  const { db, store } = inside.services;
  const write = db.write.bind(db);
  const list = () => panel.get<Shown[]>('/panel/api/engine/getOutboundsTraffic');
  return {
    engine,
    panel,
    store,
    list,
    /** `{ tag: [up, down] }` */
    bytes: async (): Promise<Record<string, readonly [number, number]>> =>
      Object.fromEntries((await list()).map(({ tag, up, down }) => [tag, [up, down]])),
    poll: async (): Promise<void> => {
      clock.tick(5000);
      await panel.kernel.settled();
    },
    reset: (tag: unknown) => panel.call('/panel/api/engine/resetOutboundsTraffic', { body: { tag } }),
    prune: () => panel.get<string[]>('/panel/api/x/outbound-traffic/prune', { method: 'POST' }),
    /** No write of the plugin arrives. */
    fail: () => void (db.write = () => Promise.reject(kernelErrors.STORAGE())),
    /** The next write arrives, and its answer does not. */
    loseAnswer: () => {
      db.write = (async (work: Parameters<typeof write>[0]) => {
        db.write = write;
        await write(work);
        throw kernelErrors.DATABASE_AWAY();
      }) as typeof db.write;
    },
    work: () => void (db.write = write),
  };
}

// A panel without a core, whose polls and moves come when a test says so.
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

export interface Day {
  readonly day: string;
  readonly up: number;
  readonly down: number;
}
export interface Top {
  readonly day: string;
  readonly clients: number;
  readonly up: number;
  readonly down: number;
  readonly top: { readonly id: number; readonly email: string; readonly up: number; readonly down: number }[];
}

export async function openWorld(options: Parameters<typeof TestPanel.boot>[0] = {}) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({
    clock,
    ...options,
    plugins: [engine.plugin, ...(options.plugins ?? [])],
  });
  await panel.get('/panel/api/setting/update', {
    body: { timeLocation: 'UTC', sessionMaxAge: 525_600, sessionMaxLifetime: 525_600 },
  });
  const settle = async (ms: number) => {
    clock.tick(ms);
    await panel.kernel.settled();
  };
  return {
    engine,
    clock,
    panel,
    poll: () => settle(5000),
    /** Polls, and moves what was counted to the days. */
    minute: async () => {
      await settle(5000);
      await settle(60_000);
    },
    settle,
    inboundId: await panel.addInbound(),
    days: (email: string, query = '') =>
      panel.get<Day[]>(`/panel/api/x/usage-by-day/clients/${email}${query}`),
    top: (query = '') => panel.get<Top>(`/panel/api/x/usage-by-day/top${query}`),
  };
}
/** Days on which bytes moved. */
export const used = (days: readonly Day[]) => days.filter(({ up, down }) => up + down > 0);

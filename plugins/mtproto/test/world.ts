// A panel with an mtproto inbound, and the data centre that its traffic reaches.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';
import { until } from '../../../test/harness/until.js';
import type { SidecarStatus } from '../../sidecars/contract.js';
import { DataCentre } from './data-centre.js';
import { TelegramClient } from './telegram-client.js';

export const DOMAIN = 'site.example';

/** The real program, which `npm test` finds or builds (bin/test-programs.mjs); throws with the reason where there is none. */
export function mtgMulti(): string {
  const missing = process.env['WEIR_TEST_SIDECARS_MISSING'];
  if (missing) throw new Error(missing);
  const folder = process.env['WEIR_TEST_SIDECARS'];
  if (!folder) throw new Error('WEIR_TEST_SIDECARS must name a folder with mtg-multi');
  const path = join(folder, 'mtg-multi');
  accessSync(path, constants.X_OK);
  return path;
}

export class MtprotoWorld implements AsyncDisposable {
  readonly engine: FakeEngine;
  readonly clock: FakeClock;
  readonly panel: TestPanel;
  readonly port: number;
  readonly inboundId: number;
  readonly centre: DataCentre;

  private constructor(
    of: Omit<
      MtprotoWorld,
      'poll' | 'state' | 'status' | 'running' | 'secret' | 'client' | 'usage' | typeof Symbol.asyncDispose
    >,
  ) {
    this.engine = of.engine;
    this.clock = of.clock;
    this.panel = of.panel;
    this.port = of.port;
    this.inboundId = of.inboundId;
    this.centre = of.centre;
  }

  static async open(
    program: string,
    settings: object = {},
    env: Readonly<Record<string, string>> = {},
  ): Promise<MtprotoWorld> {
    const [engine, clock, port] = [new FakeEngine(), new FakeClock(), await freePort()];
    const panel = await TestPanel.boot({
      plugins: [engine.plugin],
      clock,
      env: { WEIR_MTG_BIN: program, ...env },
    });
    const inboundId = await panel.addInbound({
      protocol: 'mtproto',
      port,
      settings: { fakeTlsDomain: DOMAIN, routeThroughEngine: true, ...settings },
    });
    const saved = await panel.get<{ settings: { routeEnginePort: number } }>(
      `/panel/api/inbounds/get/${inboundId}`,
    );
    const centre = await DataCentre.listen(saved.settings.routeEnginePort);
    return new MtprotoWorld({ engine, clock, panel, port, inboundId, centre });
  }

  async poll(): Promise<void> {
    this.clock.tick(5000);
    await this.panel.kernel.settled();
  }

  async state(): Promise<string> {
    return (await this.panel.get<{ state: string }>(`/panel/api/inbounds/get/${this.inboundId}`)).state;
  }

  async status(): Promise<SidecarStatus> {
    const [first] = await this.panel.get<SidecarStatus[]>('/panel/api/x/sidecars');
    if (!first) throw new Error('there is no instance');
    return first;
  }

  async running(): Promise<void> {
    let last = '';
    await until(async () => (last = await this.state()) === 'running', 'it runs').catch((error: Error) => {
      throw new Error(`${error.message}; it is ${last}`);
    });
  }

  /** The client's secret in the inbound. */
  async secret(email: string): Promise<string> {
    const links = await this.panel.get<string[]>(`/panel/api/clients/links/${email}`);
    const [, secret = ''] = /secret=([0-9a-f]+)/.exec(links.join('\n')) ?? [];
    return secret;
  }

  /** Connects as soon as the program lets it in: it may be about to restart with this client. */
  async client(email: string): Promise<TelegramClient> {
    const secret = await this.secret(email);
    for (const deadline = Date.now() + 15_000; ; await sleep(100)) {
      try {
        return await TelegramClient.connect(this.port, secret);
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  usage(email: string): Promise<{ up: number; down: number; enable: boolean; expiryTime: number }> {
    return this.panel.get(`/panel/api/clients/traffic/${email}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.panel[Symbol.asyncDispose]();
    await this.centre[Symbol.asyncDispose]();
  }
}

// A panel without a core, beside the tunnel service that nock plays.
import type { ExecutionContext } from 'ava';
import nock from 'nock';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Account } from '../account.js';
import type { DeviceStore } from '../device-store.js';
import plugin from '../index.js';
import type { TunnelOutbound } from '../tunnel-outbound.js';
import { WarpApi } from './warp-api.js';

export interface Outbound {
  readonly tag: string;
  readonly protocol: string;
  readonly settings: JsonObject & { readonly secretKey: string; readonly peers: readonly JsonObject[] };
}
type Template = { outbounds: Outbound[]; routing: { rules: JsonObject[] } };

export class TunnelPanel {
  readonly panel: TestPanel;
  readonly clock: FakeClock;
  /** a test may put another `replace` in */
  readonly outbounds: TunnelOutbound;
  readonly store: DeviceStore;

  constructor(panel: TestPanel, clock: FakeClock, outbounds: TunnelOutbound, store: DeviceStore) {
    this.panel = panel;
    this.clock = clock;
    this.outbounds = outbounds;
    this.store = store;
  }

  act(action: string, body?: object) {
    return this.panel.call<string>(`/panel/api/engine/edgetunnel/${action}`, {
      method: 'POST',
      ...(body && { body }),
    });
  }
  apply() {
    return this.panel.call<{ tag: string; replaced: boolean; endpoint: string }>(
      '/panel/api/x/edgetunnel/apply',
      { method: 'POST' },
    );
  }
  async stored(): Promise<Account | undefined> {
    const text = (await this.act('data')).body.obj;
    return text === '' ? undefined : (JSON.parse(text) as Account);
  }
  async currentTemplate(): Promise<Template> {
    const { engineSetting } = await this.panel.get<{ engineSetting: string }>('/panel/api/engine/', {
      method: 'POST',
    });
    return JSON.parse(engineSetting) as Template;
  }
  async outbound(tag = 'warp'): Promise<Outbound | undefined> {
    return (await this.currentTemplate()).outbounds.find((outbound) => outbound.tag === tag);
  }
  async save(change: (template: Template) => object) {
    const engineSetting = change(await this.currentTemplate());
    return this.panel.get('/panel/api/engine/update', { body: { engineSetting } });
  }
  setting(name: string): Promise<unknown> {
    return this.panel
      .get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' })
      .then((all) => all[name]);
  }
  run(job: 'rotate' | 'forget') {
    return this.panel.get(`/panel/api/system/jobs/edgetunnel/${job}`, { method: 'POST' });
  }
  /** Messages of warnings of the plugin. */
  get warnings(): string[] {
    return this.panel.log
      .map((line) => JSON.parse(line) as { msg: string; plugin?: string; level: string })
      .filter(({ level, plugin: name }) => name === 'edgetunnel' && level === 'warn')
      .map(({ msg }) => msg);
  }
}

export async function openTunnelPanel(t: ExecutionContext, dataDirectory?: string): Promise<TunnelPanel> {
  const clock = new FakeClock();
  const observed = servicesOf<{ store: DeviceStore; outbound: TunnelOutbound }>(plugin);
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, observed.plugin],
    clock,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return new TunnelPanel(panel, clock, observed.services.outbound, observed.services.store);
}

/** A fresh service; the one before it is gone. */
export function openService(): WarpApi {
  nock.cleanAll();
  return new WarpApi();
}

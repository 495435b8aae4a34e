// A panel with what an older program holds after its login.
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import {
  ADMIN,
  type Answer,
  type CallOptions,
  type PanelOptions,
  TestPanel,
} from '../../../test/harness/panel.js';

export const OLD_UUID = '11111111-2222-4333-8444-555555555555';

export class OldProgram {
  readonly panel: TestPanel;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(panel: TestPanel, headers: Readonly<Record<string, string>>) {
    this.panel = panel;
    this.#headers = headers;
  }

  static async boot(options: PanelOptions = {}): Promise<OldProgram> {
    const panel = await TestPanel.boot({
      ...options,
      plugins: [new FakeEngine().plugin, ...(options.plugins ?? [])],
    });
    return OldProgram.of(panel);
  }

  /** Logs in as py3xui does. */
  static async of(panel: TestPanel): Promise<OldProgram> {
    const cookieOf = ({ headers }: Answer): string =>
      (headers.getSetCookie().find((line) => line.startsWith('3x-ui=')) ?? '').split(';')[0] ?? '';
    const agent = { 'user-agent': 'python-requests/2.32.3', accept: 'application/json' };
    const first = await panel.call<string>('/csrf-token', { anonymous: true, headers: agent });
    const csrf = { 'x-csrf-token': first.body.obj };
    const headers = { ...agent, ...csrf, cookie: cookieOf(first) };
    const login = await panel.call('/login', { body: ADMIN, anonymous: true, headers });
    return new OldProgram(panel, { ...agent, ...csrf, cookie: cookieOf(login) });
  }

  get cookie(): string {
    return this.#headers['cookie'] ?? '';
  }
  call<T = unknown>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const { headers, ...rest } = options;
    return this.panel.call<T>(path, { ...rest, anonymous: true, headers: { ...this.#headers, ...headers } });
  }
  post<T = unknown>(path: string, body: unknown = {}): Promise<Answer<T>> {
    return this.call<T>(path, { body });
  }

  /** Adds a VLESS inbound over our own API; returns its id. */
  async inbound(): Promise<number> {
    const { obj } = (
      await this.panel.call<{ id: number }>('/panel/api/inbounds/add', {
        body: { protocol: 'vless', port: this.#port++, streamSettings: { network: 'tcp', security: 'none' } },
      })
    ).body;
    return obj.id;
  }
  #port = 24_431;

  [Symbol.asyncDispose](): Promise<void> {
    return this.panel[Symbol.asyncDispose]();
  }
}

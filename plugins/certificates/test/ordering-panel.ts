// A panel that orders certificates, and its calls.
import { FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import type { PanelOptions } from '../../../test/harness/panel.js';
import type { CertificateReply } from '../fields.js';

export const PATH = '/panel/api/x/certificates';

export class OrderingPanel {
  readonly panel: TestPanel;
  constructor(panel: TestPanel) {
    this.panel = panel;
  }
  static async boot(
    { settings }: { readonly settings: object },
    options: PanelOptions = {},
  ): Promise<OrderingPanel> {
    const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], ...options });
    await panel.get('/panel/api/setting/update', { body: settings });
    return new OrderingPanel(panel);
  }

  add(body: object): Promise<CertificateReply> {
    return this.panel.get(PATH, { body: { agreeToTerms: true, ...body } });
  }
  issue(id: number): Promise<CertificateReply> {
    return this.panel.get(`${PATH}/${id}/issue`, { body: {} });
  }
  /** The status and message of an order that is refused, without the time. */
  async refused(id: number): Promise<string> {
    const { status, body } = await this.panel.call(`${PATH}/${id}/issue`, { body: {} });
    return `${status} ${body.code} ${body.msg}`;
  }
  list(): Promise<CertificateReply[]> {
    return this.panel.get(PATH);
  }
  async one(id: number): Promise<CertificateReply> {
    const found = (await this.list()).find((certificate) => certificate.id === id);
    if (!found) throw new Error(`there is no certificate ${id}`);
    return found;
  }
  /** Runs the job now; a clock that was moved has ended the session. */
  async order(): Promise<void> {
    const path = '/panel/api/system/jobs/certificates/orders';
    // On a machine with much to do a login may be refused for a moment.
    await until(async () => {
      const { status, text } = await this.panel.call(path, { body: {} });
      if (status === 200) return true;
      // 409: the clock itself has started it.
      if (status !== 401 && status !== 409) throw new Error(text);
      if (status === 401) await this.panel.login();
      return false;
    }, 'the job runs');
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.panel[Symbol.asyncDispose]();
  }
}

// A panel with endpoints, for tests.
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel, type PanelOptions } from '../../../test/harness/panel.js';
import type { Delivery } from '../delivery-log.js';
import type { EndpointReply } from '../fields.js';
import { Receiver } from './receiver.js';

const PATH = '/panel/api/x/event-callbacks';

export async function bootWithEndpoints(options: PanelOptions = {}) {
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({ ...options, plugins: [engine.plugin, ...(options.plugins ?? [])] });
  const inbound = await panel.addInbound();
  const receivers: Receiver[] = [];
  const add = async (reply?: Receiver['reply'], events: readonly string[] = ['client.*']) => {
    const receiver = await Receiver.start();
    if (reply) receiver.reply = reply;
    receivers.push(receiver);
    const body = { url: receiver.url, events, allowPrivate: true };
    const { id } = await panel.get<{ id: string }>(`${PATH}/endpoints`, { body });
    const endpoint = () => panel.get<EndpointReply>(`${PATH}/endpoints/${id}`);
    const deliveries = () => panel.get<Delivery[]>(`${PATH}/deliveries?endpoint=${id}`);
    return { receiver, id, endpoint, deliveries };
  };
  return {
    panel,
    engine,
    inbound,
    add,
    async [Symbol.asyncDispose]() {
      await panel[Symbol.asyncDispose]();
      for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
    },
  };
}

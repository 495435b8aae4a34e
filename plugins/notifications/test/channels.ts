// Channels for tests, and what they heard.
import { contribute, definePlugin, type Plugin } from '../../../kernel/index.js';
import type { TestPanel } from '../../../test/harness/panel.js';
import { type Channel, Channels, type ClientRecipient, type Notification } from '../contract.js';

export const channel = (name: string, part: Partial<Channel> = {}): Plugin =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    contributes: () => [
      contribute(Channels, { name, isOn: () => true, send: async () => undefined, ...part }),
    ],
  });

/** One that keeps what it is sent. */
export function heardBy(name = 'listening', part: Partial<Channel> = {}) {
  const heard: Notification[] = [];
  return {
    plugin: channel(name, { send: async (notification) => void heard.push(notification), ...part }),
    heard,
    texts: () => heard.map(({ text }) => text),
  };
}

/** One that reaches clients too. */
export function messenger(name = 'messenger', part: Partial<Channel> = {}) {
  const admins: Notification[] = [];
  const clients: { readonly notification: Notification; readonly client: ClientRecipient }[] = [];
  return {
    plugin: channel(name, {
      send: async (notification) => void admins.push(notification),
      sendToClient: async (notification, client) => void clients.push({ notification, client }),
      ...part,
    }),
    admins,
    clients,
  };
}

export const linesOf = (panel: TestPanel): Record<string, unknown>[] =>
  panel.log.map((line) => JSON.parse(line) as Record<string, unknown>);

export interface Listed {
  readonly id: number;
  readonly notificationId: string;
  readonly channel: string;
  readonly event: string;
  readonly severity: string;
  readonly text: string;
  readonly isSummary: boolean;
  readonly client: string;
  readonly state: string;
  readonly attempts: number;
  readonly problem: string;
}
export const deliveriesOf = (panel: TestPanel, query = ''): Promise<Listed[]> =>
  panel.get<Listed[]>(`/panel/api/x/notifications/deliveries${query}`);

// The chat as a channel of notifications.
import { hostname } from 'node:os';
import type { LiveSettings } from '../../kernel/index.js';
import type { Channel, Notification } from '../notifications/contract.js';
import type { ChatCall } from './chat-call.js';
import { embedOf } from './notification-embed.js';
import type { WebhookSettings } from './settings.js';

/** Settings that say from which percentage an alarm is sent. */
const LEVELS = { cpu: 'webhookCpu', memory: 'webhookMemory' } as const;
/** Events of such an alarm: that of all alarms, and those of one, which older panels have. */
const RAISED = new Set(['alarmRaised', 'cpuHigh', 'memoryHigh']);

export class ChatChannel implements Channel {
  readonly name = 'webhook';
  readonly #settings: LiveSettings<WebhookSettings>;
  readonly #chat: ChatCall;

  constructor({ settings, chat }: { settings: LiveSettings<WebhookSettings>; chat: ChatCall }) {
    this.#settings = settings;
    this.#chat = chat;
  }

  isOn(): boolean {
    return this.#settings.read().webhookEnable && this.#chat.isSetUp;
  }
  language(): string {
    return this.#settings.read().webhookLang;
  }
  events(): readonly string[] {
    return this.#settings
      .read()
      .webhookEnabledEvents.split(',')
      .map((name) => name.trim())
      .filter(Boolean);
  }

  async send(notification: Notification, signal: AbortSignal): Promise<void> {
    if (this.#isBelow(notification)) return;
    await this.#chat.post(embedOf(notification, hostname()), { signal });
  }

  /** The alarm has a limit of its own; this channel may want only higher ones. */
  #isBelow({ event, data: { alarm, value } }: Notification): boolean {
    if (!RAISED.has(event) || (alarm !== 'cpu' && alarm !== 'memory')) return false;
    const level = this.#settings.read()[LEVELS[alarm]];
    return level === 0 || (typeof value === 'number' && value < level);
  }
}

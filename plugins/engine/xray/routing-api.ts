// The core's gRPC calls on outbounds, rules and balancers. Outbounds and rules come and go as the bytes that the core's own
// converter writes; nothing here knows their fields.
// Source: Xray-core 26.3.27, app/proxyman/command/command.proto, app/router/command/command.proto.
import protobuf from 'protobufjs/light.js';
import { CoreRefused } from '../driver.js';
import { callCore } from './call.js';
import type { Channel } from './channel.js';
import { eachMessage } from './each-message.js';

const HANDLERS = '/xray.app.proxyman.command.HandlerService';
const ROUTING = '/xray.app.router.command.RoutingService';
const CALL_MS = 10_000;
/** The core compiles the lists of domains of a rule. */
const RULES_MS = 30_000;

/** `xray.app.router.Config`: repeated rules (2) and balancers (3), each as its bytes */
export interface RouterConfig {
  readonly rules: readonly Uint8Array[];
  readonly balancers: readonly Uint8Array[];
}
export const ROUTER_CONFIG = 'xray.app.router.Config';

const message = (): protobuf.Writer => protobuf.Writer.create();
const bytesField = (number: number): number => (number << 3) | 2;
const boolField = (number: number): number => number << 3;

/** The text in field `number` of a message; '' when it is absent. */
export function textIn(bytes: Uint8Array, number: number): string {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const key = reader.uint32();
    if (key === bytesField(number)) return reader.string();
    reader.skipType(key & 7);
  }
  return '';
}

export class RoutingApi {
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** Outbounds by tag, as they were added: `xray.core.OutboundHandlerConfig`. */
  async outbounds(): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    const reply = await this.#call(`${HANDLERS}/ListOutbounds`, new Uint8Array(), 'ListOutbounds');
    await eachMessage(reply, 1, (bytes) => found.set(textIn(bytes, 1), bytes));
    return found;
  }

  async addOutbound(tag: string, outbound: Uint8Array): Promise<void> {
    const request = message().uint32(bytesField(1)).bytes(outbound).finish();
    await this.#call(`${HANDLERS}/AddOutbound`, request, `AddOutbound ${tag}`);
  }

  /** Unknown tags are fine. */
  async removeOutbound(tag: string): Promise<void> {
    const request = message().uint32(bytesField(1)).string(tag).finish();
    await this.#call(`${HANDLERS}/RemoveOutbound`, request, `RemoveOutbound ${tag}`);
  }

  /** Tags of the rules in their order. */
  async ruleTags(): Promise<string[]> {
    const tags: string[] = [];
    const reply = await this.#call(`${ROUTING}/ListRule`, new Uint8Array(), 'ListRule');
    await eachMessage(reply, 1, (bytes) => tags.push(textIn(bytes, 2)));
    return tags;
  }

  /** Appends these; when the core rejects one it adds none of the rules. Never replaces the list: a rejected replacement would leave no rule at all. */
  async addRules({ rules, balancers }: RouterConfig): Promise<void> {
    const config = message();
    for (const rule of rules) config.uint32(bytesField(2)).bytes(rule);
    for (const balancer of balancers) config.uint32(bytesField(3)).bytes(balancer);
    const typed = message()
      .uint32(bytesField(1))
      .string(ROUTER_CONFIG)
      .uint32(bytesField(2))
      .bytes(config.finish())
      .finish();
    const request = message().uint32(bytesField(1)).bytes(typed).uint32(boolField(2)).bool(true).finish();
    await this.#call(`${ROUTING}/AddRule`, request, 'AddRule', RULES_MS);
  }

  /** Unknown tags are fine. */
  async removeRule(tag: string): Promise<void> {
    const request = message().uint32(bytesField(1)).string(tag).finish();
    await this.#call(`${ROUTING}/RemoveRule`, request, `RemoveRule ${tag}`);
  }

  async hasBalancer(tag: string): Promise<boolean> {
    const request = message().uint32(bytesField(1)).string(tag).finish();
    try {
      await this.#call(`${ROUTING}/GetBalancerInfo`, request, `GetBalancerInfo ${tag}`);
      return true;
    } catch (error) {
      if (error instanceof CoreRefused && error.message.endsWith('cannot find tag')) return false;
      throw error;
    }
  }

  #call(path: string, request: Uint8Array, name: string, timeout = CALL_MS): Promise<Buffer> {
    return callCore(this.#channel, { path, request, name, timeout });
  }
}

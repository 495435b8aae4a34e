// The core's gRPC calls that ask where a connection would leave, and that steer its balancers.
// Source: Xray-core 26.3.27, app/router/command/command.proto, common/net/network.proto.
import { isIPv4 } from 'node:net';
import protobuf from 'protobufjs/light.js';
import { ipv6Groups } from '../../../kernel/index.js';
import { type BalancerState, CoreRefused, type RouteAnswer, type RouteQuestion } from '../driver.js';
import { callCore } from './call.js';
import type { Channel } from './channel.js';
import { textIn } from './routing-api.js';

const ROUTING = '/xray.app.router.command.RoutingService';
/** The core looks up the addresses of a name that no rule takes. */
const ROUTE_MS = 15_000;
const CALL_MS = 5_000;
/** xray.common.net.Network */
const NETWORKS = { tcp: 2, udp: 3 } as const;

const bytesField = (number: number): number => (number << 3) | 2;
const intField = (number: number): number => number << 3;

/** The bytes in all fields `number` of a message. */
function parts(bytes: Uint8Array, number: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const key = reader.uint32();
    if (key === bytesField(number)) found.push(reader.bytes());
    else reader.skipType(key & 7);
  }
  return found;
}
const texts = (bytes: Uint8Array, number: number): string[] =>
  parts(bytes, number).map((part) => Buffer.from(part).toString());

/** @param ip canonical */
function addressBytes(ip: string): Uint8Array {
  if (isIPv4(ip)) return Uint8Array.from(ip.split('.').map(Number));
  return Uint8Array.from(ipv6Groups(ip).flatMap((group) => [group >> 8, group & 255]));
}

/** `xray.app.router.command.RoutingContext` */
function contextOf(question: RouteQuestion): Uint8Array {
  const { inboundTag, network, ip, port, domain, protocol, user } = question;
  const context = protobuf.Writer.create();
  if (inboundTag) context.uint32(bytesField(1)).string(inboundTag);
  context.uint32(intField(2)).int32(NETWORKS[network]);
  if (ip) context.uint32(bytesField(4)).bytes(addressBytes(ip));
  if (port) context.uint32(intField(6)).uint32(port);
  if (domain) context.uint32(bytesField(7)).string(domain);
  if (protocol) context.uint32(bytesField(8)).string(protocol);
  if (user) context.uint32(bytesField(9)).string(user);
  return context.finish();
}

const says = (error: unknown, end: string): boolean =>
  error instanceof CoreRefused && error.message.endsWith(end);

export class RouteApi {
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** Undefined when no rule takes the connection. */
  async route(question: RouteQuestion): Promise<RouteAnswer | undefined> {
    const request = protobuf.Writer.create().uint32(bytesField(1)).bytes(contextOf(question)).finish();
    try {
      const reply = await this.#call('TestRoute', request, ROUTE_MS);
      return { outboundTag: textIn(reply, 12), groupTags: texts(reply, 11) };
    } catch (error) {
      if (says(error, 'not enough information for making a decision')) return undefined;
      throw error;
    }
  }

  /** Undefined when the core does not have the balancer. */
  async balancer(tag: string): Promise<BalancerState | undefined> {
    const request = protobuf.Writer.create().uint32(bytesField(1)).string(tag).finish();
    try {
      const [balancer] = parts(await this.#call('GetBalancerInfo', request), 1);
      const message = balancer ?? new Uint8Array();
      return {
        override: parts(message, 5).map((override) => textIn(override, 2))[0] ?? '',
        selected: parts(message, 6).flatMap((principle) => texts(principle, 1)),
      };
    } catch (error) {
      if (says(error, 'cannot find tag')) return undefined;
      throw error;
    }
  }

  /** The core checks neither tag nor target. */
  async override(tag: string, target: string): Promise<void> {
    const request = protobuf.Writer.create().uint32(bytesField(1)).string(tag);
    if (target) request.uint32(bytesField(2)).string(target);
    await this.#call('OverrideBalancerTarget', request.finish());
  }

  #call(method: string, request: Uint8Array, timeout = CALL_MS): Promise<Buffer> {
    return callCore(this.#channel, { path: `${ROUTING}/${method}`, request, name: method, timeout });
  }
}

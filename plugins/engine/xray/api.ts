// The core's gRPC services as plain methods. Replies of any size come as raw bytes; the caller decodes them in slices.
import { callCore } from './call.js';
import { Channel } from './channel.js';
import { tagUnknown, userExists, userUnknown } from './failures.js';
import { decode, encode, wrap, type Messages } from './messages.js';
import { eachMessage } from './each-message.js';
import { RouteApi } from './route-api.js';
import { RoutingApi, textIn } from './routing-api.js';

const HANDLERS = '/xray.app.proxyman.command.HandlerService';
const STATS = '/xray.app.stats.command.StatsService';
const OBSERVATORY = '/xray.core.app.observatory.command.ObservatoryService';

export class CoreApi {
  readonly #channel: Channel;
  /** outbounds, rules and balancers */
  readonly routing: RoutingApi;
  readonly routes: RouteApi;

  /** @param socket path of the Unix socket that the core's api inbound listens on */
  constructor(socket: string) {
    this.#channel = new Channel(socket);
    this.routing = new RoutingApi(this.#channel);
    this.routes = new RouteApi(this.#channel);
  }

  close(): void {
    this.#channel.close();
  }

  /**
   * Resolves when the API answers and the core has opened the ports of its inbounds: until then it holds the lock that
   * ListInbounds needs.
   */
  async answers(timeout: number): Promise<void> {
    await this.#call(
      `${HANDLERS}/ListInbounds`,
      encode('xray.app.proxyman.command.ListInboundsRequest', { isOnlyTags: true }),
      'ListInbounds',
      timeout,
      true,
    );
  }

  /** Inbounds as they were added, without users added since: repeated xray.core.InboundHandlerConfig in field 1. */
  listInbounds(): Promise<Buffer> {
    return this.#call(
      `${HANDLERS}/ListInbounds`,
      encode('xray.app.proxyman.command.ListInboundsRequest', { isOnlyTags: false }),
      'ListInbounds',
      60_000,
    );
  }

  /** After a rejection the core may have the tag without a listener: remove it before the next attempt. */
  async addInbound(inbound: Messages['xray.core.InboundHandlerConfig']): Promise<void> {
    await this.#call(
      `${HANDLERS}/AddInbound`,
      encode('xray.app.proxyman.command.AddInboundRequest', { inbound }),
      `AddInbound ${inbound.tag}`,
      30_000,
    );
  }

  /** @returns false when the core had no inbound of that tag */
  removeInbound(tag: string): Promise<boolean> {
    return unless(
      tagUnknown,
      this.#call(
        `${HANDLERS}/RemoveInbound`,
        encode('xray.app.proxyman.command.RemoveInboundRequest', { tag }),
        `RemoveInbound ${tag}`,
        10_000,
      ),
    );
  }

  /** @returns false when the inbound has a user of that name already */
  addUser(tag: string, user: Messages['xray.common.protocol.User']): Promise<boolean> {
    const operation = wrap('xray.app.proxyman.command.AddUserOperation', { user });
    return unless(
      userExists,
      this.#call(
        `${HANDLERS}/AlterInbound`,
        encode('xray.app.proxyman.command.AlterInboundRequest', { tag, operation }),
        `AddUser ${user.email} to ${tag}`,
        10_000,
      ),
    );
  }

  /** @returns false when the inbound had no user of that name */
  removeUser(tag: string, email: string): Promise<boolean> {
    const operation = wrap('xray.app.proxyman.command.RemoveUserOperation', { email });
    return unless(
      userUnknown,
      this.#call(
        `${HANDLERS}/AlterInbound`,
        encode('xray.app.proxyman.command.AlterInboundRequest', { tag, operation }),
        `RemoveUser ${email} of ${tag}`,
        10_000,
      ),
    );
  }

  /** Repeated xray.common.protocol.User in field 1; there are no pages. */
  inboundUsers(tag: string): Promise<Buffer> {
    return this.#call(
      `${HANDLERS}/GetInboundUsers`,
      encode('xray.app.proxyman.command.GetInboundUserRequest', { tag, email: '' }),
      `GetInboundUsers ${tag}`,
      30_000,
    );
  }

  /** How many users an inbound has. */
  async userCount(tag: string): Promise<number> {
    const reply = await this.#call(
      `${HANDLERS}/GetInboundUsersCount`,
      encode('xray.app.proxyman.command.GetInboundUserRequest', { tag, email: '' }),
      `GetInboundUsersCount ${tag}`,
      10_000,
    );
    return decode('xray.app.proxyman.command.GetInboundUsersCountResponse', reply).count;
  }

  /** Tags of all inbounds. */
  async inboundTags(): Promise<string[]> {
    const tags: string[] = [];
    const reply = await this.#call(
      `${HANDLERS}/ListInbounds`,
      encode('xray.app.proxyman.command.ListInboundsRequest', { isOnlyTags: true }),
      'ListInbounds',
      10_000,
    );
    await eachMessage(reply, 1, (bytes) => tags.push(textIn(bytes, 1)));
    return tags;
  }

  /** Repeated Stat in field 1, in random order; `pattern` is a substring of the counters' names. */
  queryStats(pattern: string): Promise<Buffer> {
    return this.#call(
      `${STATS}/QueryStats`,
      encode('xray.app.stats.command.QueryStatsRequest', { pattern, reset: false }),
      'QueryStats',
      30_000,
    );
  }

  /** Repeated names in field 1: of all users with an open connection, as `user>>>NAME>>>online`. */
  onlineUsers(): Promise<Buffer> {
    return this.#call(`${STATS}/GetAllOnlineUsers`, new Uint8Array(), 'GetAllOnlineUsers', 10_000);
  }

  /** Repeated entries in field 2: address (1), and Unix seconds of its latest connection (2). */
  onlineAddresses(name: string): Promise<Buffer> {
    return this.#call(
      `${STATS}/GetStatsOnlineIpList`,
      encode('xray.app.stats.command.GetStatsRequest', { name, reset: false }),
      'GetStatsOnlineIpList',
      10_000,
    );
  }

  /** One xray.app.stats.command.SysStatsResponse. */
  systemStats(timeout: number): Promise<Buffer> {
    return this.#call(`${STATS}/GetSysStats`, new Uint8Array(), 'GetSysStats', timeout);
  }

  /** One message in field 1, which has repeated xray.core.app.observatory.OutboundStatus in its field 1. */
  outboundStatus(timeout: number): Promise<Buffer> {
    return this.#call(`${OBSERVATORY}/GetOutboundStatus`, new Uint8Array(), 'GetOutboundStatus', timeout);
  }

  /** Calls under way fail; the next one opens another connection. */
  reconnect(): void {
    this.#channel.reconnect();
  }

  #call(
    path: string,
    request: Uint8Array,
    name: string,
    timeout: number,
    waitForReady = false,
  ): Promise<Buffer> {
    return callCore(this.#channel, { path, request, name, timeout, waitForReady });
  }
}

async function unless(expected: (error: unknown) => boolean, call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (expected(error)) return false;
    throw error;
  }
}

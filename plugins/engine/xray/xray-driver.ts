// The driver for Xray-core 26.3.27: a core process with its API on a private Unix socket.
import { resolve } from 'node:path';
import { messageOf, SerialQueue } from '../../../kernel/index.js';
import type { ProcessesApi } from '../../processes/contract.js';
import type { ApiAccountType } from '../users/account-type.js';
import type { Accounts } from '../users/accounts.js';
import { AccountCodecs, PLACEHOLDER } from './account-codecs.js';
import {
  type AppliedDigests,
  type BaseChange,
  CoreRefused,
  CoreUnreachable,
  type CoreBase,
  type CoreDriver,
  type CoreInbound,
  type CoreProcess,
  type CoreUser,
  type DriverRoutes,
  type InboundWithUsers,
  type JsonObject,
  type OnlineUser,
  type OutboundCounter,
  type RunningParts,
  type UserCounter,
} from '../driver.js';
import { changeBase } from './base-change.js';
import { runCommand } from './command.js';
import { testConfig } from './config-test.js';
import { API_RULE, API_TAG, configText } from './config-text.js';
import { convertInbound, convertSample, fillInbound } from './convert.js';
import { CoreLogs } from './core-logs.js';
import { readCounters, readOutbounds } from './counters.js';
import { XrayMonitor } from './monitor.js';
import { readOnline } from './online.js';
import type { NameMark } from './name-mark.js';
import { type DriverLog, EngineFolder } from './folder.js';
import { adopt, launch, reasonOfEnd, type LaunchNeeds, type CoreConnection } from './launch.js';
import { coreSlot, describe, digestsIn } from './record.js';
import { runningParts } from './running-parts.js';
import { removeStaleSockets } from './stale-sockets.js';
import { eachMessage } from './each-message.js';
import { checkApi } from './api-check.js';

export interface XrayDriverOptions {
  /** path of the core's program */
  readonly binary: string;
  /** private directory for config, record, socket and logs; created with mode 0700 when it is missing; one driver at a time */
  readonly directory: string;
  readonly log: DriverLog;
  /** account types of its users */
  readonly accounts: Accounts;
  readonly processes: Pick<ProcessesApi, 'slot'>;
}

const ADDS_AT_ONCE = 64;

/** as `baseConfig` makes it */
interface RoutingJson {
  readonly rules: readonly JsonObject[];
  readonly balancers: readonly JsonObject[];
}

export class XrayDriver implements CoreDriver {
  /** The core accepts requests of 4 MiB; users are shorter in protobuf than in JSON. */
  readonly maxUserBytes = 2_500_000;
  readonly #needs: LaunchNeeds;
  readonly #listeners: Array<(reason: string) => void> = [];
  readonly #logs: CoreLogs;
  readonly monitor = new XrayMonitor(() => this.#requireCore());
  readonly routes: DriverRoutes = {
    route: (question) => this.#requireCore().api.routes.route(this.#names.inQuestion(question)),
    balancer: (tag) => this.#requireCore().api.routes.balancer(tag),
    override: (tag, target) => this.#requireCore().api.routes.override(tag, target),
  };
  #core: CoreConnection | undefined;
  /** account types that the core was seen to read as declared */
  readonly #read = new Set<string>();
  readonly checkApi = async () => checkApi(this.#requireCore(), this.#needs.codecs.accounts);
  /** start, adopt, stop and writes of the record, one after the other */
  readonly #queue = new SerialQueue();

  constructor({ binary, directory, log, accounts, processes }: XrayDriverOptions) {
    const folder = new EngineFolder(resolve(directory));
    this.#needs = {
      // a name without a slash is looked up in PATH
      binary: binary.includes('/') ? resolve(binary) : binary,
      folder,
      slot: coreSlot(processes, folder, log),
      log,
      codecs: new AccountCodecs(accounts),
    };
    this.#logs = new CoreLogs(folder, log, this.#needs.codecs.names);
  }

  async version(): Promise<string> {
    const { binary, folder } = this.#needs;
    await folder.prepare();
    const output = await runCommand({ binary, directory: folder.path, args: ['version'], timeout: 5000 });
    const [, version] = output.split(' ');
    if (version === undefined)
      throw new CoreUnreachable(
        `${binary} version: unexpected output ${JSON.stringify(output.slice(0, 80))}`,
      );
    return version;
  }

  test(base: CoreBase, inbounds: readonly CoreInbound[]): Promise<void> {
    const configTextOf = (...whole: Parameters<CoreDriver['configText']>) => this.configText(...whole);
    return testConfig({ ...this.#needs, configText: configTextOf }, base, inbounds);
  }

  async testAccount(inbound: CoreInbound, sample: CoreUser): Promise<void> {
    if (this.#read.has(inbound.protocol)) return;
    await this.#needs.folder.prepare();
    await convertSample(this.#needs, inbound, sample);
    this.#read.add(inbound.protocol);
  }

  configText(base: CoreBase, inbounds: readonly InboundWithUsers[]): Iterable<string> {
    const { folder, codecs } = this.#needs;
    const paths = { socket: `${folder.path}/api.sock`, access: folder.access, error: folder.error };
    return configText(base, inbounds, paths, codecs);
  }

  /** Kills a process that fits the record but does not answer within three seconds, and adopts nothing. */
  adopt(): Promise<{ process: CoreProcess; digests: AppliedDigests } | undefined> {
    return this.#queue.run(async () => {
      if (this.#core !== undefined)
        throw new Error(`a core (pid ${this.#core.process.identity.pid}) is managed already`);
      const core = await adopt(this.#needs);
      if (core === undefined) return undefined;
      await this.#logs.followFromBeginning();
      this.#setConnection(core);
      return { process: describe(core.process), digests: digestsIn(core.process.note) };
    });
  }

  /** Throws a plain Error when a core runs in the directory already: adopt or stop it first. */
  start(
    base: CoreBase,
    inbounds: readonly InboundWithUsers[],
    digests: AppliedDigests,
  ): Promise<CoreProcess> {
    return this.#queue.run(async () => {
      await this.#logs.followFromEnd();
      const core = await launch(this.#needs, base, inbounds, digests);
      this.#setConnection(core);
      this.#needs.log.info('core started', {
        pid: core.process.identity.pid,
        ms: Date.now() - core.process.startedAt,
      });
      return describe(core.process);
    });
  }

  stop(): Promise<void> {
    return this.#queue.run(async () => {
      const core = this.#core;
      if (core === undefined) return;
      this.#core = undefined;
      core.api.close();
      await core.process.stop();
      const { folder, slot, log } = this.#needs;
      // If this fails it does no harm: the next panel sees that the process is gone.
      await folder
        .removeSocket(core.process.note.socket)
        .then(() => slot.forget())
        .catch((error: unknown) =>
          log.warn('the files of the stopped core could not be removed', { reason: messageOf(error) }),
        );
      log.info('core stopped', { pid: core.process.identity.pid });
    });
  }

  remember(digests: AppliedDigests): Promise<void> {
    return this.#queue.run(async () => {
      const { process } = this.#requireCore();
      await process.remember({ ...process.note, record: digests });
    });
  }

  onExit(listener: (reason: string) => void): void {
    this.#listeners.push(listener);
  }

  detach(): void {
    this.#core?.api.close();
    this.#core?.process.release();
    this.#core = undefined;
  }

  /**
   * If the core's converter rejects the config, the old inbound keeps running. If the core rejects it later (a port that
   * another program holds), the old inbound is gone and the tag is free. The core does not notice a port held by another Xray:
   * probe it before.
   */
  async putInbound(inbound: InboundWithUsers): Promise<void> {
    const { codecs } = this.#needs;
    const { tag } = inbound;
    const { api, inbounds } = this.#requireCore();
    const converted = await convertInbound(this.#needs, inbound);
    const { envelope, others } = await fillInbound(converted, inbound, codecs);
    await inbounds.close(tag);
    await api.removeInbound(tag);
    await removeStaleSockets([inbound]);
    try {
      await api.addInbound(envelope);
    } catch (error) {
      // the core registers the tag before it tries the port
      if (!(error instanceof CoreUnreachable)) await api.removeInbound(tag);
      throw error;
    }
    inbounds.set(tag, envelope.proxySettings?.type ?? 'unknown');
    for (let i = 0; i < others.length; i += ADDS_AT_ONCE) {
      await Promise.all(others.slice(i, i + ADDS_AT_ONCE).map((user) => this.putUser(tag, user)));
    }
  }

  changeBase(base: CoreBase, change: BaseChange): Promise<void> {
    const { outbounds, routing } = base as unknown as { outbounds: JsonObject[]; routing: RoutingJson };
    const rules = [API_RULE, ...routing.rules.map((rule) => this.#names.inRule(rule))];
    const { api } = this.#requireCore();
    return changeBase(this.#needs, api.routing, { outbounds, rules, balancers: routing.balancers }, change);
  }

  running(): Promise<RunningParts> {
    return runningParts(this.#requireCore().api);
  }

  userCount(tag: string): Promise<number> {
    return this.#withUsers(tag, async ({ api }, types) => {
      const placeholders = types.some(({ nobody }) => nobody) ? 1 : 0;
      return (await api.userCount(tag)) - placeholders;
    });
  }

  async removeInbound(tag: string): Promise<void> {
    if (tag === API_TAG) throw new Error(`${API_TAG} is the driver's own connection to the core`);
    const { api, inbounds } = this.#requireCore();
    await inbounds.close(tag);
    await api.removeInbound(tag);
  }

  /** Rejects with CoreRefused, before anything is sent, when the account is malformed or of another protocol. */
  putUser(tag: string, user: CoreUser): Promise<void> {
    return this.#withUsers(tag, async ({ api }, types) => {
      const type = types.find(({ name }) => name === user.account.protocol);
      // The codec rejects an account of another type, and names the one that fits.
      const protocol = type?.name ?? types[0]?.name ?? user.account.protocol;
      const message = this.#needs.codecs.message(user, { tag, protocol });
      const name = this.#names.marked(user.name);
      if (type?.admitsTwins) while (await api.removeUser(tag, name));
      if (await api.addUser(tag, message)) return;
      await api.removeUser(tag, name);
      if (!(await api.addUser(tag, message)))
        throw new CoreRefused(
          `user ${user.name} of inbound ${tag}: another caller adds this user at the same time`,
        );
    });
  }

  removeUser(tag: string, name: string): Promise<void> {
    return this.#withUsers(tag, async ({ api }, types) => {
      const marked = this.#names.marked(name);
      while ((await api.removeUser(tag, marked)) && types.some(({ admitsTwins }) => admitsTwins));
    });
  }

  /** @param protocol without it, the first type that fits the inbound */
  users(tag: string, protocol?: string): Promise<CoreUser[]> {
    return this.#withUsers(tag, async ({ api }, [first]) => {
      const type = protocol ?? first?.name;
      if (type === undefined) throw new CoreRefused(`inbound ${tag}: no plugin declares its accounts`);
      const users: CoreUser[] = [];
      const { codecs } = this.#needs;
      await eachMessage(await api.inboundUsers(tag), 1, (bytes) => users.push(codecs.decode(bytes, type)));
      return users.filter(({ name }) => name !== PLACEHOLDER);
    });
  }

  async counters(prefix: string): Promise<UserCounter[]> {
    return readCounters(this.#requireCore().api, prefix, this.#names);
  }

  async outboundCounters(): Promise<OutboundCounter[]> {
    return readOutbounds(this.#requireCore().api);
  }

  async online(pick: (names: readonly string[]) => readonly string[]): Promise<OnlineUser[]> {
    return readOnline(this.#requireCore().api, pick, this.#names);
  }

  readonly readConnections: CoreDriver['readConnections'] = (listener) =>
    this.#logs.readConnections(listener);
  readonly readLog: CoreDriver['readLog'] = (listener) => this.#logs.readLog(listener);
  readonly logEnd: CoreDriver['logEnd'] = () => this.#logs.end();
  readonly trimLogs: CoreDriver['trimLogs'] = (limits) => this.#logs.trim(limits);

  get #names(): NameMark {
    return this.#needs.codecs.names;
  }

  #requireCore(): CoreConnection {
    if (this.#core === undefined) throw new CoreUnreachable('no core is running');
    return this.#core;
  }

  /** @param call receives the account types of the running inbound; several plugins may declare the same one */
  async #withUsers<T>(
    tag: string,
    call: (core: CoreConnection, types: readonly ApiAccountType[]) => Promise<T>,
  ): Promise<T> {
    const core = this.#requireCore();
    return core.inbounds.use(tag, (type) => call(core, this.#needs.codecs.accounts.byInbound(type)));
  }

  #setConnection(core: CoreConnection): void {
    this.#core = core;
    void core.process.ended.then(async (how) => {
      // after stop, detach or a newer core this exit is expected
      if (this.#core !== core) return;
      this.#core = undefined;
      core.api.close();
      const reason = await reasonOfEnd(this.#needs.folder, how);
      this.#needs.log.warn('core exited', { pid: core.process.identity.pid, reason });
      for (const listener of this.#listeners) listener(reason);
    });
  }
}

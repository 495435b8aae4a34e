// Programs beside the core and other machines that serve users: they learn of every change together with the core.
import { type Contributed, extensionPoint, messageOf, type PluginContext } from '../../../kernel/index.js';
import type { Applied, UserRef } from '../contract.js';

/** A program beside the core, or the way to another machine, that serves users of some inbounds. */
export interface UserServer {
  /** It is asked after all others, about inbounds that none of them serves. */
  readonly last?: true;
  /** Whether it serves the users of this inbound, in place of the core; from memory. */
  serves(inboundId: number): boolean;
  /** Called by `reconcileUsers` with users of its inbounds that may have changed. Resolves soon, with `pending` where the program does not have the change yet. */
  reconcileUsers(users: readonly UserRef[]): Promise<Applied>;
  /** Called by `reconcileConfig`: its inbounds may have changed. Resolves soon as well. `isServed` says whether a server serves an inbound, other than those that are `last`. */
  reconcileInbounds?(isServed: (inboundId: number) => boolean): Promise<Applied>;
}
/** Programs beside the core, and ways to other machines, that serve users. */
export const UserServers = extensionPoint<UserServer>(
  'engine',
  'UserServers',
  ({ serves, reconcileUsers }) =>
    typeof serves === 'function' && typeof reconcileUsers === 'function'
      ? undefined
      : 'it needs the functions serves and reconcileUsers',
);

const NOTHING: Applied = { pending: false, reason: '' };

export class AllUserServers {
  readonly #contributions: PluginContext['contributions'];

  constructor({ contributions }: Pick<PluginContext, 'contributions'>) {
    this.#contributions = contributions;
  }

  /** Gives each program its users and the core the rest; resolves with the first answer that is pending. Rejects only where `core` does. */
  async reconcile(
    users: readonly UserRef[],
    core: (users: readonly UserRef[]) => Promise<Applied>,
  ): Promise<Applied> {
    const answers: Promise<Applied>[] = [];
    let rest = users;
    for (const server of this.#inOrder()) {
      const served = new Map<number, boolean>();
      const isOwn = ({ inboundId }: UserRef): boolean => {
        if (!served.has(inboundId)) served.set(inboundId, isServedBy(server, inboundId));
        return served.get(inboundId) === true;
      };
      const own = rest.filter(isOwn);
      if (own.length === 0) continue;
      rest = rest.filter((ref) => !isOwn(ref));
      answers.push(asked(server, (value) => value.reconcileUsers(own)));
    }
    if (rest.length > 0 || answers.length === 0) answers.push(core(rest));
    return worst(await Promise.all(answers));
  }

  /** Lets each program follow its inbounds while the core follows its config. */
  async reconcileInbounds(core: () => Promise<Applied>): Promise<Applied> {
    const servers = this.#inOrder();
    const isServed = (inboundId: number): boolean =>
      servers.some((server) => server.value.last !== true && isServedBy(server, inboundId));
    const follow = (value: UserServer) => value.reconcileInbounds?.(isServed) ?? NOTHING;
    return worst(await Promise.all([...servers.map((server) => asked(server, follow)), core()]));
  }

  #inOrder(): readonly Contributed<UserServer>[] {
    const servers = this.#contributions(UserServers);
    return [...servers.filter(({ value }) => !value.last), ...servers.filter(({ value }) => value.last)];
  }
}

function isServedBy({ value, fault }: Contributed<UserServer>, inboundId: number): boolean {
  try {
    return value.serves(inboundId);
  } catch (error) {
    fault('the inbounds of a program', error);
    return false;
  }
}

const worst = (answers: readonly Applied[]): Applied =>
  answers.find(({ pending }) => pending) ?? answers.at(-1) ?? NOTHING;

async function asked(
  { value, plugin, fault }: Contributed<UserServer>,
  ask: (server: UserServer) => Applied | Promise<Applied>,
): Promise<Applied> {
  try {
    return await ask(value);
  } catch (error) {
    fault('users of a program', error);
    return { pending: true, reason: `the plugin ${plugin} failed: ${messageOf(error)}` };
  }
}

// What admins do with nodes.
import type { Hooks, Log, Principal, Static } from '../../kernel/index.js';
import type { CallerRightsApi } from '../access/contract.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { beforeNodeDelete } from './contract.js';
import { errors } from './errors.js';
import type { TestReply } from './fields.js';
import type { Figures } from './figures.js';
import type { ClientCertificates } from './mtls/client-certificates.js';
import { type NodeFields, type NodeTarget, NEW_NODE, type SentNode, withSent } from './model.js';
import type { NodeLive } from './node-live.js';
import { factsOf, type NodeStore } from './node-store.js';
import { requireSamePlace } from './stored-token.js';
import type { Descendants } from './status/descendants.js';
import type { Heartbeat } from './status/heartbeat.js';
import type { NodeHistory } from './status/history.js';
import type { Beat } from './status/node-state.js';
import type { NodeStates } from './status/node-states.js';

interface Needs {
  readonly store: NodeStore;
  readonly states: NodeStates;
  readonly heartbeat: Heartbeat;
  readonly descendants: Descendants;
  readonly history: NodeHistory;
  readonly certificates: ClientCertificates;
  readonly figures: Figures;
  readonly live: NodeLive;
  readonly hooks: Hooks;
  readonly log: Log;
  readonly audit: AuditTrailApi | undefined;
  readonly callers: CallerRightsApi | undefined;
}
/** The body as sent: null stands for an empty list. */
export type NodeBody = Omit<SentNode, 'inboundTags'> & {
  readonly inboundTags?: readonly string[] | null | undefined;
};
const sentOf = ({ inboundTags, ...rest }: NodeBody): SentNode => ({
  ...rest,
  ...(inboundTags !== undefined && { inboundTags: inboundTags ?? [] }),
});

export class NodeService {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    const { store, states, heartbeat, descendants, history, certificates, figures, live, hooks, log } = needs;
    const { audit, callers } = needs;
    this.#needs = {
      store,
      states,
      heartbeat,
      descendants,
      history,
      certificates,
      figures,
      live,
      hooks,
      log,
      audit,
      callers,
    };
  }

  /** An enabled node must answer before it is saved. Rejects with UNREACHABLE. */
  async add(body: NodeBody, who: Principal, note: (id: number) => void): Promise<void> {
    const { store, heartbeat, live } = this.#needs;
    const fields = withSent(NEW_NODE, sentOf(body));
    if (store.list().some(({ name }) => name === fields.name))
      throw errors.NAME_TAKEN(undefined, { path: 'name' });
    if (fields.enable) {
      const beat = await heartbeat.test({ ...fields, id: 0 });
      if (!beat.ok) throw errors.UNREACHABLE(beat.error);
    }
    const row = await store.add(fields, who, note);
    live.changed();
    if (row.enable) await heartbeat.probe(row);
  }

  /** Stores a node of another panel, disabled. */
  async adopt(body: NodeBody, who: Principal): Promise<number> {
    const { store, live } = this.#needs;
    const { id } = await store.add(this.disabled(body), who);
    live.changed();
    return id;
  }
  disabled(body: NodeBody): NodeFields {
    return withSent(NEW_NODE, { ...sentOf(body), enable: false });
  }

  async update(id: number, body: NodeBody, who: Principal): Promise<void> {
    const isLimited = this.#isLimited(who);
    const change = (before: NodeFields): NodeFields => {
      const after = withSent(before, sentOf(body));
      if (isLimited) requireSamePlace(before, after, body.apiToken);
      return after;
    };
    await this.#change(id, change, who);
  }
  async setEnable(id: number, enable: boolean, who: Principal): Promise<void> {
    await this.#change(id, (before) => withSent(before, { enable }), who);
  }

  async #change(id: number, change: (before: NodeFields) => NodeFields, who: Principal): Promise<void> {
    const { store, live, descendants, certificates } = this.#needs;
    const row = await store.change(id, change, who);
    if (!row.enable) descendants.forget(id);
    certificates.forget(id);
    live.changed();
  }

  /** Rejects with IN_USE, or with the refusal of another plugin. */
  async delete(id: number, who: Principal): Promise<void> {
    const { store, states, descendants, history, certificates, figures, live, hooks, log } = this.#needs;
    const node = factsOf(store.require(id));
    const inbounds = figures.inboundsOn(id);
    if (inbounds.length > 0)
      throw errors.IN_USE(
        `${inbounds.length} inbounds run on the node ${node.name} (ids ${inbounds.slice(0, 10).join(', ')}); move or delete them first`,
        { path: 'id' },
      );
    await hooks.check(beforeNodeDelete, { node, who });
    await store.delete(id, who);
    states.forget(id);
    descendants.forget(id);
    certificates.forget(id);
    live.changed();
    await history
      .forget(id)
      .catch((error: unknown) => log.warn('the history of a deleted node is not removed', { id, error }));
  }

  /** Looks at the panel of a body; with an id, what is left out is that of the stored node. */
  async test(
    body: NodeBody & { readonly id?: number | undefined },
    who: Principal,
  ): Promise<Static<typeof TestReply>> {
    return testReply(await this.#needs.heartbeat.test(this.target(body, who)));
  }

  target({ id, ...body }: NodeBody & { readonly id?: number | undefined }, who: Principal): NodeTarget {
    const { store } = this.#needs;
    const before = id ? store.fields(store.require(id)) : NEW_NODE;
    const sent = sentOf(body);
    // The name is no part of the call, and the token may be what is tried out.
    const fields = withSent(
      { ...before, enable: false },
      { ...sent, name: sent.name || before.name || 'test', enable: false },
    );
    if (this.#isLimited(who)) requireSamePlace(before, fields, body.apiToken);
    return { ...fields, id: id ?? 0 };
  }

  #isLimited(who: Principal): boolean {
    return this.#needs.callers?.isLimited(who) ?? false;
  }

  /** The stored node, now; the result is its state. */
  async probe(id: number): Promise<Static<typeof TestReply>> {
    return testReply(await this.#needs.heartbeat.probe(this.#needs.store.require(id)));
  }

  /** The panel that answers is meant from now on. */
  async acceptGuid(id: number, who: Principal): Promise<void> {
    const { store, states, live, audit } = this.#needs;
    const { name } = store.require(id);
    const { guid: before, answeredGuid: after } = states.of(id);
    await audit?.act('node', who, { name: 'acceptGuid', facts: { name, before, after } });
    states.acceptGuid(id);
    await states.flush((one) => store.find(one) !== undefined);
    live.changed();
  }
}

function testReply(beat: Beat): Static<typeof TestReply> {
  if (!beat.ok) return { ...NO_ANSWER, error: beat.error };
  const { netUp: _, netDown: _down, ...report } = beat.report;
  return { ...report, status: 'online', error: '', latencyMs: beat.latencyMs, clockOffset: beat.clockOffset };
}
const NO_ANSWER = {
  status: 'offline',
  latencyMs: 0,
  cpuPct: 0,
  memPct: 0,
  uptimeSecs: 0,
  panelVersion: '',
  engineState: '',
  engineError: '',
  engineVersion: '',
  guid: '',
  clockOffset: 0,
} as const;

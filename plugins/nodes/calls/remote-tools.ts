// What a node is asked for an admin: its inbounds, its certificate, an update.
import { createHash } from 'node:crypto';
import type { Principal, Static } from '../../../kernel/index.js';
import type { AuditTrailApi } from '../../audit/contract.js';
import { errors } from '../errors.js';
import type { RemoteInbound, UpdateResult } from '../fields.js';
import type { NodeTarget } from '../model.js';
import type { NodeStore } from '../node-store.js';
import { PROBE_MS } from '../status/prober.js';
import type { NodeStates } from '../status/node-states.js';
import { NodeCallError } from './call-error.js';
import type { NodeCaller, NodeCallOptions } from './node-caller.js';
import { shortened } from './reply.js';

const UPDATE_MS = 20_000;
const UPDATES_AT_ONCE = 4;
const MOST_INBOUNDS = 10_000;
const LONGEST_PATH = 4_096;

interface Needs {
  readonly caller: NodeCaller;
  readonly store: NodeStore;
  readonly states: NodeStates;
  readonly audit: AuditTrailApi | undefined;
}

export class RemoteTools {
  readonly #caller: NodeCaller;
  readonly #store: NodeStore;
  readonly #states: NodeStates;
  readonly #audit: AuditTrailApi | undefined;

  constructor({ caller, store, states, audit }: Needs) {
    this.#audit = audit;
    this.#caller = caller;
    this.#store = store;
    this.#states = states;
  }

  /** Rejects with FAILED and the reason, for display. */
  async #call(target: NodeTarget, path: string, options?: NodeCallOptions): Promise<unknown> {
    try {
      return (await this.#caller.call(target, path, options)).obj;
    } catch (error) {
      throw error instanceof NodeCallError ? errors.FAILED(error.message) : error;
    }
  }

  async inbounds(target: NodeTarget): Promise<Static<typeof RemoteInbound>[]> {
    const list = await this.#call(target, 'panel/api/inbounds/list');
    if (!Array.isArray(list)) throw errors.FAILED('the node sent something else than a list of inbounds');
    if (list.length > MOST_INBOUNDS)
      throw errors.FAILED(
        `the node says that it has ${list.length} inbounds; at most ${MOST_INBOUNDS} are read`,
      );
    return list.map((sent: unknown) => {
      const { id, tag, remark, protocol, listen, port } = (sent ?? {}) as Readonly<Record<string, unknown>>;
      return {
        id: numberOf(id),
        tag: shortened(tag, 255),
        remark: shortened(remark, 255),
        protocol: shortened(protocol, 64),
        listen: shortened(listen, 255),
        port: numberOf(port, 65_535),
      };
    });
  }

  async webCert(id: number): Promise<{ webCertFile: string; webKeyFile: string }> {
    const node = this.#store.require(id);
    if (!node.enable) throw errors.DISABLED(undefined, { path: 'id' });
    const files = await this.#call(this.#store.target(node), 'panel/api/server/getWebCertFiles');
    const { webCertFile, webKeyFile } = (files ?? {}) as Readonly<Record<string, unknown>>;
    return {
      webCertFile: shortened(webCertFile, LONGEST_PATH),
      webKeyFile: shortened(webKeyFile, LONGEST_PATH),
    };
  }

  /** SHA-256 of the certificate of the server, in base64. */
  async fingerprint(target: NodeTarget): Promise<string> {
    if (target.scheme !== 'https') throw errors.NO_HTTPS(undefined, { path: 'scheme' });
    try {
      const raw = await this.#caller.certificate(target, PROBE_MS);
      return createHash('sha256').update(raw).digest('base64');
    } catch (error) {
      throw error instanceof NodeCallError ? errors.FAILED(error.message) : error;
    }
  }

  /** Starts updates of the panels there, a few at once; the results are in the order of the ids. */
  async update(ids: readonly number[], dev: boolean, who: Principal): Promise<Static<typeof UpdateResult>[]> {
    await this.#audit?.act('node', who, { name: 'updatePanel', facts: { ids, dev } });
    const results = new Map<number, Static<typeof UpdateResult>>();
    const next = new Set(ids).values();
    const work = async (): Promise<void> => {
      for (const id of next) results.set(id, await this.#updateOne(id, dev));
    };
    await Promise.all(Array.from({ length: UPDATES_AT_ONCE }, work));
    return [...new Set(ids)].flatMap((id) => results.get(id) ?? []);
  }

  async #updateOne(id: number, dev: boolean): Promise<Static<typeof UpdateResult>> {
    const node = this.#store.find(id);
    const failed = (error: string) => ({ id, name: node?.name ?? '', ok: false, error });
    if (!node) return failed(`there is no node ${id}`);
    if (!node.enable) return failed('the node is disabled');
    if (this.#states.of(id).status !== 'online') return failed('the node is not online');
    try {
      await this.#caller.call(this.#store.target(node), 'panel/api/server/updatePanel', {
        method: 'POST',
        form: dev ? { dev: 'true' } : {},
        timeoutMs: UPDATE_MS,
      });
      return { id, name: node.name, ok: true, error: '' };
    } catch (error) {
      if (!(error instanceof NodeCallError)) throw error;
      return failed(error.message);
    }
  }
}

const numberOf = (value: unknown, most = Number.MAX_SAFE_INTEGER): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most ? value : 0;

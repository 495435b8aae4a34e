// A panel with a core in memory that behaves as a real one does: an inbound that is put again has the users of that moment.
import { type Clock, type definePlugin, type Plugin, provide } from '../../kernel/index.js';
import {
  composeCoreConfig,
  CoreUsers,
  type CoreUserSource,
  Engine,
  type EngineApi,
} from '../../plugins/engine/contract.js';
import { FakeEngine } from '../harness/fake-engine.js';

/** Time that jumps: what came due meanwhile runs once, as after a machine slept. */
export class JumpingClock implements Clock {
  #now = Date.UTC(2026, 0, 15, 12);
  readonly #timers = new Set<{ readonly every: number; next: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }
  every(ms: number, run: () => void): () => void {
    const timer = { every: ms, next: this.#now + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }
  tick(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers].filter(({ next }) => next <= this.#now)) {
      timer.next = this.#now + timer.every;
      timer.run();
    }
  }
}

/** What an engine is given. */
type Scope = Parameters<NonNullable<Parameters<typeof definePlugin>[0]['provides']>>[0];

export class CoreInMemory {
  readonly engine = new FakeEngine();
  /** what of an inbound was put last, by its id */
  readonly put = new Map<number, string>();
  #sources: () => readonly CoreUserSource[] = () => [];
  reconcile: EngineApi['reconcileConfig'] = async () => ({ pending: false, reason: '' });

  /** The users that clients ask for now. */
  wished(inboundIds: Iterable<number>): [name: string, account: object][] {
    return [...inboundIds].flatMap((id) =>
      this.#sources().flatMap((source) =>
        [...source.users(id)].map(({ name, account }): [string, object] => [name, { ...account }]),
      ),
    );
  }
  get users(): [name: string, account: object][] {
    const known = [...this.put.keys()].map((id) => `i${id}.`);
    return [...this.engine.users].filter(([name]) => known.some((start) => name.startsWith(start)));
  }

  get plugin(): Plugin {
    const { plugin } = this.engine;
    return {
      ...plugin,
      provides: (scope: Scope) => {
        this.#sources = () => scope.contributions(CoreUsers).map(({ value }) => value);
        return plugin.provides(scope as never).map((provided) => {
          if (provided.token !== (Engine as unknown)) return provided;
          const api = provided.value as EngineApi;
          let queue: Promise<unknown> = Promise.resolve();
          const apply = async (...args: Parameters<EngineApi['reconcileConfig']>) => {
            const done = await api.reconcileConfig(...args);
            const parts = await scope.hooks.compose(composeCoreConfig, undefined);
            const inbounds = parts.flatMap(({ entry }) => ('inbound' in entry ? [entry.inbound] : []));
            for (const id of [...this.put.keys()])
              if (!inbounds.some((inbound) => inbound.id === id)) this.put.delete(id);
            for (const inbound of inbounds) {
              const text = JSON.stringify(inbound);
              if (this.put.get(inbound.id) === text) continue;
              this.put.set(inbound.id, text);
              for (const name of [...this.engine.users.keys()])
                if (name.startsWith(`i${inbound.id}.`)) this.engine.users.delete(name);
              for (const [name, account] of this.wished([inbound.id]))
                this.engine.users.set(name, account as never);
            }
            return done;
          };
          this.reconcile = (...args) => {
            const result = queue.then(() => apply(...args));
            queue = result.catch(() => undefined);
            return result;
          };
          return provide(Engine, { ...api, reconcileConfig: this.reconcile });
        });
      },
    };
  }
}

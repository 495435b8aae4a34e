// Clients that come back with their ids, by an undo. The core and the programs beside it may still have the counters of
// before the deletion: what they show then is no new traffic.
import { type Log, messageOf, type Tx } from '../../kernel/index.js';
import type { ClientChange } from '../clients/contract.js';
import type { EngineApi } from '../engine/contract.js';
import type { Baselines, Reading } from './baselines.js';
import type { OwnCore } from './own-core.js';
import type { SourceReader } from './source-reader.js';
import type { StreamBaselines, StreamCounter } from './stream-baselines.js';

interface Counters {
  readonly ofCore: readonly Reading[];
  readonly ofStreams: readonly StreamCounter[];
}

const NOTHING: Counters = { ofCore: [], ofStreams: [] };

export class ReturningClients {
  readonly #engine: EngineApi;
  readonly #sources: SourceReader;
  readonly #baselines: Baselines;
  readonly #streams: StreamBaselines;
  readonly #ownCore: OwnCore;
  readonly #log: Log;
  /** until they are saved; undos run one after another */
  #read: Counters = NOTHING;

  constructor(needs: {
    engine: EngineApi;
    sources: SourceReader;
    baselines: Baselines;
    streamBaselines: StreamBaselines;
    ownCore: OwnCore;
    log: Log;
  }) {
    this.#engine = needs.engine;
    this.#sources = needs.sources;
    this.#baselines = needs.baselines;
    this.#streams = needs.streamBaselines;
    this.#ownCore = needs.ownCore;
    this.#log = needs.log;
  }

  /** Before the write. */
  async read(changes: readonly ClientChange[]): Promise<void> {
    const ids = idsOf(changes);
    if (ids.size === 0) return;
    const [counters, readings] = await Promise.all([
      // A core that does not run has none.
      this.#engine.counters().catch((error: unknown) => {
        this.#log.warn('the counters of returning clients are not known; the core did not answer', {
          reason: messageOf(error),
        });
        return undefined;
      }),
      this.#sources.read(),
    ]);
    const ownStream = counters && this.#ownCore.reading(counters);
    if (ownStream) readings.push(ownStream);
    const { epoch = '', users = [] } = ownStream ? {} : (counters ?? {});
    const isAsked = ({ clientId }: { readonly clientId: number }): boolean => ids.has(clientId);
    this.#read = {
      ofCore: users.filter(isAsked).map((user) => ({ ...user, epoch })),
      ofStreams: readings.flatMap(({ stream, epoch: started, users: own }) =>
        own.filter(isAsked).map((user) => ({ ...user, stream, epoch: started })),
      ),
    };
  }

  /** In the write that adds them again. */
  async save(tx: Tx, changes: readonly ClientChange[]): Promise<void> {
    const ids = idsOf(changes);
    if (ids.size === 0) return;
    const { ofCore, ofStreams } = this.#read;
    this.#read = NOTHING;
    if (ofCore.length > 0) await this.#baselines.save(tx, ofCore);
    await this.#streams.save(tx, ofStreams);
  }
}

const idsOf = (changes: readonly ClientChange[]): Set<number> =>
  new Set(changes.flatMap(({ returns, after }) => (returns && after ? after.id : [])));

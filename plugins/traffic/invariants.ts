// Compares the stored readings with the counters of the core: a reading ahead of its counter would hide bytes.
import type { EngineApi } from '../engine/contract.js';
import type { Invariant } from '../invariants/contract.js';
import type { Baselines } from './baselines.js';
import type { OwnCore } from './own-core.js';
import type { StreamBaselines } from './stream-baselines.js';

interface Needs {
  readonly baselines: Baselines;
  readonly streams: StreamBaselines;
  readonly ownCore: OwnCore;
  readonly engine: EngineApi;
}

export const readingsFollow = ({ baselines, streams, ownCore, engine }: Needs): Invariant => ({
  name: 'stored readings are not ahead of the counters of the core',
  fix: 'restart the core: its counters begin at zero then, and every byte counts again',
  check: async ({ add, pause }) => {
    // Read first: the counters only grow meanwhile.
    const stored = new Map<string, { readonly epoch: string; readonly up: number; readonly down: number }>();
    const { stream } = ownCore;
    const ofCore = stream === undefined ? baselines.memory.state : (streams.memory.state.get(stream) ?? []);
    for (const [clientId, ofClient] of ofCore) {
      await pause();
      for (const [inboundId, reading] of ofClient) stored.set(`${inboundId} ${clientId}`, { ...reading });
    }
    const counters = await engine.counters();
    if (!counters) return 'no core runs';
    for (const { clientId, inboundId, up, down } of counters.users) {
      await pause();
      const reading = stored.get(`${inboundId} ${clientId}`);
      if (reading?.epoch !== counters.epoch) continue;
      if (reading.up > up || reading.down > down)
        add(
          `client ${clientId} on the inbound ${inboundId}: ${reading.up} and ${reading.down} bytes are stored, the core counts ${up} and ${down}`,
        );
    }
    return undefined;
  },
});

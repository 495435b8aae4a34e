// The message types of this and other plugins: their part of the snapshot, and the plugin that may send them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contributed } from '../../kernel/index.js';
import type { ClientsApi, ClientTrafficApi } from '../clients/contract.js';
import type { CoreShownApi, EngineApi } from '../engine/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { ServerStatusApi } from '../server-status/contract.js';
import type { PresenceApi } from '../traffic/contract.js';
import { allStats } from './client-stats.js';
import type { LiveOutput, LiveType } from './contract.js';
import type { Invalidations } from './invalidations.js';
import type { Stream } from './stream.js';
import { onlineNow } from './traffic-message.js';

interface Scope {
  readonly stream: Stream;
  readonly invalidations: Invalidations;
  readonly engine: EngineApi;
  readonly shownCore?: CoreShownApi | undefined;
  readonly clients: ClientsApi;
  readonly inbounds: InboundsApi;
  readonly presence: PresenceApi;
  readonly records: ClientTrafficApi;
  readonly status: ServerStatusApi | undefined;
}
/** A new reader waits for all parts of the snapshot, so a slow part is skipped. */
const PATIENCE_MS = 5_000;
const LARGEST_PART = 4 * 2 ** 20;

async function inTime(
  type: string,
  snapshot: () => unknown,
  fault: Contributed<LiveType>['fault'],
): Promise<unknown> {
  const over = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: over.signal }).then(() =>
    Promise.reject(new Error(`it took longer than ${PATIENCE_MS / 1000} s`)),
  );
  try {
    const told: unknown = await Promise.race([snapshot(), late]);
    const { length } = JSON.stringify(told) ?? '';
    if (length > LARGEST_PART)
      throw new Error(`it is ${length} characters long; at most ${LARGEST_PART} are sent`);
    return told;
  } catch (error) {
    fault(`snapshot of the live messages ${type}`, error);
    return undefined;
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}

export function addLiveTypes(
  { stream, invalidations, engine, shownCore = engine, status, ...needs }: Scope,
  added: readonly Contributed<LiveType>[],
): void {
  if (status) stream.addSnapshot('status', () => status.status());
  stream.addSnapshot('engine_state', () => {
    const { state, errorMsg } = shownCore.status();
    return { state, errorMsg };
  });
  stream.addSnapshot('traffic', () => onlineNow(needs));
  stream.addSnapshot('client_stats', () => allStats(needs));
  for (const { value, fault } of added) {
    const { type, snapshot, start, isEvent } = value;
    if (snapshot) stream.addSnapshot(type, () => inTime(type, snapshot, fault));
    // Its messages are then missing, and all others still come.
    const failed = (error: unknown) => fault(`start of the live messages ${type}`, error);
    const out: LiveOutput = {
      send: (payload) => (isEvent ? stream.sendEvent(type, payload) : stream.send(type, payload)),
      invalidate: (resource: unknown) => {
        if (typeof resource !== 'string') throw new TypeError('the name of a resource is text');
        invalidations.addOurs(resource);
      },
    };
    try {
      const started: unknown = start?.(out);
      if (started instanceof Promise) started.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

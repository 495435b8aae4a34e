// What the core runs, as its API returns it.
import { createHash } from 'node:crypto';
import type { RunningParts } from '../driver.js';
import type { CoreApi } from './api.js';
import { plannedTags } from './base-change.js';
import { API_TAG } from './config-text.js';

/** The core writes the entries of a map in random order, so the bytes are put in order first. */
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes.toSorted()).digest('base64');

export async function runningParts(api: CoreApi): Promise<RunningParts> {
  const inbounds = await api.inboundTags();
  const outbounds = await api.routing.outbounds();
  return {
    inbounds: inbounds.filter((tag) => tag !== API_TAG),
    outbounds: new Map(
      [...outbounds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([tag, bytes]) => [tag, digest(bytes)]),
    ),
    ruleTags: plannedTags(await api.routing.ruleTags()),
  };
}

// Outbounds that dial through others. The core follows such a chain for each connection, and a circle without an end.
import type { Issue } from '../../kernel/index.js';
import type { Json, JsonObject } from '../engine/contract.js';

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** The tag of the outbound that this one dials through, and the key that says so. */
function next(outbound: JsonObject): { tag: Json; key: string } | undefined {
  const { dialerProxy } = objectOf(objectOf(outbound['streamSettings'])['sockopt']) as { dialerProxy?: Json };
  if (dialerProxy !== undefined && dialerProxy !== '')
    return { tag: dialerProxy, key: 'streamSettings.sockopt.dialerProxy' };
  const { tag } = objectOf(outbound['proxySettings']) as { tag?: Json };
  return tag === undefined || tag === '' ? undefined : { tag, key: 'proxySettings.tag' };
}

export function chainIssues(outbounds: readonly (readonly [JsonObject, path: string])[]): Issue[] {
  const byTag = new Map(outbounds.map(([outbound]) => [outbound['tag'], outbound]));
  const inCircle = new Set<JsonObject>();
  const done = new Set<JsonObject>();
  for (const [start] of outbounds) {
    /** in their order */
    const way = new Set<JsonObject>();
    let at: JsonObject | undefined = start;
    while (at && !done.has(at) && !way.has(at)) {
      way.add(at);
      at = byTag.get(next(at)?.tag);
    }
    const list = [...way];
    if (at && way.has(at)) for (const outbound of list.slice(list.indexOf(at))) inCircle.add(outbound);
    for (const outbound of list) done.add(outbound);
  }
  return outbounds.flatMap(([outbound, path]) => {
    const through = next(outbound);
    if (!through || !inCircle.has(outbound)) return [];
    const message = `${path}.${through.key}: the outbounds dial through each other in a circle`;
    return [{ path: `${path}.${through.key}`, message }];
  });
}

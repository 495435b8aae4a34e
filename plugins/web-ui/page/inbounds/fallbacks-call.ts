// The fallbacks of an inbound with their version, which is in a header of the reply.
import { queryOptions } from '@tanstack/react-query';
import type { InboundsFallbacksReply, InboundsSetFallbacksInput } from '../../../../sdk/index.js';
import { Transport } from '../../../../sdk/transport.js';
import { panelUrl, session } from '../api/panel.js';
import { isAbsent } from '../api/trouble.js';

const PATH = '/panel/api/inbounds/{id}/fallbacks';

export interface KnownFallbacks {
  readonly fallbacks: InboundsFallbacksReply;
  readonly version: string;
}

class Caller extends Transport {
  async read(id: number, signal: AbortSignal): Promise<KnownFallbacks> {
    const endpoint = { method: 'GET', path: PATH, gives: 'response' } as const;
    const response = await this.call<Response>(endpoint, { id }, { signal });
    const { obj } = (await response.json()) as { obj: InboundsFallbacksReply };
    return { fallbacks: obj, version: /[0-9a-f]{16}/.exec(response.headers.get('etag') ?? '')?.[0] ?? '' };
  }
  save(id: number, body: InboundsSetFallbacksInput['body'], version: string): Promise<string> {
    return this.call(
      { method: 'POST', path: PATH, gives: 'msg' },
      { id, body },
      version === '' ? {} : { ifVersion: version },
    );
  }
}
const caller = new Caller({ url: panelUrl.href, fetch: session.fetch });

/** Null where no plugin has fallbacks. */
export const fallbacksQuery = (id: number) =>
  queryOptions({
    queryKey: ['inbounds', 'fallbacks', id],
    queryFn: async ({ signal }) => {
      try {
        return await caller.read(id, signal);
      } catch (error) {
        if (isAbsent(error)) return null;
        throw error;
      }
    },
    // Rows begin with what they get first, so that must not be an earlier visit's.
    gcTime: 0,
  });

/** Resolves with what the panel says, such as that they are idle. */
export const saveFallbacks = (id: number, body: InboundsSetFallbacksInput['body'], version: string) =>
  caller.save(id, body, version);

// Fallbacks in archives: those of one inbound are one record.
import { inspect, sentenceOf } from '../../kernel/index.js';
import {
  type ArchiveImport,
  type ArchivePart,
  IS_HERE,
  takeEach,
  textIn,
  WILL_BE,
} from '../archive/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { SaveFallbacks, type SentFallback } from './schema.js';
import type { FallbackService } from './service.js';
import type { FallbackStore } from './store.js';

const INBOUNDS = 'inbounds';

/** The fallback as it is here; undefined if its inbound is not. */
function placed(fallback: SentFallback, { references }: ArchiveImport): SentFallback | undefined {
  if (!fallback.childId) return fallback;
  const childId = references.get(INBOUNDS, fallback.childId);
  return typeof childId === 'number' ? { ...fallback, childId } : undefined;
}

export const fallbacksPart = ({
  store,
  service,
  inbounds,
}: {
  store: FallbackStore;
  service: FallbackService;
  inbounds: InboundsApi;
}): ArchivePart => ({
  kind: 'fallbacks',
  version: 1,
  about:
    'where inbounds send connections of another protocol; inboundId and childId are those of this archive',
  after: [INBOUNDS],
  async *export() {
    yield inbounds.list().flatMap(({ id }) => {
      const own = store.of(id).map(({ id: _, masterId: _master, ...fallback }) => fallback);
      return own.length === 0 ? [] : [{ inboundId: id, fallbacks: own }];
    });
  },
  import: (portions, run) =>
    takeEach(portions, run, {
      nameOf: ({ inboundId }) => `inbound ${textIn(inboundId)} of the archive`,
      take: async ({ inboundId, fallbacks }) => {
        const masterId = run.references.get(INBOUNDS, inboundId);
        if (masterId === undefined) return 'the inbound is not here';
        if (masterId !== WILL_BE && store.of(masterId).length > 0) return IS_HERE;
        const result = inspect(SaveFallbacks, { fallbacks });
        if (!('value' in result)) return sentenceOf(result.issues);
        if (!run.apply || masterId === WILL_BE) return undefined;
        const sent = result.value.fallbacks.flatMap((fallback) => placed(fallback, run) ?? []);
        const gone = result.value.fallbacks.length - sent.length;
        if (gone > 0)
          run.note(`inbound ${textIn(inboundId)}`, `${gone} fallbacks lead to inbounds that are not here`);
        await service.replace(masterId, sent, run.who);
        return undefined;
      },
    }),
});

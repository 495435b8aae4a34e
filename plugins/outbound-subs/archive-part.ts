// Subscriptions to lists of outbounds in archives: where the lists are, not what they had.
import { inspect, sentenceOf } from '../../kernel/index.js';
import { type ArchivePart, IS_HERE, takeEach, textIn } from '../archive/contract.js';
import { SentSub } from './fields.js';
import type { SubService } from './sub-service.js';
import type { Sub, SubStore } from './sub-store.js';

const archived = ({
  remark,
  url,
  enabled,
  allowPrivate,
  allowInsecure,
  tagPrefix,
  updateInterval,
  prepend,
}: Sub): object => ({
  remark,
  url,
  enabled,
  allowPrivate,
  allowInsecure,
  tagPrefix,
  updateInterval,
  prepend,
});

export const subsPart = ({ store, service }: { store: SubStore; service: SubService }): ArchivePart => ({
  kind: 'outbound-subs',
  version: 1,
  about: 'lists of outbounds that are fetched, in their order; updateInterval is in seconds',
  async *export() {
    yield store.list().map(archived);
  },
  import: (portions, run) =>
    takeEach(portions, run, {
      nameOf: ({ remark, tagPrefix }) => textIn(remark) || textIn(tagPrefix),
      take: async (record) => {
        if (
          store
            .list()
            .some(({ url, tagPrefix }) => url === record['url'] && tagPrefix === record['tagPrefix'])
        )
          return IS_HERE;
        const result = inspect(SentSub, record);
        if (!('value' in result)) return sentenceOf(result.issues);
        if (run.apply) await service.create(result.value, run.who);
        return undefined;
      },
    }),
});

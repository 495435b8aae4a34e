// Balancers of the JSON subscription in archives.
import { inspect, sentenceOf } from '../../kernel/index.js';
import { type ArchivePart, idsHere, IS_HERE, takeEach, textIn } from '../archive/contract.js';
import type { BalancerStore } from './balancer-store.js';
import { changedFields } from './checked.js';
import { SentBalancer } from './fields.js';

const INBOUNDS = 'inbounds';

export const balancersPart = (store: BalancerStore): ArchivePart => ({
  kind: 'sub-balancers',
  version: 1,
  about: 'balancers of the JSON subscription; ids of inbounds are those of this archive',
  after: [INBOUNDS],
  async *export() {
    yield [...store.list()];
  },
  import: (portions, run) =>
    takeEach(portions, run, {
      nameOf: ({ remark }) => textIn(remark),
      take: async (record) => {
        if (store.list().some(({ remark }) => remark === record['remark'])) return IS_HERE;
        const result = inspect(SentBalancer, record);
        if (!('value' in result)) return sentenceOf(result.issues);
        const { inboundIds = [], memberWeights = {} } = result.value;
        const { here, planned, missing } = idsHere(run, INBOUNDS, inboundIds ?? []);
        if (here.length + planned === 0) return 'its inbounds are not here';
        if (missing > 0) run.note(textIn(record['remark']), `${missing} of its inbounds are not here`);
        const weights = Object.entries(memberWeights ?? {}).flatMap(([id, weight]) => {
          const found = run.references.get(INBOUNDS, Number(id));
          return typeof found === 'number' ? [[String(found), weight] as const] : [];
        });
        if (run.apply)
          await store.add(
            changedFields({ ...result.value, inboundIds: here, memberWeights: Object.fromEntries(weights) }),
            run.who,
          );
        return undefined;
      },
    }),
});

// Groups of hosts in archives, in the form that hosts/add takes.
import { inspectInSlices, sentenceOf } from '../../kernel/index.js';
import { type ArchivePart, idsHere, IS_HERE, takeEach, textIn } from '../archive/contract.js';
import type { HostService } from './host-service.js';
import { groupView, type HostStore } from './host-store.js';
import { AddHosts } from './schemas.js';

export const hostsPart = ({ store, service }: { store: HostStore; service: HostService }): ArchivePart => ({
  kind: 'hosts',
  version: 1,
  about: 'further addresses of inbounds; inboundIds are those of this archive',
  after: ['inbounds'],
  async *export() {
    yield store.list().map(groupView);
  },
  import: (portions, run) =>
    takeEach(portions, run, {
      nameOf: ({ remark, groupId }) => textIn(remark) || textIn(groupId),
      take: async (record) => {
        if (store.get(textIn(record['groupId']))) return IS_HERE;
        const { inboundIds } = record;
        const { here, planned, missing } = idsHere(
          run,
          'inbounds',
          Array.isArray(inboundIds) ? inboundIds : [],
        );
        if (here.length + planned === 0) return 'its inbounds are not here';
        if (missing > 0) run.note(textIn(record['remark']), `${missing} of its inbounds are not here`);
        // A dry run cannot name inbounds that are not here yet.
        const sent = { ...record, inboundIds: run.apply ? here : [1] };
        const result = await inspectInSlices(AddHosts, sent);
        if (!('value' in result)) return sentenceOf(result.issues);
        if (run.apply) await service.add(result.value, run.who);
        return undefined;
      },
    }),
});

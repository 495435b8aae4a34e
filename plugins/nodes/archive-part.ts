// Nodes in archives. They arrive disabled: the panel that wrote the archive may still manage them.
import { inspect, sentenceOf } from '../../kernel/index.js';
import { type ArchivePart, IS_HERE, takeEach, textIn, WILL_BE } from '../archive/contract.js';
import { NodeBody } from './fields.js';
import { NEW_NODE, withSent } from './model.js';
import type { NodeLive } from './node-live.js';
import type { NodeStore } from './node-store.js';

const KIND = 'nodes';

export const nodesPart = ({ store, live }: { store: NodeStore; live: NodeLive }): ArchivePart => ({
  kind: KIND,
  version: 1,
  about: 'other panels that this one manages; apiToken is blank in an archive without secrets',
  before: ['inbounds'],
  async *export({ secrets }) {
    yield store.list().map((row) => {
      const { id, apiToken: _, createdAt: _created, updatedAt: _updated, ...fields } = row;
      return { id, ...fields, apiToken: secrets ? store.fields(row).apiToken : '' };
    });
  },
  import: (portions, run) =>
    takeEach(portions, run, {
      nameOf: ({ name }) => textIn(name),
      take: async (record) => {
        const { id } = record;
        const here = store.list().find(({ name }) => name === record['name']);
        if (here) {
          const isSame = here.address === record['address'] && here.port === record['port'];
          if (isSame) run.references.set(KIND, id, here.id);
          return isSame ? IS_HERE : 'another node has its name';
        }
        const result = inspect(NodeBody, record);
        if (!('value' in result)) return sentenceOf(result.issues);
        const { inboundTags, ...sent } = result.value;
        const fields = withSent(NEW_NODE, { ...sent, inboundTags: inboundTags ?? [], enable: false });
        if (run.apply) {
          run.references.set(KIND, id, (await store.add(fields, run.who)).id);
          live.changed();
        } else run.references.set(KIND, id, WILL_BE);
        if (record['enable'] === true)
          run.note(
            fields.name,
            'it is disabled; enable it when the other panel manages it no longer, with its apiToken if the archive has none',
          );
        return undefined;
      },
    }),
});

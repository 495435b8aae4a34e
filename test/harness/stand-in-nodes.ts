// Nodes that exist in a test only: a plugin that knows them, takes the changes of their users and counts for them.
import { contribute, definePlugin, type Plugin, provide } from '../../kernel/index.js';
import { type Applied, DONE, type UserRef, UserServers } from '../../plugins/engine/contract.js';
import {
  type InboundPlace,
  InboundPlaces,
  Inbounds,
  type InboundsApi,
} from '../../plugins/inbounds/contract.js';
import { NodeRecords } from '../../plugins/node-sync/contract.js';
import { type AddressOutput, AddressReporters } from '../../plugins/addresses/contract.js';
import {
  type CounterReading,
  CounterSources,
  type PresenceOutput,
  PresenceReporters,
} from '../../plugins/traffic/contract.js';

export class StandInNodes {
  /** by the id of their record */
  readonly places = new Map<number, InboundPlace>();
  /** every call of reconcileUsers */
  readonly told: (readonly UserRef[])[] = [];
  /** calls of reconcileInbounds */
  asked = 0;
  answer: Applied = DONE;
  readings: readonly CounterReading[] = [];
  /** false: they are known, and nobody brings them anything */
  serves = true;
  presence: PresenceOutput = { report: () => undefined };
  addresses: AddressOutput = { seen: async () => undefined };
  #inbounds: InboundsApi | undefined;

  constructor(...places: readonly (readonly [nodeId: number, place: InboundPlace])[]) {
    for (const [nodeId, place] of places) this.places.set(nodeId, place);
  }

  get plugin(): Plugin {
    return definePlugin({
      // In the place of the one that talks to nodes.
      name: 'node-sync',
      version: '0.0.0',
      api: 1,
      about: 'Nodes for tests.',
      uses: { inbounds: Inbounds },
      provides: () => [provide(NodeRecords, { protocolOf: () => '', sendAgain: async () => undefined })],
      contributes: ({ inbounds }) => {
        this.#inbounds = inbounds;
        return [
          contribute(InboundPlaces, { place: (nodeId) => this.places.get(nodeId) }),
          contribute(UserServers, {
            serves: (id) => this.serves && this.#nodeOf(id) !== null,
            reconcileUsers: async (users) => {
              this.told.push(users);
              return this.answer;
            },
            reconcileInbounds: async () => {
              this.asked += 1;
              return this.answer;
            },
          }),
          contribute(PresenceReporters, { start: (output) => void (this.presence = output) }),
          contribute(AddressReporters, { start: (output) => void (this.addresses = output) }),
          contribute(CounterSources, { name: 'nodes', read: async () => this.readings }),
        ];
      },
    });
  }

  #nodeOf(inboundId: number): number | null {
    return this.#inbounds?.get(inboundId)?.nodeId ?? null;
  }
}

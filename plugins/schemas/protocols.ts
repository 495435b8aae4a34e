// The protocols that inbounds can speak, as forms need them.
import { InboundForm, type InboundsApi, streamChoices } from '../inbounds/contract.js';
import type { FormDescriber } from './form-describer.js';

/** By name, so that the reply is the same after each start. */
export const protocolSchemas = (
  inbounds: Pick<InboundsApi, 'protocols' | 'pluginOf'>,
  describer: FormDescriber,
) => ({
  inbound: describer.document(InboundForm, 'an inbound'),
  protocols: inbounds
    .protocols()
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((protocol) => {
      const { name, title = name, settings, credential, runBy } = protocol;
      return {
        name,
        title,
        plugin: inbounds.pluginOf(name),
        runBy: runBy ?? 'core',
        streams: streamChoices(protocol),
        settings: describer.document(settings, `settings of ${name}`),
        credential: credential ? describer.document(credential.schema, `credential of ${name}`) : null,
      };
    }),
});

import {
  definePlugin,
  Listeners,
  Plugins,
  route,
  singleton,
  stream,
  type Route,
} from '../../kernel/index.js';
import { Inbounds } from '../inbounds/contract.js';
import { DeclaredSettings } from '../settings/contract.js';
import { Composed } from './composed.js';
import { protocolSchemas } from './protocols.js';
import { settingSchemas } from './settings.js';
import { transportSchemas } from './transports.js';
import { FormDescriber } from './form-describer.js';

const API = '/panel/api/x/schemas';

export default definePlugin({
  name: 'schemas',
  version: '0.1.0',
  api: 1,
  about: 'Describes what forms need: the settings of protocols, transports and plugins, as JSON Schema.',
  uses: { inbounds: Inbounds, declared: DeclaredSettings, listeners: Listeners, plugins: Plugins },
  services: { describer: singleton(FormDescriber) },
  routes: ({ inbounds, declared, plugins, describer }) => {
    const composed = (name: string, doc: string, compose: () => object): Route => {
      const reply = new Composed(plugins, compose);
      return route({
        method: 'GET',
        path: `${API}/${name}`,
        name: `schemas.${name}`,
        doc,
        reply: stream('application/json; charset=utf-8'),
        handle: () => reply.get(),
      });
    };
    return [
      composed(
        'protocols',
        'The protocols of inbounds: the networks and securities of each, and JSON Schema 2020-12 of its settings, with what forms must know in `x-weir`. In the envelope, with an ETag.',
        () => protocolSchemas(inbounds, describer),
      ),
      composed(
        'transports',
        'Stream settings and sniffing of inbounds as JSON Schema 2020-12: as a whole, and by network, security and part. In the envelope, with an ETag.',
        () => transportSchemas(describer),
      ),
      composed(
        'settings',
        'The settings of all plugins as JSON Schema 2020-12, by plugin, as `setting/update` takes them. In the envelope, with an ETag.',
        () => settingSchemas(declared, plugins, describer),
      ),
    ];
  },
});

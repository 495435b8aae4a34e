// Documents in the form of the core's config, for client programs that run the core.
import { contribute, definePlugin, maybe, singleton } from '../../kernel/index.js';
import { Inbounds } from '../inbounds/contract.js';
import { RemoteTexts, RemoteTextSources } from '../remote-texts/contract.js';
import { Formats, type ListFormat } from '../subscription/contract.js';
import { cannotWrite } from './cannot.js';
import { Documents } from './documents.js';
import { compileOutbound, TAG } from './outbound.js';
import { LONGEST_PROFILE, subJsonSettings } from './settings.js';
import { Settled } from './settled.js';
import { readProfile } from './texts/profile.js';

const NOTE = {
  tag: TAG,
  protocol: 'socks',
  settings: { servers: [{ address: '127.0.0.1', port: 1080 }] },
};

export default definePlugin({
  name: 'sub-json',
  version: '0.1.0',
  api: 1,
  about: 'Subscriptions as JSON documents, in the form of the core’s own config.',
  uses: { inbounds: Inbounds, remote: maybe(RemoteTexts) },
  settings: subJsonSettings,
  services: { settled: singleton(Settled), documents: singleton(Documents) },
  contributes: ({ settings, settled, documents }) => [
    contribute(Formats, {
      name: 'json',
      contentType: 'application/json; charset=utf-8',
      prefix: () => (settings.read().subJsonEnable ? settings.read().jsonPath : undefined),
      pathSetting: 'jsonPath',
      publicUrl: () => settings.read().subJsonURI,
      fileName: 'subscription.json',
      cannot: cannotWrite,
      compile: (entry) => {
        // A setting may change without the entry.
        let base = settled.base;
        let write = compileOutbound(entry, base);
        return (fill) => {
          if (base !== settled.base) {
            base = settled.base;
            write = compileOutbound(entry, base);
          }
          return write(fill);
        };
      },
      note: () => JSON.stringify(NOTE),
      body: (entries, written) => documents.body(entries, written),
    } satisfies ListFormat),
    contribute(RemoteTextSources, {
      setting: 'subJsonRoutingRules',
      value: () => settings.read().subJsonRoutingRules,
      maxBytes: LONGEST_PROFILE,
      check: (text) => void readProfile(text),
    }),
  ],
});

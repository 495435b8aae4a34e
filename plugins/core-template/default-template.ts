// The template of a new panel. The engine blocks private targets itself, so no rule and no geodata file is needed for that.
import type { JsonObject } from '../engine/contract.js';

export const DEFAULT_TEMPLATE: JsonObject = {
  log: { loglevel: 'warning' },
  outbounds: [
    { tag: 'direct', protocol: 'freedom', settings: {} },
    { tag: 'blocked', protocol: 'blackhole', settings: {} },
  ],
  policy: { levels: { '0': {} } },
  routing: { domainStrategy: 'AsIs', rules: [], balancers: [] },
};

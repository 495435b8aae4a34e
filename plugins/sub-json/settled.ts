// The settings of the format, read once for each change of them.
import type { LiveSettings, SettingValues } from '../../kernel/index.js';
import type { JsonObject } from '../engine/contract.js';
import { type RemoteTextsApi, textOf } from '../remote-texts/contract.js';
import type { Common } from './outbound.js';
import type { subJsonSettings } from './settings.js';
import { readDns, dnsOf } from './texts/dns.js';
import { readMasks } from './texts/masks.js';
import { readMux } from './texts/mux.js';
import { type PingConfig, readObservatory } from './texts/observatory.js';
import { readProfile } from './texts/profile.js';
import { readRules } from './texts/rules.js';

type Values = SettingValues<typeof subJsonSettings>;

/** What all documents have in common. */
export interface Base extends Common {
  readonly alwaysArray: boolean;
  readonly ping: PingConfig;
  readonly domainStrategy: string;
  readonly rules: readonly JsonObject[];
  readonly dns: JsonObject;
}

const EVERYTHING: JsonObject = { type: 'field', network: 'tcp,udp', outboundTag: 'proxy' };

function baseOf(values: Values, routing: string): Base {
  const profile = readProfile(routing);
  return {
    mux: readMux(values.subJsonMux),
    masks: readMasks(values.subJsonFinalMask),
    alwaysArray: values.subJsonAlwaysArray,
    ping: readObservatory(values.subJsonObservatory),
    domainStrategy: profile?.domainStrategy ?? 'AsIs',
    rules: [...(profile?.rules ?? readRules(values.subJsonRules)), EVERYTHING],
    dns: readDns(values.subJsonDns) ?? profile?.dns ?? dnsOf([{ address: '8.8.8.8', skipFallback: false }]),
  };
}

export class Settled {
  readonly #settings: LiveSettings<typeof subJsonSettings>;
  #values: Values | undefined;
  #routing = '';
  #base: Base | undefined;
  readonly #remote: RemoteTextsApi | undefined;

  constructor({
    settings,
    remote,
  }: {
    settings: LiveSettings<typeof subJsonSettings>;
    remote: RemoteTextsApi | undefined;
  }) {
    this.#settings = settings;
    this.#remote = remote;
  }

  get values(): Values {
    return this.#settings.read();
  }

  /** The same object until a setting changes, or the text at the URL in one. */
  get base(): Base {
    const values = this.#settings.read();
    const routing = textOf(this.#remote, 'subJsonRoutingRules', values.subJsonRoutingRules);
    if (this.#base && this.#values === values && this.#routing === routing) return this.#base;
    this.#values = values;
    this.#routing = routing;
    return (this.#base = baseOf(values, routing));
  }
}

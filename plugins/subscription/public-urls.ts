// The URLs of subscriptions as users reach them, and the host in links.
import type { ListenersApi, LiveSettings } from '../../kernel/index.js';
import { bracketed, hostFor } from './address.js';
import type { OwnCertificate } from './certificate.js';
import type { Compiled } from './compiled.js';
import type { Format, LinkHost } from './contract.js';
import { STANDARD_PATH } from './format-paths.js';
import type { subscriptionSettings } from './settings.js';

export class PublicUrls {
  readonly #compiled: Compiled;
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #config: { readonly publicHost?: string | undefined; readonly port: number };
  readonly #listeners: ListenersApi;
  readonly #certificate: OwnCertificate;
  /** Nearly all fetches use the same host. */
  #last: { readonly asked: string; readonly subDomain: string; readonly host: string } | undefined;

  constructor(needs: {
    compiled: Compiled;
    settings: LiveSettings<typeof subscriptionSettings>;
    config: { publicHost?: string | undefined; port: number };
    listeners: ListenersApi;
    certificate: OwnCertificate;
  }) {
    this.#compiled = needs.compiled;
    this.#settings = needs.settings;
    this.#config = needs.config;
    this.#listeners = needs.listeners;
    this.#certificate = needs.certificate;
  }

  /** The host in links; IPv6 in brackets. */
  host(asked: LinkHost): string {
    if (typeof asked !== 'string') return bracketed(asked.named);
    const { subDomain } = this.#settings.read();
    const last = this.#last;
    if (last?.asked === asked && last.subDomain === subDomain) return last.host;
    const host = hostFor(asked, { publicHost: this.#config.publicHost, subDomain });
    this.#last = { asked, subDomain, host };
    return host;
  }

  /** Undefined while the format is not served; `host` comes from `host`. */
  of(format: Format, subId: string, host: string): string | undefined {
    const prefix = this.#compiled.pathOf(format);
    if (prefix === undefined) return undefined;
    const id = encodeURIComponent(subId);
    const own = format.publicUrl?.() ?? '';
    if (own !== '') return withSlash(own) + id;
    const { subURI } = this.#settings.read();
    if (subURI !== '')
      // It is the place of the standard format; the others have their paths on the same host.
      return (format.pathSetting === STANDARD_PATH ? withSlash(subURI) : new URL(prefix, subURI).href) + id;
    const scheme = this.#certificate.isOn ? 'https' : 'http';
    const port = this.#listeners.port('subscription') || this.#config.port;
    const usual = this.#certificate.isOn ? 443 : 80;
    return `${scheme}://${host}${port === usual ? '' : `:${port}`}${prefix}${id}`;
  }
}

const withSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`);

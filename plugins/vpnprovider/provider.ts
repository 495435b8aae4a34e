// The account at the VPN provider, and the outbounds through its servers.
import type { Database, LiveSettings, Principal } from '../../kernel/index.js';
import { type CoreTemplateApi, wireguardTags, withWireguard } from '../core-template/contract.js';
import { errors } from './errors.js';
import type { ProviderService } from './provider-service.js';
import { readServer, type Server, tagOf, tunnelTo } from './server.js';
import { type Credentials, type providerSettings, readCredentials } from './settings.js';

/** Servers with less load are new or about to go. */
const LEAST_LOAD = 7;

interface Needs {
  readonly db: Database;
  readonly settings: LiveSettings<typeof providerSettings>;
  readonly template: CoreTemplateApi | undefined;
  readonly service: ProviderService;
}
/** JSON text for `obj`, and a sentence for people. */
export interface Done {
  readonly text: string;
  readonly said: string;
}
export interface Applied {
  readonly outbound: { readonly tag: string; readonly replaced: boolean; readonly endpoint: string };
  readonly said: string;
}

export class Provider {
  readonly #needs: Needs;

  constructor({ db, settings, template, service }: Needs) {
    this.#needs = { db, settings, template, service };
  }

  /** JSON text of the credentials; blank for none. */
  get stored(): string {
    return this.#needs.settings.read().vpnproviderSecret;
  }
  get #credentials(): Credentials | undefined {
    return this.stored === '' ? undefined : readCredentials(this.stored);
  }

  async countries(): Promise<Done> {
    return { text: await this.#needs.service.countries(), said: 'the countries of the provider' };
  }

  async servers(countryId: string): Promise<Done> {
    const { text, servers, leftOut } = await this.#needs.service.servers(countryId, isLoaded);
    return {
      text,
      said: `${servers.length} servers${leftOut === 0 ? '' : `; ${leftOut} with a load of at most ${LEAST_LOAD} are left out`}`,
    };
  }

  /** Asks the provider for the key of this account, and stores both. */
  async register(token: string, who: Principal): Promise<Done> {
    return this.#store({ private_key: await this.#needs.service.privateKey(token), token }, who);
  }

  setKey(key: string, who: Principal): Promise<Done> {
    return this.#store({ private_key: key, token: '' }, who);
  }

  async delete(who: Principal): Promise<Done> {
    const using = this.#using();
    await this.#save('', who);
    return { text: '', said: withUsers('the key is removed', using, 'still have it') };
  }

  /** Puts the server into its outbound of the template. Rejects as `CoreTemplate.change` does. */
  async apply(server: Server, who: Principal): Promise<Applied> {
    const { template } = this.#needs;
    const credentials = this.#credentials;
    if (!credentials) throw errors.NO_KEY();
    if (!template) throw errors.NO_TEMPLATE();
    const tag = tagOf(server);
    const tunnel = tunnelTo(server, credentials.private_key);
    let replaced = false;
    const said = await template.change(
      (current) => {
        replaced = wireguardTags(current).includes(tag);
        return withWireguard(current, tag, tunnel);
      },
      who,
      `the outbound ${tag} of the VPN provider`,
    );
    return { outbound: { tag, replaced, endpoint: tunnel.endpoint }, said };
  }

  /** Finds a server by its name in the provider's list. */
  async find(countryId: number, hostname: string): Promise<Server> {
    const { servers } = await this.#needs.service.servers(
      String(countryId),
      (server) => String((Object(server) as { hostname?: unknown }).hostname).toLowerCase() === hostname,
    );
    if (servers.length === 0)
      throw errors.NO_SERVER(
        `the provider has no server ${hostname} with WireGuard in the country ${countryId}; the action servers lists them`,
        { path: 'hostname' },
      );
    const server = readServer(servers[0]);
    if (typeof server === 'string')
      throw errors.SERVICE(`the provider's entry of ${hostname} cannot be used: ${server}`);
    return server;
  }

  async #store(credentials: Credentials, who: Principal): Promise<Done> {
    const { private_key, token } = credentials;
    const using = private_key === this.#credentials?.private_key ? [] : this.#using();
    const text = JSON.stringify({ private_key, token });
    await this.#save(text, who);
    return {
      text,
      said: withUsers('the key is stored', using, 'still have the previous one; apply them again'),
    };
  }

  #save(text: string, who: Principal): Promise<void> {
    const { db, settings } = this.#needs;
    return db.write((tx) => settings.change(tx, { vpnproviderSecret: text }, who));
  }

  /** Tags of the outbounds with the key that is stored. */
  #using(): string[] {
    const { template } = this.#needs;
    const credentials = this.#credentials;
    return template && credentials ? wireguardTags(template.read(), credentials.private_key) : [];
  }
}

const withUsers = (done: string, tags: readonly string[], what: string): string =>
  tags.length === 0
    ? done
    : `${done}; these outbounds of the template ${what}: ${tags.slice(0, 20).join(', ')}`;

/** A server whose load the provider does not say stays. */
function isLoaded(server: unknown): boolean {
  const { load } = Object(server) as { load?: unknown };
  return typeof load !== 'number' || load > LEAST_LOAD;
}

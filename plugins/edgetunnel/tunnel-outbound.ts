// The outbounds of the admin's template that lead through the tunnel service.
import type { Principal } from '../../kernel/index.js';
import {
  type CoreTemplateApi,
  type WireguardTunnel,
  wireguardTags,
  withWireguard,
} from '../core-template/contract.js';
import { errors } from './errors.js';

export const TAG = 'warp';

export interface Put {
  /** whether the outbound was there before */
  readonly replaced: boolean;
  /** what the template says of the change */
  readonly said: string;
}

export class TunnelOutbound {
  readonly #template: CoreTemplateApi | undefined;

  constructor({ template }: { template: CoreTemplateApi | undefined }) {
    this.#template = template;
  }

  /** Tags of the outbounds that use this private key. */
  using(privateKey: string): string[] {
    return this.usage()(privateKey);
  }
  /** As `using`, for many keys: the template is read once. */
  usage(): (privateKey: string) => string[] {
    const template = this.#template?.read();
    return (privateKey) => (template ? wireguardTags(template, privateKey) : []);
  }

  /** Adds the outbound `warp`, or changes the one that is there. Rejects as `CoreTemplate.change` does. */
  async put(tunnel: WireguardTunnel, who: Principal): Promise<Put> {
    const template = this.#template;
    if (!template) throw errors.NO_TEMPLATE();
    let replaced = false;
    const said = await template.change(
      (current) => {
        replaced = wireguardTags(current).includes(TAG);
        return withWireguard(current, TAG, tunnel);
      },
      who,
      `the outbound ${TAG} of the tunnel service`,
    );
    return { replaced, said };
  }

  /** Puts the tunnel into `warp` and all outbounds with the previous key. Resolves with a blank where there is none. */
  async replace(previousKey: string, tunnel: WireguardTunnel, who: Principal): Promise<string> {
    const template = this.#template;
    const tagsIn = (current: Parameters<typeof wireguardTags>[0]) => [
      ...new Set([
        ...wireguardTags(current, previousKey),
        ...wireguardTags(current).filter((tag) => tag === TAG),
      ]),
    ];
    if (!template || tagsIn(template.read()).length === 0) return '';
    return template.change(
      (current) => tagsIn(current).reduce((changed, tag) => withWireguard(changed, tag, tunnel), current),
      who,
      'another device of the tunnel service',
    );
  }
}

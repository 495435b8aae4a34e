// The outbounds of the config that the core should have.
import { OWN_TAG_PREFIX } from '../../core-guard/contract.js';
import type { CoreOutboundsApi } from '../contract.js';
import type { JsonObject } from '../driver.js';
import type { Supervisor } from '../life/supervisor.js';

export class ConfiguredOutbounds implements CoreOutboundsApi {
  readonly #supervisor: Pick<Supervisor, 'parts'>;

  constructor({ supervisor }: { supervisor: Pick<Supervisor, 'parts'> }) {
    this.#supervisor = supervisor;
  }

  async tags(): Promise<ReadonlySet<string>> {
    return new Set((await this.all()).map(({ tag }) => String(tag)));
  }

  async all(): Promise<readonly JsonObject[]> {
    const { base } = await this.#supervisor.parts().plan();
    const outbounds = (base['outbounds'] ?? []) as readonly JsonObject[];
    return outbounds.filter(
      ({ tag }) => typeof tag === 'string' && tag !== '' && !tag.startsWith(OWN_TAG_PREFIX),
    );
  }
}

// The core's log of connections, read from its end for people.
import { type CoreLogApi, type CoreLogEntry, type CoreLogPlace, userOf } from '../contract.js';
import type { JsonObject } from '../driver.js';
import type { Supervisor } from '../life/supervisor.js';

type Way = CoreLogEntry['way'];
/** Names of protocols of outbounds; the core knows both spellings. */
const WAYS: Readonly<Record<string, Way>> = {
  freedom: 'direct',
  direct: 'direct',
  blackhole: 'blocked',
  block: 'blocked',
};

const wayOf = ({ protocol }: JsonObject): Way => WAYS[String(protocol).toLowerCase()] ?? 'proxied';

export class ConnectionLog implements CoreLogApi {
  readonly #supervisor: Pick<Supervisor, 'reader' | 'parts'>;

  constructor({ supervisor }: { supervisor: Pick<Supervisor, 'reader' | 'parts'> }) {
    this.#supervisor = supervisor;
  }

  async end(): Promise<CoreLogPlace | undefined> {
    return this.#supervisor.reader?.logEnd();
  }

  async readBackwards(listener: (entry: CoreLogEntry, at: number) => boolean): Promise<void> {
    const { reader } = this.#supervisor;
    if (!reader) return;
    const { base } = await this.#supervisor.parts().plan();
    const outbounds = (base['outbounds'] ?? []) as readonly JsonObject[];
    const ways = new Map(outbounds.map((outbound) => [String(outbound['tag']), wayOf(outbound)]));
    // Written out: a spread takes half of the time of a line.
    await reader.readLog(({ at, from, to, inbound, outbound, name }, place) =>
      listener(
        {
          at,
          from,
          to,
          inbound,
          outbound,
          way: ways.get(outbound) ?? 'proxied',
          user: userOf(name),
          name,
        },
        place,
      ),
    );
  }
}

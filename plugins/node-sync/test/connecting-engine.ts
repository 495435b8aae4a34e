// A core whose connections a test names, and what is found to be over a limit of addresses.
import { addressLimitExceeded } from '../../addresses/contract.js';
import { type AcceptedPeer, CoreAccess, type UserRef } from '../../engine/contract.js';
import { definePlugin, type Plugin, provide, tap } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/index.js';

export class ConnectingEngine extends FakeEngine {
  /** addresses over the limit of a client, as `email address` */
  readonly exceeded: string[] = [];
  #listener: (batch: readonly AcceptedPeer[]) => void = () => undefined;
  #port = 1000;

  /** The core accepts a connection of this user. */
  connect(user: UserRef, address: string): void {
    this.#listener([{ ...user, address, port: this.#port++ }]);
  }

  override get plugin(): Plugin {
    const { plugin } = { plugin: super.plugin };
    return {
      ...plugin,
      provides: (scope) => [
        ...plugin.provides(scope),
        provide(CoreAccess, {
          admits: () => true,
          follow: (listener) => {
            this.#listener = listener;
            return () => undefined;
          },
          catchUp: async () => undefined,
        }),
      ],
    };
  }

  get listener(): Plugin {
    return definePlugin({
      name: 'listener',
      version: '0.0.0',
      api: 1,
      about: 'Receives events.',
      taps: () => [
        tap(addressLimitExceeded, ({ clients }) => {
          for (const { email, over } of clients)
            this.exceeded.push(...over.map(({ ip }) => `${email} ${ip}`));
        }),
      ],
    });
  }
}

// Has the core test a whole config without starting it.
import { randomBytes } from 'node:crypto';
import { type CoreBase, type CoreInbound, type JsonObject, ProtocolRefused } from '../driver.js';
import { runCommand } from './command.js';
import type { Needs } from './convert.js';
import { unknownProtocol } from './failures.js';
import type { InboundWithUsers } from '../driver.js';

const TEST_LIMIT_MS = 20_000;

/** A test makes the network interface of a tun, and fails where the running core has it already: it gets a name of its own. */
const withOwnInterface = (inbound: CoreInbound): CoreInbound =>
  inbound.config['protocol'] === 'tun'
    ? {
        ...inbound,
        config: {
          ...inbound.config,
          settings: {
            ...(inbound.config['settings'] as JsonObject),
            name: `weir${randomBytes(4).toString('hex')}`,
          },
        },
      }
    : inbound;

type TestNeeds = Pick<Needs, 'binary' | 'folder'> & {
  readonly configText: (base: CoreBase, inbounds: readonly InboundWithUsers[]) => Iterable<string>;
};

/** Inbounds are tested without users. Rejects with CoreRefused. */
export async function testConfig(
  { binary, folder, configText }: TestNeeds,
  base: CoreBase,
  inbounds: readonly CoreInbound[],
): Promise<void> {
  await folder.prepare();
  const config = configText(
    base,
    inbounds.map((inbound) => ({ ...withOwnInterface(inbound), users: [] })),
  );
  await folder
    .withTemporary(['.json'], async (path = '') => {
      await folder.write(path, config);
      await runCommand({
        binary,
        directory: folder.path,
        args: ['run', '-test', '-c', path],
        timeout: TEST_LIMIT_MS,
      });
    })
    .catch((error: unknown) => {
      const unknown = unknownProtocol(error);
      if (unknown === undefined || !inbounds.some(({ config: { protocol } }) => protocol === unknown))
        throw error;
      throw new ProtocolRefused(`the core does not know the protocol ${unknown}`, { cause: error });
    });
}

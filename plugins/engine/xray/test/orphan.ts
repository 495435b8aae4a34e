// A panel to be killed: starts a core through the driver, says so, and waits.
// Arguments: directory, JSON of [inbounds with users, digests]
import type { AppliedDigests, InboundWithUsers } from '../../driver.js';
import { XrayDriver } from '../xray-driver.js';
import { accountsOf, base, engineBinary, processes, quiet } from './harness.js';

const [directory = '', input = '[]'] = process.argv.slice(2);
const [inbounds, digests] = JSON.parse(input) as [InboundWithUsers[], AppliedDigests];
const driver = new XrayDriver({
  binary: engineBinary(),
  directory,
  log: quiet,
  accounts: accountsOf(),
  processes,
});
const started = await driver.start(base, inbounds, digests);
process.stdout.write(`${JSON.stringify(started)}\n`);
setInterval(() => {}, 60_000);

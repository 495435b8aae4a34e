// A panel to be killed: starts a core through the driver, says so, and waits.
// Arguments: directory, JSON of [inbounds with users, record]
import type { CoreRecord } from '../../driver.js';
import type { InboundWithUsers } from '../config.js';
import { XrayDriver } from '../driver.js';
import { accountsOf, base, engineBinary, processes, quiet } from './harness.js';

const [directory = '', input = '[]'] = process.argv.slice(2);
const [inbounds, record] = JSON.parse(input) as [InboundWithUsers[], CoreRecord];
const driver = new XrayDriver({
  binary: engineBinary(),
  directory,
  log: quiet,
  accounts: accountsOf(),
  processes,
});
const started = await driver.start(base, inbounds, record);
process.stdout.write(`${JSON.stringify(started)}\n`);
setInterval(() => {}, 60_000);

// Another version of the core, the real one: installed, used and left again.
import { readFile } from 'node:fs/promises';
import { testUnless } from '../../../test/harness/left-out.js';
import { installAndReturn } from './installed-panel.js';
import { ReleaseServer } from './release-server.js';
import { SECOND_VERSION, secondCore } from './second-core.js';

const second = await secondCore();

testUnless('missing' in second ? second.missing : '')(
  `core ${SECOND_VERSION} is installed and left again, with every byte counted`,
  async (t) => {
    const releases = await ReleaseServer.open(t);
    releases.add(SECOND_VERSION, await readFile('binary' in second ? second.binary : ''));
    await installAndReturn(t, releases, SECOND_VERSION);
  },
);

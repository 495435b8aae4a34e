// A panel whose cores and geodata come from servers of the test: one release, which is the core under another name.
import { coreThatSays, ReleaseServer } from '../../plugins/engine-versions/test/release-server.js';
import { folderWithCore } from '../../plugins/engine-versions/test/installed-panel.js';
import { ipFile, siteFile } from '../../plugins/geodata/test/dat.js';
import { SourceServer } from '../../plugins/geodata/test/source-server.js';
import type { CorePanel, Teardown } from '../engine/core-panel.js';
import { engineBinary, openPanel } from '../engine/user.js';

export const RELEASED = '26.4.1';

export async function openWithSources(t: Teardown): Promise<CorePanel> {
  const releases = await ReleaseServer.open(t);
  releases.add(RELEASED, coreThatSays(RELEASED, engineBinary()));
  const geodata = await SourceServer.open(t);
  geodata.file('geoip.dat', ipFile({ PRIVATE: ['10.0.0.0/8'] }));
  geodata.file('geosite.dat', siteFile({ PRIVATE: ['full:localhost'] }));
  const panel = await openPanel(t, {
    dataDirectory: await folderWithCore(),
    env: { ...releases.env, WEIR_PRESET: 'full', WEIR_OUTGOING_ALLOW: '127.0.0.1' },
  });
  await panel.get('/panel/api/setting/update', {
    body: { addressesIgnored: '', geodataSources: geodata.sources('geoip.dat', 'geosite.dat') },
  });
  return panel;
}

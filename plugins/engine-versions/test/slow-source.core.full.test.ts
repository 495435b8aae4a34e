// A source that is slow, but sends: the caller gets the reply, though nothing is sent to it for longer than half a minute.
import test from 'ava';
import { engineBinary } from '../../../test/engine/user.js';
import { ipFile } from '../../geodata/test/dat.js';
import { SourceServer } from '../../geodata/test/source-server.js';
import { install, openWith } from './installed-panel.js';
import { coreThatSays, ReleaseServer, slowly } from './release-server.js';

const SLOW_MS = 36_000;

test('an install over a slow line is answered', async (t) => {
  const releases = await ReleaseServer.open(t);
  releases.add('26.4.1', coreThatSays('26.4.1', engineBinary()), { slowMs: SLOW_MS });
  const panel = await openWith(t, releases);
  const { status, body } = await install(panel, '26.4.1');
  t.is(status, 200, body.msg);
});

test('an update of geodata over a slow line is answered', async (t) => {
  const releases = await ReleaseServer.open(t);
  const source = await SourceServer.open(t);
  const file = ipFile({ DE: Array.from({ length: 100 }, (_, i) => `192.0.${i}.0/24`) });
  source.set('/geoip.dat', (_, response) => slowly(response, file, SLOW_MS));
  const panel = await openWith(t, releases, { WEIR_OUTGOING_ALLOW: '127.0.0.1' });
  await panel.get('/panel/api/setting/update', { body: { geodataSources: source.sources('geoip.dat') } });
  const { status, body } = await panel.call('/panel/api/server/updateGeofile/geoip.dat', { method: 'POST' });
  t.is(status, 200, body.msg);
});

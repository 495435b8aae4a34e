// The check of values against the verdict of the real core: what the core rejects is always named before.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { engineBinary } from '../../../test/engine/user.js';
import type { JsonObject } from '../../engine/contract.js';
import { AssetFiles } from '../asset-files.js';
import { GeodataCheck } from '../part-check.js';
import { ipFile, siteFile } from './dat.js';

const VALUES = `geoip:de geoip:DE geoip:!de geoip:fr geoip:!fr geoip: geoip:! geoip:!!de geoip:de@x geoip:low
  geosite:ads geosite:ADS geosite:fr geosite:!ads geosite: geosite:@ads geosite:ads@ads geosite:ads@ADS geosite:ads@
  geosite:ads@ads@cn geosite:low ext:geoip.dat:de ext:geoip.dat:!de ext:geoip.dat:fr ext:nofile.dat:de ext:geoip.dat ext::de
  ext:geoip.dat: ext:geoip.dat:! ext:a:b:c ext-ip:geoip.dat:de ext-ip:geosite.dat:ads ext-domain:geosite.dat:ads
  ext-domain:geosite.dat:ads@ads ext-domain:geoip.dat:de ext:geosite.dat:ads ext:geosite.dat:!ads ext:broken.dat:de
  ext:empty.dat:de ext:geosite.dat:none 10.0.0.0/8 domain:example.com full:x keyword:y geoip ext GEOIP:de`.split(
  /\s+/,
);
/** Stricter than the core on purpose. */
const STRICTER =
  /no domain of .* has the attribute|holds (?:addresses|domains), and|it stands for|must be plain|cannot be used/;

test('every value that the core rejects is named, and what it accepts is not', async (t) => {
  t.timeout(120_000);
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-geo-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const folder = join(dataDirectory, 'geodata');
  await mkdir(folder);
  await writeFile(join(folder, 'geoip.dat'), ipFile({ DE: ['192.0.2.0/24'], low: ['192.0.2.0/24'] }));
  await writeFile(
    join(folder, 'geosite.dat'),
    siteFile({ ADS: ['full:ads.example @ads @cn', 'full:b.example'], NONE: [] }),
  );
  await writeFile(join(folder, 'broken.dat'), 'no geodata');
  await writeFile(join(folder, 'empty.dat'), '');
  const check = new GeodataCheck({ files: new AssetFiles({ dataDirectory }) });
  const accepts = (config: object): Promise<boolean> =>
    new Promise((resolve) => {
      const child = execFile(
        engineBinary(),
        ['run', '-test', '-c', 'stdin:'],
        { env: { XRAY_LOCATION_ASSET: folder }, cwd: folder },
        (error) => resolve(error === null),
      );
      child.stdin?.end(JSON.stringify(config));
    });
  const outbounds = [{ tag: 'direct', protocol: 'freedom' }];
  const places: [string, (value: string) => { part: object; config: object }][] = [
    ...['ip', 'sourceIP', 'source', 'localIP', 'domain', 'domains'].map(
      (field): [string, (value: string) => { part: object; config: object }] => [
        field,
        (value) => {
          const rule = { type: 'field', network: 'tcp', outboundTag: 'direct', [field]: [value] };
          return { part: { rule }, config: { outbounds, routing: { rules: [rule] } } };
        },
      ],
    ),
    ...['domains', 'expectedIPs', 'unexpectedIPs', 'expectIPs'].map(
      (field): [string, (value: string) => { part: object; config: object }] => [
        `name server ${field}`,
        (value) => {
          const nameServer = { address: '192.0.2.53', [field]: [value] };
          return { part: { nameServer }, config: { outbounds, dns: { servers: [nameServer] } } };
        },
      ],
    ),
  ];
  let rejected = 0;
  for (const [place, make] of places) {
    await Promise.all(
      VALUES.map(async (value) => {
        const { part, config } = make(value);
        const [isAccepted, problem] = await Promise.all([
          accepts(config),
          check.problem(part as { rule: JsonObject }),
        ]);
        const isGeo = /^(?:geoip|geosite|ext|ext-ip|ext-domain):/.test(value);
        if (!isAccepted) rejected++;
        if (!isAccepted && isGeo) t.truthy(problem, `${place}: ${value} is rejected by the core`);
        if (isAccepted && problem !== undefined)
          t.regex(problem, STRICTER, `${place}: ${value} is accepted by the core`);
      }),
    );
  }
  t.log(`${places.length * VALUES.length} values, ${rejected} rejected by the core`);
  t.true(rejected > 50);
});

import { mapOf, setting, word, inSection } from '../../kernel/index.js';
import { FILE_NAME } from './asset-files.js';

const MOST_SOURCES = 50;
const latest = (repository: string, file: string): string =>
  `https://github.com/${repository}/releases/latest/download/${file}`;

const sources = mapOf(
  word()
    .max(1000)
    .uri({ scheme: ['http', 'https'] }),
)
  .max(MOST_SOURCES)
  .custom((value: Record<string, string>) => {
    const wrong = Object.keys(value).find((name) => !FILE_NAME.test(name));
    if (wrong !== undefined)
      throw new Error(`${JSON.stringify(wrong.slice(0, 100))} is not a file name that ends with .dat`);
    return value;
  });

export const geodataSettings = inSection(
  'Geodata',
  {
    geodataSources: setting(
      sources,
      {
        'geoip.dat': latest('Loyalsoldier/v2ray-rules-dat', 'geoip.dat'),
        'geosite.dat': latest('Loyalsoldier/v2ray-rules-dat', 'geosite.dat'),
        'geoip_IR.dat': latest('chocolate4u/Iran-v2ray-rules', 'geoip.dat'),
        'geosite_IR.dat': latest('chocolate4u/Iran-v2ray-rules', 'geosite.dat'),
        'geoip_RU.dat': latest('runetfreedom/russia-v2ray-rules-dat', 'geoip.dat'),
        'geosite_RU.dat': latest('runetfreedom/russia-v2ray-rules-dat', 'geosite.dat'),
      },
      'addresses of geodata files by their names; <address>.sha256sum is used where it exists',
    ),
  },
  { level: 'advanced' },
);

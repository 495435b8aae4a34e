import { setting, word, inSection } from '../../kernel/index.js';
import { RELEASES } from '../engine/contract.js';

const address = () =>
  word()
    .max(500)
    .uri({ scheme: ['http', 'https'] });

export const DEFAULT_LIST = 'https://api.github.com/repos/XTLS/Xray-core/releases?per_page=50';

export const sourceSettings = inSection(
  'Releases of the core',
  {
    engineReleases: setting(
      address(),
      RELEASES,
      'address of the releases of the core; an archive is at <address>/v<version>/Xray-<system>-<machine>.zip',
    ),
    engineReleaseList: setting(
      address(),
      DEFAULT_LIST,
      'address of the list of releases of the core: JSON, a list of tags or the reply of the API of GitHub',
    ),
  },
  { level: 'advanced' },
);

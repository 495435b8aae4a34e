import { setting, text, inSection } from '../../kernel/index.js';
import { checkedEntries } from './task-list.js';

/** Well-known servers with TLS 1.3, h2 and X25519, spread over several networks. */
export const BUILT_IN = [
  'www.cloudflare.com:443',
  'www.microsoft.com:443',
  'www.amazon.com:443',
  'aws.amazon.com:443',
  'www.samsung.com:443',
  'www.nvidia.com:443',
  'www.amd.com:443',
  'www.intel.com:443',
  'www.sony.com:443',
  'dl.google.com:443',
].join(',');

export const scannerSettings = inSection(
  'Targets of REALITY',
  {
    realityScanCandidates: setting(
      text().max(16_384).custom(checkedEntries),
      BUILT_IN,
      'servers that scanRealityTargets looks at if the call names none: host:port, addresses and networks, comma-separated; blank: a built-in list',
    ),
  },
  { level: 'advanced' },
);

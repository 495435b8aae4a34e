// Panels with the scanner, and what they answer.
import { singleton } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import scanner from '../index.js';
import type { ScanResult } from '../scan-result.js';
import { RealityScanner, type ScanLimits } from '../scanner.js';

/** Loopback is permitted: the tests' servers are there. */
const ALLOW = 'reality-scanner=127.0.0.1,reality-scanner=127.0.0.2,reality-scanner=[::1]';

export function boot({
  allow = ALLOW,
  limits,
  proxy = '',
}: {
  allow?: string;
  limits?: ScanLimits;
  proxy?: string;
} = {}) {
  class Hurried extends RealityScanner {
    constructor(needs: ConstructorParameters<typeof RealityScanner>[0]) {
      super(needs, limits);
    }
  }
  const plugin = { ...scanner, services: { scanner: singleton(Hurried) } };
  return TestPanel.boot({
    plugins: [new FakeEngine().plugin, plugin],
    env: { WEIR_OUTGOING_ALLOW: allow, ...(proxy !== '' && { WEIR_OUTGOING_PROXY: proxy }) },
  });
}

export const scan = (panel: TestPanel, target: string, sni?: string): Promise<ScanResult> =>
  panel.get('/panel/api/server/scanRealityTarget', {
    body: { target, ...(sni !== undefined && { sni }) },
  });
export const scanWith = (panel: TestPanel, body: object): Promise<ScanResult> =>
  panel.get('/panel/api/server/scanRealityTarget', { body });
export const scanAll = (panel: TestPanel, targets?: string | readonly string[]) =>
  panel.call<ScanResult[]>('/panel/api/server/scanRealityTargets', {
    body: targets === undefined ? {} : { targets },
  });

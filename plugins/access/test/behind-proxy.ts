// A panel that takes a caller's address from X-Forwarded-For, so that a test can call from any.
import type { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';

export const bootBehindProxy = (clock: FakeClock, dataDirectory?: string) =>
  TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock,
    env: { WEIR_TRUSTED_PROXIES: '127.0.0.1' },
    ...(dataDirectory !== undefined && { dataDirectory }),
  });

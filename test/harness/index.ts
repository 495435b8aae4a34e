// What tests use; exported as @weir-panel/weir/testing.
export { FakeClock } from './fake-clock.js';
export { FakeEngine } from './fake-engine.js';
export { ADMIN, type Answer, freePort } from './api.js';
export { TestPanel } from './panel.js';
export { PanelProcess } from './panel-process.js';
export { everything, refused, type Refused } from './refused.js';
export { selfSigned, writePair } from './self-signed.js';
export { until } from './until.js';
export { type Ended, weirCommand } from './weir-command.js';

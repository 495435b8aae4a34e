// The panel as a process whose clock may be wrong.
const wrongBy = Number(process.env['TEST_CLOCK_WRONG_BY_MS'] ?? 0);
const right = Date.now;
Date.now = () => right() + wrongBy;
await import('../../../test/harness/panel-entry.js');

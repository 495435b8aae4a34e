// Reads the reply of `server/status` of a node, which may be of another version, or a lie.
import { NodeCallError } from '../calls/call-error.js';
import { shortened } from '../calls/reply.js';

export interface StatusReport {
  readonly guid: string;
  readonly cpuPct: number;
  readonly memPct: number;
  readonly netUp: number;
  readonly netDown: number;
  readonly uptimeSecs: number;
  readonly panelVersion: string;
  readonly engineState: string;
  readonly engineError: string;
  readonly engineVersion: string;
}
type Values = Readonly<Record<string, unknown>>;
const LONGEST_ERROR = 2_000;
const GUID = /^[A-Za-z0-9-]{1,64}$/;

const invalid = (path: string): NodeCallError =>
  new NodeCallError('reply', `its status has an invalid ${path}; is it a panel?`);

function objectAt(values: Values, key: string, path = key): Values {
  const value = values[key];
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(path);
  return value as Values;
}
/** Missing is 0: versions differ. */
function amountAt(values: Values, key: string, path = key, most = Number.MAX_SAFE_INTEGER): number {
  const value = values[key] ?? 0;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0 || value > most) throw invalid(path);
  return value;
}
function textAt(values: Values, key: string, path = key, most = 64): string {
  const value = values[key] ?? '';
  if (typeof value !== 'string') throw invalid(path);
  return shortened(value, most);
}
/** Programs count a second more or less than a whole processor. */
const percent = (value: number): number => Math.round(Math.min(value, 100) * 100) / 100;

/** Throws a NodeCallError that names the field. */
export function readStatus(obj: unknown): StatusReport {
  if (typeof obj !== 'object' || obj === null || Array.isArray(obj)) throw invalid('obj');
  const status = obj as Values;
  const engine = objectAt(status, 'engine');
  const mem = objectAt(status, 'mem');
  const net = objectAt(status, 'netIO');
  const total = amountAt(mem, 'total', 'mem.total');
  const current = amountAt(mem, 'current', 'mem.current');
  const guid = textAt(status, 'panelGuid');
  if (guid !== '' && !GUID.test(guid)) throw invalid('panelGuid');
  return {
    guid,
    cpuPct: percent(amountAt(status, 'cpu')),
    memPct: total > 0 ? percent((100 * current) / total) : 0,
    netUp: Math.round(amountAt(net, 'up', 'netIO.up')),
    netDown: Math.round(amountAt(net, 'down', 'netIO.down')),
    uptimeSecs: Math.round(amountAt(status, 'uptime')),
    panelVersion: textAt(status, 'panelVersion'),
    engineState: textAt(engine, 'state', 'engine.state'),
    engineError: textAt(engine, 'errorMsg', 'engine.errorMsg', LONGEST_ERROR),
    engineVersion: textAt(engine, 'version', 'engine.version'),
  };
}

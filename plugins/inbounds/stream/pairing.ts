// Which protocols go over which stream.
import type { Issue } from '../../../kernel/index.js';
import type { Protocol } from '../contract.js';
import { viewStream } from './stream.js';
import type { Settings } from './transport.js';

/** Of a stream that has passed `streamIssues`. */
export function pairIssues(protocol: Protocol, stream: Settings): Issue[] {
  const view = viewStream(stream);
  const problem =
    protocol.streamProblem?.(view) ??
    (view.network === 'hysteria' && protocol.name !== 'hysteria'
      ? 'the network hysteria is for the protocol hysteria alone'
      : undefined);
  const path = 'streamSettings.network';
  return problem === undefined ? [] : [{ path, message: `${path}: ${problem}` }];
}

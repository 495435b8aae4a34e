// Which protocols go over which stream.
import { type Issue, PanelError } from '../../../kernel/index.js';
import type { Protocol } from '../contract.js';
import { Sniffing } from './sniffing.js';
import { SECURITIES, type Security, STREAM, type StreamView, TRANSPORTS, viewStream } from './stream.js';
import type { Settings } from './transport.js';

const pairProblem = (protocol: Protocol, view: StreamView): string | undefined =>
  protocol.streamProblem?.(view) ??
  (view.network === 'hysteria' && protocol.name !== 'hysteria'
    ? 'the network hysteria is for the protocol hysteria alone'
    : undefined);

/** What forms of inbounds are made of, beside the settings of protocols. */
export const streamForms = {
  networks: TRANSPORTS,
  securities: SECURITIES,
  /** the other keys of `streamSettings` */
  stream: STREAM,
  sniffing: Sniffing,
};

/** A network with the securities that a protocol can have over it. */
export interface StreamChoice {
  readonly network: string;
  readonly securities: readonly Security[];
}

/** Returns the streams that a protocol goes over; none for one without a stream, and while its plugin fails. */
export function streamChoices(protocol: Protocol): StreamChoice[] {
  if (protocol.stream === false) return [];
  try {
    return TRANSPORTS.map(({ name: network }) => ({
      network,
      securities: SECURITIES.filter(
        ({ name: security, under = [network] }) =>
          under.includes(network) && pairProblem(protocol, { network, security }) === undefined,
      ).map(({ name }) => name),
    })).filter(({ securities }) => securities.length > 0);
  } catch (error) {
    if (error instanceof PanelError) return [];
    throw error;
  }
}

/** Of a stream that has passed `streamIssues`. */
export function pairIssues(protocol: Protocol, stream: Settings): Issue[] {
  const problem = pairProblem(protocol, viewStream(stream));
  const path = 'streamSettings.network';
  return problem === undefined ? [] : [{ path, message: `${path}: ${problem}` }];
}

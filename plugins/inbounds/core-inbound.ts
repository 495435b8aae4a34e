// Converts an inbound to the core's config.
import { kernelErrors, whyNotJson } from '../../kernel/index.js';
import type { CoreInbound, JsonObject } from '../engine/contract.js';
import type { Protocol } from './contract.js';
import { isSocket } from '../core-guard/contract.js';
import type { Inbound } from './schema.js';
import { coreStream } from './stream/stream.js';

/** `change` adds to the settings what other plugins know (`coreSettings`). */
export function coreInbound(
  inbound: Inbound,
  protocol: Protocol,
  change = (settings: JsonObject, _inbound: Inbound): JsonObject => settings,
): CoreInbound {
  const { tag, listen, port, streamSettings, sniffing, settings } = inbound;
  const config = {
    tag,
    listen: listen || '0.0.0.0',
    // The core asks for a port beside an address only.
    ...(!isSocket(listen) && { port }),
    protocol: protocol.coreName ?? protocol.name,
    settings: change(protocol.coreSettings(settings, streamSettings), inbound),
    streamSettings: protocol.coreStream?.(coreStream(streamSettings), settings) ?? coreStream(streamSettings),
    sniffing,
  } as unknown as JsonObject;
  // Refused when it is saved: later it would keep all inbounds out of the core.
  const problem = whyNotJson(config);
  if (problem !== undefined) throw kernelErrors.INVALID(`the core cannot be given this inbound: ${problem}`);
  return { tag, protocol: protocol.accounts?.(settings) ?? protocol.name, config };
}

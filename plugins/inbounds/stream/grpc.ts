// gRPC. Settings: xtls.github.io, gRPC transport.
import { bool, optional, shape } from '../../../kernel/index.js';
import { oneWord, textOf, type Transport } from './transport.js';

export const grpc: Transport = {
  name: 'grpc',
  alias: undefined,
  keys: ['grpcSettings'],
  settings: shape({
    serviceName: optional(oneWord('serviceName')),
    authority: optional(oneWord('authority')),
    multiMode: optional(bool()),
  }).unknown(true),
  entry: (settings) => ({
    kind: 'grpc',
    serviceName: textOf(settings['serviceName']),
    authority: textOf(settings['authority']),
    multiMode: settings['multiMode'] === true,
  }),
};

// gRPC. Settings: xtls.github.io, gRPC transport.
import { bool, optional, shape } from '../../../kernel/index.js';
import { advanced, section } from '../form.js';
import { oneWord, textOf, type Transport } from './transport.js';

export const grpc: Transport = {
  name: 'grpc',
  title: 'gRPC',
  alias: undefined,
  keys: ['grpcSettings'],
  settings: shape({
    ...section('Transport', {
      serviceName: optional(oneWord('serviceName')).description('name of the service, part of the path'),
    }),
    ...advanced('Transport', {
      authority: optional(oneWord('authority')).description('host that clients name'),
      multiMode: optional(bool()).description('several streams in one message'),
    }),
  }).unknown(true),
  entry: (settings) => ({
    kind: 'grpc',
    serviceName: textOf(settings['serviceName']),
    authority: textOf(settings['authority']),
    multiMode: settings['multiMode'] === true,
  }),
};

// gRPC. Settings: xtls.github.io, gRPC transport.
import { bool, optional, shape } from '../../../kernel/index.js';
import { oneWord, type Settings, textOf, type Transport } from './transport.js';

const isMulti = (settings: Settings): boolean => settings['multiMode'] === true;

export const grpc: Transport = {
  name: 'grpc',
  alias: undefined,
  keys: ['grpcSettings'],
  settings: shape({
    serviceName: optional(oneWord('serviceName')),
    authority: optional(oneWord('authority')),
    multiMode: optional(bool()),
  }).unknown(true),
  query: (settings) => ({
    serviceName: textOf(settings['serviceName']),
    authority: textOf(settings['authority']),
    ...(isMulti(settings) && { mode: 'multi' }),
  }),
  vmess: (settings) => ({
    path: textOf(settings['serviceName']),
    authority: textOf(settings['authority']),
    ...(isMulti(settings) && { type: 'multi' }),
  }),
};

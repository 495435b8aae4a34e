// Cloudflare WARP: registers a device of this panel, and leads traffic through it by an outbound of the template.
import {
  bool,
  contribute,
  definePlugin,
  job,
  maybe,
  oneOf,
  optional,
  payload,
  route,
  shape,
  singleton,
  text,
  withMessage,
  word,
} from '../../kernel/index.js';
import { CoreTemplate, templateErrors } from '../core-template/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { ActionBody, type ActionName, ACTIONS, runAction } from './actions.js';
import { DeviceStore } from './device-store.js';
import { errors } from './errors.js';
import { Forgetting } from './forgetting.js';
import { tunnelSettings } from './settings.js';
import { migrations, sealedAccount, tables } from './tables.js';
import { TunnelDevices } from './tunnel-devices.js';
import { TunnelOutbound } from './tunnel-outbound.js';
import { TunnelService } from './tunnel-service.js';

const OF_TEMPLATE = [
  templateErrors.INVALID,
  templateErrors.NOT_TESTED,
  templateErrors.ROLLED_BACK,
  templateErrors.TAG_TAKEN,
];
const OF_SERVICE = [errors.NO_DEVICE, errors.BUSY, errors.REFUSED, errors.SERVICE];

export default definePlugin({
  name: 'edgetunnel',
  version: '0.1.0',
  api: 1,
  about: 'An outbound through Cloudflare WARP, whose device is replaced by a new one when you like.',
  uses: { outgoing: Outgoing, secrets: Secrets, template: maybe(CoreTemplate) },
  settings: tunnelSettings,
  tables,
  migrations,
  services: {
    service: singleton(TunnelService),
    store: singleton(DeviceStore),
    outbound: singleton(TunnelOutbound),
    forgetting: singleton(Forgetting),
    devices: singleton(TunnelDevices),
  },
  contributes: ({ service }) => [
    contribute(OutgoingHosts, service.access),
    contribute(SealedColumns, sealedAccount),
  ],
  start: ({ devices }) => devices.settle(),
  jobs: ({ devices, forgetting }) => [
    job('rotate', '1h', () => devices.rotate()),
    job('forget', '1h', () => forgetting.run()),
  ],
  routes: ({ devices, service }) => [
    route({
      method: 'POST',
      path: '/panel/api/engine/edgetunnel/{action}',
      name: 'engine.edgetunnel',
      doc: 'The device of this panel at Cloudflare WARP. data: what is stored; config: what the service says of it; reg: registers one; license: sets its licence; changeIp: replaces it by a new one, in the template too; interval: does so every so many days; del: forgets it. `obj` is JSON text, or blank.',
      params: shape({ action: oneOf(...(Object.keys(ACTIONS) as ActionName[])) }),
      form: true,
      body: optional(ActionBody).example({ interval: 7 }),
      reply: payload(
        text().description(
          'data, license: the stored device; config: the reply of the service; reg and changeIp: `{data, config, warning?}`; else blank',
        ),
      ),
      errors: [...OF_SERVICE, ...OF_TEMPLATE],
      handle: async ({ params: { action }, body = {}, who, reply, ignored }) => {
        const call = { devices, service, sent: body, who, progressed: () => reply.progressed() };
        const done = await runAction(action, call, ignored);
        return withMessage(done.said, done.text);
      },
    }),
    route({
      method: 'POST',
      path: '/panel/api/x/edgetunnel/apply',
      name: 'edgetunnel.apply',
      doc: 'Puts the device into the outbound `warp` of the template: into the one that is there, whose other keys stay, or into a new one at the end. The core tests the template first, as `engine/update` does.',
      reply: payload(
        shape({
          tag: word(),
          replaced: bool().description('whether the outbound was there before'),
          endpoint: text().description('host and port of the far end'),
        }),
      ),
      errors: [...OF_SERVICE, ...OF_TEMPLATE, errors.NO_TEMPLATE],
      handle: async ({ who, reply }) => {
        const { outbound, said } = await devices.apply(who, () => reply.progressed());
        return withMessage(said, outbound);
      },
    }),
  ],
});

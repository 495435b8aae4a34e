// The section about the settings of the core, as the API description has it. It names no fields of most bodies: those that `takes` names are what programs of the field send.
import type { Section } from './asking.js';

const AT = '/panel/api/engine';
export const ENGINE: Section = {
  [`POST ${AT}/`]: {
    gives: {
      engineSetting: 'text',
      inboundTags: 'text',
      clientReverseTags: 'text',
      outboundTestUrl: 'text',
    },
  },
  [`GET ${AT}/getDefaultJsonConfig`]: { gives: 'any' },
  [`GET ${AT}/getOutboundsTraffic`]: { gives: 'any' },
  [`GET ${AT}/getEngineResult`]: { gives: 'any' },
  [`POST ${AT}/update`]: { takes: ['engineSetting', 'outboundTestUrl'], gives: 'any' },
  [`POST ${AT}/resetOutboundsTraffic`]: { takes: ['tag'], gives: 'any' },
  [`POST ${AT}/testOutbound`]: { takes: ['outbound', 'allOutbounds', 'mode'], gives: 'any' },
  [`POST ${AT}/testOutbounds`]: { takes: ['outbounds', 'allOutbounds', 'mode'], gives: 'any' },
  [`POST ${AT}/balancerStatus`]: { takes: ['tags'], gives: 'any' },
  [`POST ${AT}/balancerOverride`]: { takes: ['tag', 'target'], gives: 'any' },
  [`POST ${AT}/routeTest`]: { takes: ['domain', 'ip', 'port', 'network'], gives: 'any' },
};

const SUBS = `${AT}/outbound-subs`;
export const REMOTE: Section = {
  [`POST ${AT}/edgetunnel/{action}`]: { takes: ['privateKey', 'publicKey', 'license'], gives: 'any' },
  [`POST ${AT}/vpnprovider/{action}`]: { takes: ['countryId', 'token', 'key'], gives: 'any' },
  [`GET ${SUBS}`]: { gives: 'any' },
  [`POST ${SUBS}`]: { takes: ['remark', 'url', 'enabled', 'allowPrivate', 'tagPrefix'], gives: 'any' },
  [`POST ${SUBS}/{id}`]: { takes: ['remark', 'url', 'enabled', 'allowPrivate', 'tagPrefix'], gives: 'any' },
  [`DELETE ${SUBS}/{id}`]: { gives: 'any' },
  [`POST ${SUBS}/{id}/del`]: { gives: 'any' },
  [`POST ${SUBS}/{id}/refresh`]: { gives: 'any' },
  [`POST ${SUBS}/{id}/move`]: { takes: ['dir'], gives: 'any' },
  [`POST ${SUBS}/parse`]: { takes: ['url', 'allowPrivate'], gives: 'any' },
};

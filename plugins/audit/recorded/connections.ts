import { duringCertificateSave } from '../../certificates/contract.js';
import { duringTemplateSave } from '../../core-template/contract.js';
import { duringFallbackSave } from '../../fallbacks/contract.js';
import { duringHostSave, type HostGroup } from '../../hosts/contract.js';
import { duringInboundSave, type Inbound } from '../../inbounds/contract.js';
import { audited } from '../contract.js';

function inboundFacts(inbound: Inbound | undefined): object | undefined {
  if (!inbound) return undefined;
  const { id: _id, ...fields } = inbound;
  return fields;
}

export const inbounds = audited({
  area: 'inbound',
  hook: duringInboundSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.tag ?? '',
    id: (after ?? before)?.id ?? '',
    before: inboundFacts(before),
    after: inboundFacts(after),
  }),
});

function hostFacts(group: HostGroup | undefined): object | undefined {
  if (!group) return undefined;
  const { fields, rows } = group;
  return { ...fields, addresses: rows.map(({ id: _id, createdAt: _createdAt, ...row }) => row) };
}

export const hosts = audited({
  area: 'host',
  hook: duringHostSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.fields.remark ?? '',
    id: (after ?? before)?.groupId ?? '',
    before: hostFacts(before),
    after: hostFacts(after),
  }),
});

export const coreTemplate = audited({
  area: 'coreTemplate',
  hook: duringTemplateSave,
  // `id` is the credential of vless and vmess.
  secret: ['id'],
  describe: ({ before, after }) => ({
    kind: 'updated',
    name: 'engineSetting',
    id: after.id,
    before: before.template,
    after: after.template,
  }),
});

export const fallbacks = audited({
  area: 'fallback',
  hook: duringFallbackSave,
  describe: ({ masterId, before, after }) => ({
    kind: 'updated',
    name: '',
    id: masterId,
    before: { fallbacks: before.map(({ id: _id, ...fallback }) => fallback) },
    after: { fallbacks: after },
  }),
});

export const certificates = audited({
  area: 'certificate',
  hook: duringCertificateSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.names[0] ?? '',
    id: (after ?? before)?.id ?? '',
    before,
    after,
  }),
});

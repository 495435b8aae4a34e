// What admins are notified of about limits and renewals.
import { notified } from '../notifications/contract.js';
import { clientDepleted, clientRenewed, inboundDepleted } from './contract.js';

const BY_CAUSE = {
  en: '{name} ({cause, select, quota {quota} other {expiry}})',
  fa: '{name} ({cause, select, quota {حجم} other {زمان}})',
  ru: '{name} ({cause, select, quota {трафик} other {срок}})',
  zh: '{name}（{cause, select, quota {流量} other {到期}}）',
};

export const depletedClients = notified({
  name: 'clientDepleted',
  severity: 'warning',
  isOnByDefault: true,
  hook: clientDepleted,
  describe: ({ clients }) => [
    {
      args: {
        count: clients.length,
        clients: clients.map(({ email, cause }) => ({ name: email, cause })),
      },
      data: { clients: clients.map(({ email, cause }) => ({ email, cause })) },
    },
  ],
  titles: {
    en: 'Clients at their limit',
    fa: 'کاربران به سقف رسیده',
    ru: 'Клиенты исчерпали лимит',
    zh: '客户端达到限额',
  },
  texts: {
    en: '{count, plural, one {A client has reached its limit and is disabled} other {# clients have reached their limits and are disabled}}: {clients}.',
    fa: '{count, plural, one {یک کاربر به سقف خود رسید و غیرفعال شد} other {# کاربر به سقف خود رسیدند و غیرفعال شدند}}: {clients}.',
    ru: '{count, plural, one {# клиент исчерпал лимит и отключён} few {# клиента исчерпали лимит и отключены} many {# клиентов исчерпали лимит и отключены} other {# клиента исчерпали лимит и отключены}}: {clients}.',
    zh: '{count, plural, other {# 个客户端达到限额，已停用}}：{clients}。',
  },
  items: { clients: BY_CAUSE },
});

export const depletedInbounds = notified({
  name: 'inboundDepleted',
  severity: 'warning',
  isOnByDefault: true,
  hook: inboundDepleted,
  describe: ({ inbounds }) => [
    {
      args: {
        count: inbounds.length,
        inbounds: inbounds.map(({ tag, cause }) => ({ name: tag, cause })),
      },
      data: { inbounds: inbounds.map(({ tag, cause }) => ({ tag, cause })) },
    },
  ],
  titles: {
    en: 'Inbounds at their limit',
    fa: 'ورودی‌های به سقف رسیده',
    ru: 'Входящие исчерпали лимит',
    zh: '入站达到限额',
  },
  texts: {
    en: '{count, plural, one {An inbound has reached its limit and is disabled} other {# inbounds have reached their limits and are disabled}}: {inbounds}.',
    fa: '{count, plural, one {یک ورودی به سقف خود رسید و غیرفعال شد} other {# ورودی به سقف خود رسیدند و غیرفعال شدند}}: {inbounds}.',
    ru: '{count, plural, one {# входящее подключение исчерпало лимит и отключено} few {# входящих подключения исчерпали лимит и отключены} many {# входящих подключений исчерпали лимит и отключены} other {# входящих подключения исчерпали лимит и отключены}}: {inbounds}.',
    zh: '{count, plural, other {# 个入站达到限额，已停用}}：{inbounds}。',
  },
  items: { inbounds: BY_CAUSE },
});

export const renewedClients = notified({
  name: 'clientRenewed',
  severity: 'info',
  isOnByDefault: false,
  hook: clientRenewed,
  describe: ({ clients }) => [
    {
      args: {
        count: clients.length,
        clients: clients.map(({ email, expiryTime }) => ({ name: email, until: new Date(expiryTime) })),
      },
      data: { clients: clients.map(({ email, expiryTime }) => ({ email, expiryTime })) },
    },
  ],
  titles: { en: 'Clients renewed', fa: 'تمدید کاربران', ru: 'Клиенты продлены', zh: '客户端已续期' },
  texts: {
    en: '{count, plural, one {A client was renewed} other {# clients were renewed}}: {clients}.',
    fa: '{count, plural, one {یک کاربر تمدید شد} other {# کاربر تمدید شدند}}: {clients}.',
    ru: '{count, plural, one {Продлён # клиент} few {Продлены # клиента} many {Продлено # клиентов} other {Продлено # клиента}}: {clients}.',
    zh: '{count, plural, other {# 个客户端已续期}}：{clients}。',
  },
  items: {
    clients: {
      en: '{name} until {until, date, medium}',
      fa: '{name} تا {until, date, medium}',
      ru: '{name} до {until, date, medium}',
      zh: '{name} 至 {until, date, medium}',
    },
  },
});

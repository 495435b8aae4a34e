import { contribute, definePlugin } from '@weir-panel/weir/kernel';
import { type Translation, Translations } from '@weir-panel/weir/plugins/notifications';

const byCause = '{name} ({cause, select, quota {Volumen} other {Laufzeit}})';

const german: Translation = {
  language: 'de',
  events: {
    test: { title: 'Test', text: 'Das ist ein Test.' },
    more: { text: '{count, plural, one {# weiterer} other {# weitere}}' },
    summary: {
      text: '{title}: {count, plural, one {noch einmal} other {noch #-mal}} von {from, time, short} bis {to, time, short}. Zuletzt: {latest}',
    },
    clientDepleted: {
      title: 'Kunden am Limit',
      text: '{count, plural, one {Ein Kunde hat sein Limit erreicht und ist gesperrt} other {# Kunden haben ihr Limit erreicht und sind gesperrt}}: {clients}.',
      items: { clients: byCause },
    },
    coreStateChanged: {
      title: 'Zustand des Kerns',
      text: '{to, select, running {Der Kern läuft} stop {Der Kern ist angehalten} other {Der Kern ist ausgefallen und startet neu}}{hasReason, select, yes {: {reason}} other {.}}',
    },
    loginBlocked: {
      title: 'Anmeldung gesperrt',
      text: 'Anmeldungen von {ip} sind nach zu vielen Fehlversuchen eine Weile gesperrt, zuletzt als „{username}“.',
    },
  },
};

export default definePlugin({
  name: 'acme-german',
  version: '1.0.0',
  api: 1,
  about: 'Notifications in German.',
  contributes: () => [contribute(Translations, german)],
});

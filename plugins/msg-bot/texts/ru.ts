// Texts of the bot in Russian, as ICU messages.
import type { Language } from './en.js';

export const ru: Language = {
  welcome: 'Здравствуйте. Выберите действие.',
  welcomeClient:
    'Здравствуйте. Вам {count, plural, one {принадлежит # аккаунт} few {принадлежат # аккаунта} many {принадлежит # аккаунтов} other {принадлежит # аккаунта}}.',
  stranger:
    'У вас нет доступа к этому боту. Ваш идентификатор: <code>{id}</code>; администратор может указать его в вашем аккаунте.',
  yourId: 'Ваш идентификатор: <code>{id}</code>.',
  helpAdmin:
    'Команды:\n/start – меню\n/status – работает ли бот\n/usage <i>email</i> – клиент\n/inbound <i>remark</i> – входящее подключение\n/restart – перезапустить ядро\n/clearall – сбросить трафик всех клиентов\n/id – ваш идентификатор\n/cancel – отменить вопрос',
  helpClient: 'Команды:\n/start – меню\n/usage <i>email</i> – ваш расход\n/id – ваш идентификатор',
  alive: 'Бот работает.',
  unknown: 'Такой команды нет. Список команд: /help.',
  usageNeedsEmail: 'Напишите email после команды: /usage <i>email</i>',
  inboundNeedsRemark: 'Напишите название после команды: /inbound <i>remark</i>',
  denied: 'Вам это не разрешено.',
  noClient: 'Такого клиента нет.',
  noInbound: 'Такого входящего подключения нет.',
  tooFast: 'Слишком много сообщений. Подождите немного.',
  failed: 'Не получилось: {reason}',
  broken: 'Не получилось. Причина записана в журнал панели.',
  unavailable: 'Недоступно: плагин {plugin} не запущен.',
  done: 'Готово.',
  doneLater: 'Сохранено. Ядро ещё не получило изменение: {reason}',
  cancelled: 'Отменено.',
  noQuestion: 'Открытых вопросов нет. Меню: /start.',
  stopped: 'Этот вопрос уже закрыт. Начните заново: /start.',

  menu: 'Меню',
  back: 'Назад',
  refresh: 'Обновить',
  yes: 'Да',
  cancel: 'Отмена',
  next: 'Вперёд',
  previous: 'Назад по списку',
  unlimited: 'Без ограничения',
  other: 'Другое значение',
  remove: 'Удалить',
  server: 'Сервер',
  inbounds: 'Входящие',
  clients: 'Клиенты',
  online: 'В сети',
  depleting: 'Скоро закончатся',
  addClient: 'Добавить клиента',
  backup: 'Резервная копия',
  resetAll: 'Сбросить весь трафик',
  restart: 'Перезапустить ядро',
  report: 'Отчёт',
  resetTraffic: 'Сбросить трафик',
  traffic: 'Лимит трафика',
  expiry: 'Срок',
  ipLimit: 'Лимит адресов',
  deviceLimit: 'Лимит устройств',
  devices: 'Устройства',
  forgetDevices: 'Забыть все устройства',
  messengerId: 'Идентификатор в мессенджере',
  comment: 'Комментарий',
  email: 'Email',
  enable: 'Включить',
  disable: 'Выключить',
  links: 'Ссылки',
  qrCodes: 'QR-коды',
  subscription: 'Подписка',
  create: 'Создать',
  createDisabled: 'Создать выключенным',

  never: 'никогда',
  days: '{count, plural, one {# день} few {# дня} many {# дней} other {# дня}}',
  afterFirstUse:
    '{days, plural, one {# день} few {# дня} many {# дней} other {# дня}} с первого использования',
  status:
    '<b>{host}</b>\nПанель: {panel}\nЯдро: {core} ({state, select, running {работает} stop {остановлено} other {ошибка}})\nАдреса: {addresses}\nВремя работы: {uptime}\nНагрузка: {load}\nПроцессор: {cpu} %\nПамять: {memory} из {memoryTotal}\nСоединения: {tcp, number} TCP, {udp, number} UDP\nТрафик сервера: ↑ {sent} ↓ {received}\nВходящие: {inbounds, number}\nКлиенты: {clients, number}, выключено {disabled, number}, в сети {online, number}',
  client:
    '<b>{email}</b>\nСостояние: {state, select, on {включён} quota {выключен, трафик исчерпан} expiry {выключен, срок истёк} other {выключен}}\nВ сети: {online, select, yes {да} other {нет}}\nИзрасходовано: {used} из {total} (↑ {up} ↓ {down})\nСрок: {expiry}',
  clientMore:
    'Лимит адресов: {ips}\nЛимит устройств: {devices}\nИдентификатор в мессенджере: {messenger}\nВходящие: {inbounds}\nКомментарий: {comment}\nПоследний раз в сети: {seen}',
  inbound:
    '<b>{remark}</b> ({protocol}, порт {port})\nСостояние: {state, select, on {включено} quota {выключено, трафик исчерпан} expiry {выключено, срок истёк} other {выключено}}\nИзрасходовано: ↑ {up} ↓ {down}, лимит {total}\nСрок: {expiry}\nКлиенты: {clients, number}',
  inboundList:
    '{count, plural, =0 {Входящих подключений нет.} one {# входящее подключение} few {# входящих подключения} many {# входящих подключений} other {# входящего подключения}}',
  clientList:
    '{count, plural, =0 {Клиентов нет.} one {# клиент} few {# клиента} many {# клиентов} other {# клиента}}, страница {page, number} из {pages, number}',
  onlineList:
    '{count, plural, =0 {Никого нет в сети.} one {# клиент в сети} few {# клиента в сети} many {# клиентов в сети} other {# клиента в сети}}',
  depletingList:
    '{count, plural, =0 {Ни у кого ничего не заканчивается.} one {# клиент выключен из-за лимита или скоро закончится} few {# клиента выключены из-за лимита или скоро закончатся} many {# клиентов выключены из-за лимита или скоро закончатся} other {# клиента выключены из-за лимита или скоро закончатся}}',
  more: '… и ещё {count, number}',
  deviceList:
    '{count, plural, =0 {Нет устройств} one {# устройство} few {# устройства} many {# устройств} other {# устройства}} у <b>{email}</b>',
  device: '{name}, последний раз {seen}',

  askReset: 'Сбросить трафик клиента <b>{email}</b>?',
  askResetAll:
    'Сбросить трафик всех клиентов ({count, plural, one {# клиент} few {# клиента} many {# клиентов} other {# клиента}})?',
  askRestart: 'Перезапустить ядро? Все соединения будут закрыты.',
  askForget: 'Забыть все устройства клиента <b>{email}</b>?',
  askChoice: '<b>{email}</b>: выберите значение.',
  askTraffic: 'Отправьте лимит в гигабайтах. 0 – без ограничения.',
  askExpiry:
    'Отправьте число дней с этого момента. 0 – без ограничения; с минусом – с первого использования.',
  askIpLimit: 'Отправьте число одновременных адресов. 0 – без ограничения.',
  askDeviceLimit: 'Отправьте число устройств. 0 – без ограничения.',
  askMessengerId:
    'Отправьте идентификатор пользователя в мессенджере, это число. 0 удаляет его. Пользователь узнаёт его у этого бота командой /id.',
  askComment: 'Отправьте комментарий. Один знак - удаляет его.',
  askEmail: 'Отправьте email или другое имя.',
  wrongNumber: 'Отправьте целое число от {least} до {most}.',
  tooLong: 'Не больше {most, number} знаков, в одной строке.',
  draft:
    '<b>Новый клиент</b>\nEmail: {email}\nЛимит трафика: {total}\nСрок: {expiry}\nЛимит адресов: {ips}\nЛимит устройств: {devices}\nИдентификатор в мессенджере: {messenger}\nКомментарий: {comment}\nВходящие: {inbounds}',
  pickInbounds: 'Выберите входящие подключения нового клиента.',
  noInboundsPicked: 'Выберите хотя бы одно входящее подключение.',
  created: 'Клиент <b>{email}</b> создан.',

  linksOf:
    '{count, plural, =0 {Нет ссылок} one {# ссылка} few {# ссылки} many {# ссылок} other {# ссылки}} клиента <b>{email}</b>',
  noSubscription: 'Подписки выключены.',
  subscriptionOf: 'Подписка клиента <b>{email}</b>',
  nothingToScan: 'Сканировать нечего: ни одна ссылка не помещается в QR-код.',

  reportTitle: '<b>Отчёт</b>, {at}',
  backupStarted: 'Создаю резервную копию …',
  backupFile: '{name}, {size}{encrypted, select, yes {, зашифрована} other {, не зашифрована}}',
  backupTooLarge:
    'Размер резервной копии {name} – {size}, а чат принимает не больше {most}. Скачайте её в панели.',
  testMessage: 'Это проверка панели на {host}.',

  cmdStart: 'Меню',
  cmdHelp: 'Команды',
  cmdStatus: 'Работает ли бот',
  cmdUsage: 'Расход клиента',
  cmdId: 'Ваш идентификатор',
};
